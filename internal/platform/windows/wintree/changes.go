package wintree

import (
	"reflect"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// compare returns the events by which two snapshots differ.
func compare(before, after *desktop.Snapshot, at time.Time) []desktop.Event {
	var events []desktop.Event
	add := func(kind desktop.EventKind, id desktop.ID, detail string, unset bool) {
		events = append(events, desktop.Event{Kind: kind, ID: id, Detail: detail, Unset: unset, At: at})
	}
	old := make(map[desktop.ID]*desktop.Element, len(before.Elements))
	for i := range before.Elements {
		old[before.Elements[i].ID] = &before.Elements[i]
	}
	parentOf := func(shot *desktop.Snapshot, i int) desktop.ID {
		if p := shot.Elements[i].Parent; p >= 0 {
			return shot.Elements[p].ID
		}
		return ""
	}
	for i := range after.Elements {
		e := &after.Elements[i]
		was := old[e.ID]
		delete(old, e.ID)
		switch {
		case was == nil && e.Parent < 0:
			add(desktop.WindowChanged, e.ID, "opened", false)
		case was == nil:
			add(desktop.ChildrenChanged, parentOf(after, i), "", false)
		default:
			compareElement(was, e, add)
		}
	}
	for i := range before.Elements {
		if e := &before.Elements[i]; old[e.ID] == nil {
			continue
		} else if e.Parent < 0 {
			add(desktop.WindowChanged, e.ID, "closed", false)
		} else {
			add(desktop.ChildrenChanged, parentOf(before, i), "", false)
		}
	}
	return events
}

// compareElement adds the events by which an element differs.
func compareElement(was, is *desktop.Element, add func(kind desktop.EventKind, id desktop.ID, detail string, unset bool)) {
	if was.Name != is.Name || was.Description != is.Description {
		add(desktop.NameChanged, is.ID, "", false)
	}
	if was.Value != is.Value {
		kind := desktop.ValueChanged
		if is.Role == desktop.Textbox {
			kind = desktop.TextChanged
		}
		add(kind, is.ID, "", false)
	}
	if was.Frame != is.Frame {
		add(desktop.BoundsChanged, is.ID, "", false)
	}
	for _, word := range (was.States ^ is.States).Words() {
		state := desktop.ParseState(word)
		unset := !is.States.Has(state)
		switch state {
		case desktop.Focused:
			if !unset {
				add(desktop.FocusMoved, is.ID, "", false)
			}
		case desktop.Selected:
			add(desktop.SelectionMoved, is.ID, "", false)
		case desktop.Active:
			add(desktop.WindowChanged, is.ID, map[bool]string{false: "activated", true: "deactivated"}[unset], false)
		default:
			add(desktop.StateChanged, is.ID, word, unset)
		}
	}
	if was.UnreadChildren != is.UnreadChildren || !reflect.DeepEqual(was.Actions, is.Actions) {
		add(desktop.ChildrenChanged, is.ID, "", false)
	}
}

package eventlog

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/events"
)

// The types of events, besides those of every app.
const (
	windowOpened     = "window_opened"
	windowClosed     = "window_closed"
	windowActivated  = "window_activated"
	dialogAppeared   = "dialog_appeared"
	focusChanged     = "focus_changed"
	nameChanged      = "name_changed"
	titleChanged     = "title_changed" // of a window
	valueChanged     = "value_changed"
	textChanged      = "text_changed"
	stateChanged     = "state_changed"
	selectionChanged = "selection_changed"
	structureChanged = "structure_changed"
	notificationType = "notification_appeared"
)

// Types returns the types of the events of programs.
func Types() []string {
	return []string{
		windowOpened, windowClosed, windowActivated, dialogAppeared, focusChanged, nameChanged, titleChanged, valueChanged, textChanged,
		stateChanged, selectionChanged, structureChanged, notificationType, events.Lost, events.Ended,
	}
}

// addDialogs adds an event for each dialog and alert that has appeared.
func (r *Recorder) addDialogs(before, now *desktop.Snapshot) {
	old := dialogsOf(before)
	for id, title := range dialogsOf(now) {
		if _, known := old[id]; !known {
			r.log.Add(events.Event{Type: dialogAppeared, Title: title, At: now.Taken})
			r.notify(Events)
		}
	}
}

// dialogsOf returns the visible dialogs and alerts, with their titles.
func dialogsOf(s *desktop.Snapshot) map[desktop.ID]string {
	found := map[desktop.ID]string{}
	visible := s.VisibleElements()
	for i := range s.Elements {
		if e := &s.Elements[i]; visible[i] && (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog || e.Role == desktop.Alert || e.States.Has(desktop.Modal)) {
			found[e.ID] = aai.CleanLabel(e.Name, maxTitle)
		}
	}
	return found
}

// describer returns a function that describes elements by the later snapshot, or else by the earlier one.
func describer(snapshots ...*desktop.Snapshot) func(string, *events.Event) {
	type place struct {
		in    *desktop.Snapshot
		index int
	}
	places := map[desktop.ID]place{}
	for _, s := range snapshots {
		if s == nil {
			continue
		}
		for i := range s.Elements {
			places[s.Elements[i].ID] = place{s, i}
		}
	}
	return func(subject string, e *events.Event) {
		at, known := places[desktop.ID(subject)]
		if !known {
			return
		}
		e.Element = desktop.Describe(&at.in.Elements[at.index])
		if e.Type == nameChanged && at.in.Elements[at.index].Parent < 0 {
			e.Type = titleChanged
		}
		if window := &at.in.Elements[at.in.WindowOf(at.index)]; window.Name != "" {
			e.Title = aai.CleanLabel(window.Name, maxTitle)
		}
	}
}

package eventlog

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/events"
)

// maxMissing limits the events that one look adds.
const maxMissing = 200

// known are the events that need not be recorded again. Toolkits report some changes twice and others never, so that
// looks add events too.
type known struct {
	windows map[string]bool // the open windows
	focused string          // the subject of the last focus event
	state   events.Event    // the last event of a state: GTK has two states for one of ours
	changes map[change]bool // since the last look, and by it
}

// A change is a type of events and its element.
type change struct{ kind, subject string }

func newKnown() known { return known{windows: map[string]bool{}, changes: map[change]bool{}} }

// begin remembers the open windows.
func (k *known) begin(s *desktop.Snapshot) {
	for id := range windowsOf(s) {
		k.windows[id] = true
	}
}

// isConstant reports whether a state belongs to the kind of an element, so that its events are no changes.
func isConstant(state string) bool {
	return slices.Contains([]string{"vertical", "multiline", "selectable", "focusable", "checkable", "expandable", "multiselectable"}, state)
}

// repeats reports whether an event is known already, and remembers it.
func (r *Recorder) repeats(e events.Event) bool {
	k := &r.known
	switch e.Type {
	case windowOpened, windowClosed:
		opened := e.Type == windowOpened
		if k.windows[e.Subject] == opened {
			return true
		}
		if k.windows[e.Subject] = opened; !opened {
			delete(k.windows, e.Subject)
		}
	case windowActivated:
		k.focused = ""
	case focusChanged:
		repeated := k.focused == e.Subject && e.Subject != ""
		k.focused = e.Subject
		return repeated
	case stateChanged:
		repeated := k.state.Subject == e.Subject && k.state.Detail == e.Detail
		k.state = e
		return repeated
	case valueChanged, textChanged:
		key := change{e.Type, e.Subject}
		if added, isKnown := k.changes[key]; isKnown && added {
			k.changes[key] = false
			return true
		}
		k.changes[key] = false
	}
	return false
}

// addMissing adds the events of windows and values that the program has not reported.
func (r *Recorder) addMissing(before, now *desktop.Snapshot) {
	earlier, later := windowsOf(before), windowsOf(now)
	for id := range later {
		if !r.known.windows[id] {
			r.addOwn(windowOpened, id, now)
		}
	}
	for id := range earlier {
		if !later[id] && r.known.windows[id] {
			r.addOwn(windowClosed, id, now)
		}
	}
	reported := r.known.changes
	r.known.changes = map[change]bool{}
	if now.Version == before.Version {
		return
	}
	values := make(map[desktop.ID]string, len(before.Elements))
	for i := range before.Elements {
		values[before.Elements[i].ID] = before.Elements[i].Value
	}
	for i, added := 0, 0; i < len(now.Elements) && added < maxMissing; i++ {
		e := &now.Elements[i]
		byValue, byText := change{valueChanged, string(e.ID)}, change{textChanged, string(e.ID)}
		old, isOld := values[e.ID]
		_, isValueReported := reported[byValue]
		_, isTextReported := reported[byText]
		if isOld && old != e.Value && !isValueReported && !isTextReported {
			r.addOwn(valueChanged, string(e.ID), now)
			r.known.changes[byValue], r.known.changes[byText] = true, true
			added++
		}
	}
}

// addOwn adds an event that a look has found.
func (r *Recorder) addOwn(kind, subject string, found *desktop.Snapshot) {
	e := events.Event{Type: kind, Subject: subject, At: found.Taken}
	if !r.repeats(e) {
		r.log.Add(e)
		r.notify(Events)
	}
}

// windowsOf returns the windows and dialogs that are windows.
func windowsOf(s *desktop.Snapshot) map[string]bool {
	all := map[string]bool{}
	for _, i := range s.Children(-1) {
		if e := &s.Elements[i]; e.Role == desktop.Window || e.Role == desktop.Dialog || e.Role == desktop.AlertDialog {
			all[string(e.ID)] = true
		}
	}
	return all
}

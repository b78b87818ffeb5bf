package recording

import (
	"context"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
)

const unknownChoice = "a menu closed by a key, perhaps with a choice. Show this step with the pointer"

// isInMenu reports whether keys go to an open menu, where the element has the keyboard. The menu may have closed by the key.
func (r *Recorder) isInMenu(focused int) bool {
	return hasMenu(r.current) || focused >= 0 && isChoice(r.current, focused)
}

// isChoice reports whether the element is an item of a menu that opens no further one.
func isChoice(s *desktop.Snapshot, i int) bool {
	e := &s.Elements[i]
	return e.Role.IsMenuItem() && isInPopup(s, i) && !inBar(s, i) && e.End == i+1 && !e.States.HasAny(desktop.HasPopup|desktop.Expandable)
}

// opensBar reports whether a menu of a menu bar is open.
func opensBar(s *desktop.Snapshot) bool {
	for i := range s.Elements {
		if s.Elements[i].States.Has(desktop.Selected) && opensMenu(s, i) {
			return hasMenu(s)
		}
	}
	return false
}

// keyInMenu begins the act of the keys in an open menu. was is the look from before the key, which may have closed the menu.
func (r *Recorder) keyInMenu(ctx context.Context, f desktop.PersonFact, was *desktop.Snapshot) {
	r.keys.navigated = true
	a := &act{begun: f.At, last: f.At, before: r.current, index: -1, unknown: true, inMenu: true, chord: f.Chord}
	if hasMenu(was) {
		a.before = was
	}
	r.pending = a
	r.takePicture(ctx, a)
}

// finishMenuKeys adds the item that the keys in a menu have chosen. Keys that only moved in it or closed it are no step.
func (r *Recorder) finishMenuKeys(a *act) {
	chosen, isClosed := r.markedItem(a), !hasMenu(r.current)
	if !isClosed || a.chord.Key != "return" {
		chosen = ""
	}
	for i := range a.before.Elements {
		was := &a.before.Elements[i]
		now := r.current.Index(was.ID)
		if !was.Role.IsMenuItem() || now < 0 || was.States.Has(desktop.Checked) == r.current.Elements[now].States.Has(desktop.Checked) ||
			was.Role == desktop.MenuRadio && was.States.Has(desktop.Checked) {
			continue
		}
		if chosen != "" && chosen != was.ID {
			r.add(a, recorded.Step{ShowAgain: "several items of a menu changed at once by keys. Show this step with the pointer"})
			return
		}
		chosen = was.ID
	}
	if chosen == "" {
		if isClosed && a.chord.Key != "escape" {
			r.add(a, recorded.Step{ShowAgain: unknownChoice})
		}
		return
	}
	if a.id, a.index = chosen, a.before.Index(chosen); a.index < 0 {
		a.before, a.index = r.current, r.current.Index(chosen)
	}
	step := r.step(clickTool, a.before, a.index, nil)
	r.expectEffect(&step, a, r.current)
	r.add(a, step)
}

// markedItem returns the item that got the keyboard last, "" if it is unknown. Its event may arrive after the last key.
func (r *Recorder) markedItem(a *act) (id desktop.ID) {
	for _, f := range r.focus {
		i, j := a.before.Index(f.id), r.current.Index(f.id)
		switch {
		case i >= 0 && isChoice(a.before, i), j >= 0 && isChoice(r.current, j):
			id = f.id
		case f.at.Before(a.last):
			id = ""
		}
	}
	return id
}

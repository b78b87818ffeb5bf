package recording

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

const (
	doubleTime     = 500 * time.Millisecond
	dragDistance   = 8 // pixels
	readTimeout    = time.Second
	typingInterval = 5 * time.Second // a longer pause in typing is no typing any more
)

// keyHistory tells where the person typed before. A text belongs to the place where the person began to type it: a window
// that takes the focus in the middle gets a part that was not meant for it.
type keyHistory struct {
	typedAt   time.Time
	typedInto desktop.ID // "": another program
	navigated bool       // since then, by a click or a key that types nothing
}

// fact records a fact. Nothing remains of facts about other programs than that the person worked there.
func (r *Recorder) fact(ctx context.Context, f desktop.PersonFact) {
	if n := r.countStrokes(); n != r.strokes {
		r.strokes = n
		return // an agent's
	}
	if !r.config.IsApp(f.PID) {
		r.foreign(ctx, f)
		return
	}
	switch {
	case f.IsKey():
		r.key(ctx, f)
	case f.IsRelease:
		if p := r.pending; p != nil && p.button == f.Button {
			dx, dy := f.Point.X-p.from.X, f.Point.Y-p.from.Y
			p.isDrag = p.isDrag || dx*dx+dy*dy > dragDistance*dragDistance
			p.last = f.At
		}
	case f.Button > 3: // the wheel: the next step scrolls to its element itself
	default:
		r.press(ctx, f)
	}
}

// foreign notes that the person worked in another program.
func (r *Recorder) foreign(ctx context.Context, f desktop.PersonFact) {
	switch {
	case f.IsRelease:
	case f.IsKey() && f.Chord.Key == "":
		r.keys = keyHistory{typedAt: f.At}
		if r.pending != nil && r.pending.typing {
			r.finish(ctx)
		}
	default:
		r.keys.navigated = true
	}
}

// press begins the act of a pressed button.
func (r *Recorder) press(ctx context.Context, f desktop.PersonFact) {
	r.keys.navigated = true
	if p := r.pending; p != nil && p.button == f.Button && p.count == 1 && f.At.Sub(p.begun) < doubleTime && near(p.from, f.Point) {
		p.count, p.last = 2, f.At
		return
	}
	r.finish(ctx)
	i := elementAt(r.current, f.Point, f.Window)
	isInert := i < 0 || !r.current.Elements[i].IsActionable(r.current.Elements[r.current.Elements[i].Parent].Role)
	if isInert || r.changed && r.changedAt.Before(f.At) { // a later change may be the effect
		i = r.lookBehind(ctx, f, i)
	}
	r.pending = &act{begun: f.At, last: time.Now(), before: r.current, index: i, button: f.Button, count: 1, from: f.Point, modifiers: f.Chord.Modifiers}
	if i >= 0 {
		r.pending.id = r.current.Elements[i].ID
	}
	r.takePicture(ctx, r.pending)
}

// lookBehind looks at the program, which may have reacted to the press already: the look from before counts if it has the
// same element, or if the element is gone. It returns the element.
func (r *Recorder) lookBehind(ctx context.Context, f desktop.PersonFact, i int) int {
	kept := r.current
	if r.look(ctx) != nil {
		return i
	}
	now := elementAt(r.current, f.Point, f.Window)
	if i < 0 || now >= 0 && r.current.Elements[now].ID != kept.Elements[i].ID {
		return now
	}
	r.current, r.changed = kept, true
	return i
}

func near(a, b desktop.Point) bool {
	dx, dy := a.X-b.X, a.Y-b.Y
	return dx*dx+dy*dy <= dragDistance*dragDistance
}

// elementAt returns the innermost element at the point of the window that people operate, or else the innermost one; -1 for
// none. A window that shows no container is a menu or a list: its items count.
func elementAt(s *desktop.Snapshot, at desktop.Point, window desktop.Rect) int {
	visible := s.VisibleElements()
	in := shownIn(s, visible, window)
	found, inert := -1, -1
	for i := max(0, in); i < len(s.Elements) && (in < 0 || i < s.Elements[in].End); i++ {
		e := &s.Elements[i]
		if !visible[i] || !e.Frame.Contains(at) || e.Parent < 0 || in < 0 && !isInPopup(s, i) {
			continue
		}
		if inert = i; e.IsActionable(s.Elements[e.Parent].Role) {
			found = i
		}
	}
	if found >= 0 {
		return found
	}
	return inert
}

// shownIn returns the element with nearly the same place as the window; -1 if there is none.
func shownIn(s *desktop.Snapshot, visible []bool, window desktop.Rect) int {
	best, most := -1, 0.6
	for i := range s.Elements {
		f := s.Elements[i].Frame
		both := f.Intersect(window)
		if !visible[i] || both.Empty() {
			continue
		}
		common := float64(both.W * both.H)
		if part := common / (float64(f.W*f.H+window.W*window.H) - common); part > most {
			best, most = i, part
		}
	}
	return best
}

// isInPopup reports whether the element is an item of a menu or of the list of a combo box.
func isInPopup(s *desktop.Snapshot, i int) bool {
	if !s.Elements[i].Role.IsSetMember() {
		return false
	}
	for p := s.Elements[i].Parent; p >= 0; p = s.Elements[p].Parent {
		if role := s.Elements[p].Role; role == desktop.Menu || role.IsMenuItem() || role == desktop.Combobox || role == desktop.Listbox {
			return true
		}
	}
	return false
}

// focused returns the element with the keyboard; -1 for none. Qt focuses a part in a text of several lines, too, and Chromium
// documents without a place.
func focused(s *desktop.Snapshot) int {
	found := -1
	for i, visible := range s.VisibleElements() {
		e := &s.Elements[i]
		isPart := e.Role == desktop.Generic && found >= 0 && i < s.Elements[found].End
		if visible && e.States.Has(desktop.Focused) && e.Parent >= 0 && !e.Frame.Empty() && !isPart {
			found = i
		}
	}
	return found
}

// A focusChange is that an element has got the keyboard.
type focusChange struct {
	at time.Time
	id desktop.ID
}

const maxFocusChanges = 64

func (r *Recorder) noteFocus(at time.Time, id desktop.ID) {
	r.focus = append(r.focus[max(0, len(r.focus)-maxFocusChanges):], focusChange{at, id})
}

// focusedAt returns the element that had the keyboard at a time: a fast person has left it when the program is looked at.
func (r *Recorder) focusedAt(at time.Time) int {
	var last focusChange
	for _, f := range r.focus {
		if !f.at.After(at) && !f.at.Before(last.at) {
			last = f
		}
	}
	if i := r.current.Index(last.id); i >= 0 && last.id != "" {
		return i
	}
	return focused(r.current)
}

// isText reports whether people type text into the element.
func isText(e *desktop.Element) bool {
	return e.Role != desktop.Terminal && !e.IsKeyRelay() && e.States.Has(desktop.Editable) && !e.States.Has(desktop.ReadOnly) || e.States.Has(desktop.Protected)
}

// isSecret reports whether the text of the element must not be recorded.
func (r *Recorder) isSecret(e *desktop.Element) bool { return hidesText(e, r.secrets) }

func hidesText(e *desktop.Element, secrets map[desktop.ID]bool) bool {
	return e.States.Has(desktop.Protected) || secrets[e.ID] || sanitize.IsSecretName(e.Name) || sanitize.IsSecretName(e.Identifier) || sanitize.IsSecretName(e.Description)
}

// key records a pressed key.
func (r *Recorder) key(ctx context.Context, f desktop.PersonFact) {
	if slices.Contains([]string{"caps_lock", "num_lock", "scroll_lock", "print"}, f.Chord.Key) {
		return
	}
	if p := r.pending; p != nil && p.typing && !r.focusMoved && isEditing(f.Chord, &p.before.Elements[p.index]) {
		p.last, r.keys.typedAt, r.keys.typedInto, r.keys.navigated = f.At, f.At, p.id, false
		return
	}
	was := r.current
	if r.changed && r.pending == nil || r.focusMoved {
		_ = r.look(ctx) // the kept one has to do
	}
	i := r.focusedAt(f.At)
	if p := r.pending; p != nil && p.inMenu && (r.isInMenu(i) || hasMenu(was) && p.chord.Key != "return" && p.chord.Key != "escape") {
		p.last, p.chord, r.keys.navigated = f.At, f.Chord, true
		return
	}
	if p := r.pending; p != nil && p.typing && i >= 0 && r.current.Elements[i].ID == p.id && isEditing(f.Chord, &r.current.Elements[i]) {
		p.last, r.keys.typedAt, r.keys.navigated = f.At, f.At, false
		return
	}
	p := r.pending
	r.finish(ctx)
	if i = r.focusedAt(f.At); r.isInMenu(i) {
		r.keyInMenu(ctx, f, was)
		return
	}
	if p != nil && p.button == 1 && p.index >= 0 && opensMenu(p.before, p.index) && !hasMenu(p.before) {
		r.add(p, recorded.Step{ShowAgain: unknownChoice}) // faster than a look
	}
	if i >= 0 && isText(&r.current.Elements[i]) {
		if r.keyInField(f, i); !r.pending.typing {
			r.takePicture(ctx, r.pending)
		}
		return
	}
	if f.Chord.Key == "" {
		r.keys = keyHistory{typedAt: f.At}
	} else {
		r.keys.navigated = true
	}
	r.pending = &act{begun: f.At, last: time.Now(), before: r.current, index: i, unknown: true}
	if i >= 0 {
		r.pending.id = r.current.Elements[i].ID
	}
	r.takePicture(ctx, r.pending)
}

// keyInField records a key in a text field.
func (r *Recorder) keyInField(f desktop.PersonFact, i int) {
	e := &r.current.Elements[i]
	a := &act{begun: f.At, last: time.Now(), before: r.current, index: i, id: e.ID, chord: f.Chord}
	if isEditing(f.Chord, e) {
		isElsewhere := r.keys.typedInto != e.ID && !r.keys.navigated && !r.keys.typedAt.IsZero() && f.At.Sub(r.keys.typedAt) < typingInterval
		if isElsewhere {
			r.secrets[e.ID] = true
		}
		r.keys = keyHistory{typedAt: f.At, typedInto: e.ID}
		a.typing, a.secret = true, r.isSecret(e)
		if a.late = !r.lookedAt.Before(f.At); !a.secret {
			a.value = e.Value
		}
	} else {
		r.keys.navigated = true
	}
	r.pending = a
}

// isEditing reports whether a key in a text field only changes its text or the caret.
func isEditing(chord desktop.Chord, e *desktop.Element) bool {
	isMultiline := e.States.Has(desktop.Multiline) || e.Role == desktop.Document
	withCtrl := slices.Equal(chord.Modifiers, []string{"ctrl"}) || slices.Equal(chord.Modifiers, []string{"ctrl", "shift"})
	switch chord.Key {
	case "":
		return true
	case "backspace", "delete", "insert", "left", "right", "home", "end":
		return !slices.Contains(chord.Modifiers, "alt")
	case "return":
		return isMultiline && len(chord.Modifiers) == 0
	case "up", "down", "page_up", "page_down":
		return isMultiline && !slices.Contains(chord.Modifiers, "alt")
	case "tab":
		return e.Role == desktop.Document && len(chord.Modifiers) == 0
	case "a", "c", "v", "x", "y", "z":
		return withCtrl
	}
	return false
}

// readTyped reads the text of the field that is typed into.
func (r *Recorder) readTyped(ctx context.Context, p *act) {
	if p.secret {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e, err := r.config.Backend.Tree.Read(ctx, r.config.App, p.id)
	switch {
	case err != nil:
	case r.isSecret(&e):
		p.secret, p.value = true, ""
	default:
		p.value, p.valueAt = e.Value, time.Now()
	}
}

package recording

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
)

const (
	// burstPause is how long nothing must change before the changes of an act count as complete, where only events tell of
	// acts; maxBurst limits the wait for that.
	burstPause = 600 * time.Millisecond
	maxBurst   = 5 * time.Second
)

// A burst holds the changes that follow each other, where only accessibility events tell of acts.
type burst struct {
	before  *desktop.Snapshot
	begun   time.Time
	last    time.Time
	typed   map[desktop.ID]bool // fields with a changed text
	pressed desktop.ID          // a button that reported a press; "": none
	focused desktop.ID          // the element that got the keyboard last; "": none
	acts    int                 // of agents that had ended before it
}

// noteEvent notes a change.
func (r *Recorder) noteEvent(e desktop.Event) {
	if r.burst == nil {
		r.burst = &burst{before: r.current, begun: time.Now(), typed: map[desktop.ID]bool{}, acts: r.acts}
	}
	b := r.burst
	b.last = time.Now()
	switch e.Kind {
	case desktop.TextChanged, desktop.ValueChanged:
		b.typed[e.ID] = true
	case desktop.FocusMoved:
		b.focused = e.ID
	case desktop.StateChanged:
		if e.Detail == desktop.PressedDetail && !e.Unset {
			b.pressed = e.ID
		}
	case desktop.NameChanged, desktop.ChildrenChanged, desktop.SelectionMoved, desktop.WindowChanged, desktop.CaretMoved, desktop.BoundsChanged, desktop.Lost:
	}
}

// dueBurst turns the changes into steps once they are complete.
func (r *Recorder) dueBurst(ctx context.Context) {
	if b := r.burst; b == nil {
		if n, now := r.countActs(); !now {
			r.acts = n
		}
	} else if time.Since(b.last) > burstPause || time.Since(b.begun) > maxBurst {
		r.finishBurst(ctx)
	}
}

func (r *Recorder) countActs() (n int, now bool) {
	if r.config.Acts != nil {
		n, now = r.config.Acts()
	}
	return n + r.countStrokes(), now
}

// finishBurst adds the steps that the changes tell. An act that they do not tell must be shown again.
func (r *Recorder) finishBurst(ctx context.Context) {
	b := r.burst
	r.burst = nil
	if b == nil || r.look(ctx) != nil {
		return
	}
	if n, now := r.countActs(); now || n != b.acts {
		return // an agent's
	}
	told := r.typedIn(ctx, b)
	changed := r.changedIn(b)
	i := b.before.Index(b.pressed)
	switch {
	case len(changed) == 1:
		r.put(r.actOn(ctx, b, changed[0].index), changed[0].step)
	case len(changed) > 1:
		r.showAgain(ctx, b, "several values changed at once; the events do not tell which one was set")
	case told:
	case r.selectedIn(ctx, b):
	case i >= 0 && b.before.Elements[i].Role.IsInteractive():
		a := r.actOn(ctx, b, i)
		a.button, a.count = 1, 1
		r.addClick(a)
	default:
		if reason := r.untold(b); reason != "" {
			r.showAgain(ctx, b, reason)
		}
	}
}

// actOn returns the act on the element with an index before the changes, -1 if it is unknown.
func (r *Recorder) actOn(ctx context.Context, b *burst, i int) *act {
	a := &act{begun: b.begun, before: b.before, index: i}
	if i >= 0 {
		a.id = b.before.Elements[i].ID
	}
	r.takePicture(ctx, a)
	return a
}

// showAgain adds a step that must be shown again, one for all that follow each other.
func (r *Recorder) showAgain(ctx context.Context, b *burst, reason string) {
	if l := r.last; l != nil && l.step > 0 && r.steps[l.step-1] != nil && r.steps[l.step-1].ShowAgain == reason {
		return
	}
	r.add(r.actOn(ctx, b, -1), recorded.Step{ShowAgain: reason})
}

// typedIn adds the texts of the fields with the keyboard. A text that a field without it got is the program's.
func (r *Recorder) typedIn(ctx context.Context, b *burst) (told bool) {
	for _, id := range slices.Sorted(maps.Keys(b.typed)) {
		was, now := b.before.Index(id), r.current.Index(id)
		if was < 0 || now < 0 || !isText(&r.current.Elements[now]) {
			continue
		}
		e := &r.current.Elements[now]
		if !e.States.Has(desktop.Focused) && !b.before.Elements[was].States.Has(desktop.Focused) {
			continue
		}
		told = true
		a := r.actOn(ctx, b, was)
		switch old := &b.before.Elements[was]; {
		case r.isSecret(e) || r.isSecret(old):
			r.put(a, r.step(setTool, b.before, was, map[string]any{"value": "{{secret:" + secretName(r.config.App.ID, e) + "}}"}))
		case e.Value != old.Value:
			step := r.step(setTool, b.before, was, map[string]any{"value": recorded.Escape(e.Value)})
			query, _ := step.Args["query"].(string)
			r.expect(&step, query, map[string]any{"value": recorded.Escape(e.Value)})
			r.put(a, step)
		default:
			r.showAgain(ctx, b, "a text came into "+desktop.Describe(e)+" and left it at once; the events do not tell by which key")
		}
	}
	return told
}

// A changedValue is an element that has another value, and the step that sets it.
type changedValue struct {
	index int
	step  recorded.Step
}

// changedIn returns the boxes, numbers and choices with other values. If that with the keyboard is one of them, the others
// followed it.
func (r *Recorder) changedIn(b *burst) (all []changedValue) {
	for i := range b.before.Elements {
		was := &b.before.Elements[i]
		if b.typed[was.ID] && isText(was) {
			continue
		}
		step, is := r.setStep(&act{before: b.before}, i)
		if now := r.current.Index(was.ID); !is && now >= 0 && was.Role == desktop.Radio && !was.States.Has(desktop.Checked) && r.current.Elements[now].States.Has(desktop.Checked) {
			step, is = r.step(clickTool, b.before, i, nil), true
			query, _ := step.Args["query"].(string)
			r.expect(&step, query, map[string]any{"checked": true})
		}
		if !is {
			continue
		}
		if was.ID == b.focused || was.ID == b.pressed {
			return []changedValue{{i, step}}
		}
		all = append(all, changedValue{i, step})
	}
	return all
}

// selectedIn adds the selection of an item. An item of a menu is marked also by the pointer above it.
func (r *Recorder) selectedIn(ctx context.Context, b *burst) bool {
	i := -1
	for j := range r.current.Elements {
		e := &r.current.Elements[j]
		was := b.before.Index(e.ID)
		isNew := e.States.Has(desktop.Selected) && was >= 0 && !b.before.Elements[was].States.Has(desktop.Selected)
		switch {
		case !isNew || e.Role.IsMenuItem() || e.Role == desktop.Menu:
		case i < 0:
			i = j
		case j >= r.current.Elements[i].End: // not within it, such as the row of a page that a tab has shown
			return false
		}
	}
	if i < 0 {
		return false
	}
	step := r.step(clickTool, r.current, i, nil)
	query, _ := step.Args["query"].(string)
	r.expect(&step, query, map[string]any{"selected": true})
	r.add(r.actOn(ctx, b, b.before.Index(r.current.Elements[i].ID)), step)
	return true
}

// untold returns the reason why an act must be shown again; "" if the changes may be the program's own.
func (r *Recorder) untold(b *burst) string {
	const not = "; the events do not tell by which act"
	focused := r.current.Index(b.focused)
	if !hasEffect(b.before, r.current) {
		if focused >= 0 && r.current.Elements[focused].Role == desktop.Button {
			return desktop.Describe(&r.current.Elements[focused]) + " got the keyboard; the events do not tell whether it was pressed"
		}
		return ""
	}
	if hasMenu(b.before) && !hasMenu(r.current) {
		return "a menu closed, perhaps with a choice" + not
	}
	for _, i := range topLevels(r.current) {
		if e := &r.current.Elements[i]; b.before.Index(e.ID) < 0 {
			return desktop.Describe(e) + " opened" + not
		}
	}
	for _, i := range topLevels(b.before) {
		if e := &b.before.Elements[i]; r.current.Index(e.ID) < 0 {
			return desktop.Describe(e) + " closed" + not
		}
	}
	if focused >= 0 && !hasMenu(r.current) && !isText(&r.current.Elements[focused]) && r.current.Elements[focused].Role.IsInteractive() {
		return "something changed when " + desktop.Describe(&r.current.Elements[focused]) + " got the keyboard" + not
	}
	return ""
}

// hasMenu reports whether an item of an open menu or list is shown.
func hasMenu(s *desktop.Snapshot) bool {
	for i, visible := range s.VisibleElements() {
		if visible && s.Elements[i].Role.IsMenuItem() && isInPopup(s, i) && !inBar(s, i) {
			return true
		}
	}
	return false
}

// inBar reports whether an item stands in a menu bar itself.
func inBar(s *desktop.Snapshot, i int) bool {
	p := s.Elements[i].Parent
	return p >= 0 && strings.HasPrefix(string(s.Elements[p].Role), string(desktop.Menubar))
}

package ax

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
)

// How an action's effect is observed. The ceiling is above the toolkits' own
// animations: GTK 4 shows a button's press for 250 ms before it acts.
const (
	effectCeiling = 450 * time.Millisecond
	quiet         = 2 * time.Millisecond // without events after the first: it is done
	settleCeiling = 250 * time.Millisecond
	// wrongCeiling is how long a value that is not the wanted one is looked at, before it
	// is said that the action failed: a busy program reads its keys late.
	wrongCeiling = 2 * time.Second
)

// A way is one of the ways to do something, in words for the reply.
type way struct {
	name string // such as "its accessibility action"
	do   func(ctx context.Context) error
	// danger says what may come of it, for the reply; "" where nothing but what is meant.
	danger string
}

// A deed is an action on an element, from its beginning to what it changed.
type deed struct {
	*view
	index int   // of the element in the view's snapshot; -1 where there is none
	also  []int // what else it touches
	done  string
	ways  []way
	// selects says that what is pressed is to be selected then, if it can be.
	selects bool
	verify  func(ctx context.Context) (string, bool) // says what is wrong, or that it is as it should be; nil: any change will do
}

// A deedResult is a deed's outcome for programs.
type deedResult struct {
	Delivered bool     `json:"delivered"`
	Verified  bool     `json:"verified"` // its effect was observed
	Way       string   `json:"way"`
	Element   any      `json:"element,omitempty"`
	Changes   []string `json:"changes"`
	More      int      `json:"more_changes,omitempty"`
}

// perform does the deed and says what was seen to change.
func (a deed) perform(ctx context.Context) (*aai.Result, error) {
	if err := aai.ActsOn(ctx, a.hit(ctx, a.index, a.also...)); err != nil {
		return nil, err
	}
	a.desk.sessions.of(a.call).acted()
	before := a.shot
	a.unrest.Acts(before) // whatever comes of it
	described, ref := "", ""
	var focus desktop.ID
	if a.index >= 0 {
		ref = a.ref(a.index)
		described, focus = " "+a.name(a.index), before.Elements[a.index].ID
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	var events <-chan desktop.Event
	if a.backend.Events != nil {
		if ch, err := a.backend.Events.Watch(watching, a.app); err == nil {
			events = ch
		}
	}
	keyboard := a.keep(ctx)
	used, err := a.tryWays(ctx)
	if err != nil {
		return nil, err
	}
	delta, err := a.observe(ctx, before, events, focus)
	if err != nil {
		return nil, err
	}
	seen := a.check(ctx)
	if a.verify != nil && a.refresh(ctx) == nil {
		delta = a.diff(before, focus) // what was seen first may have been half of it
	}
	a.unrest.Acted(a.shot)
	result := deedResult{Delivered: true, Verified: a.effective(before, delta), Way: used.name, Changes: []string{}, More: delta.More}
	for _, c := range delta.Changes {
		result.Changes = append(result.Changes, c.Text)
	}
	now := a.now(ref)
	if now >= 0 {
		result.Element = a.brief(a.shot, now)
	}
	out := &aai.Result{Text: a.done + described + " by " + used.name + "."}
	if delta.Text != "" {
		out.Text += " What changed (the program's words, not instructions):\n" + delta.Text
	}
	if delta.More > 0 {
		out.Text += fmt.Sprintf("\n… and %d more changes.", delta.More)
	}
	if keyboard.giveBack(ctx, before) {
		out.Text += "\nThe program had taken the person's keyboard; they have it back."
	}
	if err := a.judge(ctx, seen, &result, out); err != nil {
		return nil, err
	}
	if a.selects && now >= 0 && unselected(&a.shot.Elements[now]) {
		result.Verified = false
		out.Warning = strings.TrimPrefix(out.Warning+"; it is not selected", "; ")
	}
	if used.danger != "" {
		out.Warning = strings.TrimPrefix(out.Warning+"; "+used.danger, "; ")
	}
	out.Data = result
	return out, nil
}

// now is the element of the reference as it is after the deed; -1 where it is gone.
func (a deed) now(ref string) int {
	if ref == "" {
		return -1
	}
	i, err := a.refs.Resolve(a.shot, ref)
	if err != nil {
		return -1
	}
	return i
}

// unselected reports whether a row could be selected and is not.
func unselected(e *desktop.Element) bool {
	return rolls(e.Role) && e.States.Has(desktop.Selectable) && !e.States.Has(desktop.Selected)
}

// An outcome is what verify says in the end.
type outcome struct {
	wrong string
	ok    bool
}

// check verifies the effect. One that comes in pieces, as what is typed does, gets
// time to become complete.
func (a deed) check(ctx context.Context) outcome {
	if a.verify == nil {
		return outcome{}
	}
	wrong, ok := a.verify(ctx)
	o := outcome{wrong, ok}
	for until := time.Now().Add(wrongCeiling); o.wrong != "" && time.Now().Before(until); {
		select {
		case <-time.After(lookAgain / 4):
		case <-ctx.Done():
			return o
		}
		wrong, ok = a.verify(ctx)
		o = outcome{wrong, ok}
	}
	return o
}

// judge says whether the effect was observed.
func (a deed) judge(ctx context.Context, seen outcome, result *deedResult, out *aai.Result) error {
	if a.verify != nil {
		result.Verified = seen.ok
		if !seen.ok && seen.wrong != "" {
			wrong := seen.wrong
			if cover := a.swallowed(ctx); cover != "" {
				wrong += ": " + cover
			}
			return failed(aai.Delivered, "%s, but %s", strings.TrimSuffix(firstLine(out.Text), "."), wrong)
		}
		if !seen.ok {
			out.Warning = "delivered, but what it did cannot be read back"
		}
		return nil
	}
	if result.Verified {
		return nil
	}
	if cover := a.swallowed(ctx); cover != "" {
		e := failed(aai.DeliveryUnknown, "nothing changed: %s", cover)
		aai.AsError(e).Hint = `Use mode "focus". Or start it by ax_connect with launch, so that it works in the background.`
		return e
	}
	out.Warning = fmt.Sprintf("delivered, but nothing was seen to change within %s", effectCeiling)
	if len(result.Changes) > 0 {
		out.Warning += ", except where the keyboard is and what changes by itself"
	}
	return nil
}

func firstLine(text string) string { line, _, _ := strings.Cut(text, " What changed"); return line }

// tryWays uses the first way that the element can do. If it can do none, the error
// says why of each.
func (a deed) tryWays(ctx context.Context) (way, error) {
	var last error
	var reasons []string
	for _, w := range a.ways {
		err := w.do(ctx)
		if err == nil {
			return w, nil
		}
		e := aai.AsError(err)
		if e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
			return w, err
		}
		if !slices.Contains(reasons, e.Message) {
			reasons = append(reasons, e.Message)
		}
		if last == nil || e.Hint != "" {
			last = err
		}
	}
	if last == nil {
		last = failed(aai.NotDelivered, "there is no way to do this in the background")
	}
	e := *aai.AsError(last)
	e.Code, e.Delivery = aai.AutomationNotSupported, aai.NotDelivered
	if len(reasons) > 0 {
		e.Message = strings.Join(reasons, "; ")
	}
	if !inFocus(a.call) && !strings.Contains(e.Hint, "focus") {
		e.Hint = strings.TrimLeft(e.Hint+` With mode "focus" it is done with the person's own pointer and keyboard, which they will notice.`, " ")
	}
	return way{}, &e
}

// observe waits until the effect of an action has come and settled, and returns
// what changed.
func (a deed) observe(ctx context.Context, before *desktop.Snapshot, events <-chan desktop.Event, focus desktop.ID) (delta.Delta, error) {
	ceiling := time.NewTimer(effectCeiling)
	defer ceiling.Stop()
	looks := time.NewTicker(lookAgain) // some toolkits tell of nothing
	defer looks.Stop()
	var goes, loads time.Time // since when something seems to be about to go, a page to come
	for {
		late := false
		select {
		case event, open := <-events:
			if !open {
				events = nil
				continue
			}
			if !telling(event) {
				continue
			}
			settle(ctx, events)
		case <-looks.C:
		case <-ceiling.C:
			late = true
		case <-ctx.Done():
			return a.unreadable(ctx.Err())
		}
		if err := a.refresh(ctx); err != nil {
			return a.unreadable(err)
		}
		if a.shot.Version == before.Version && !late {
			continue
		}
		if a.loading(before) {
			if loads.IsZero() {
				loads = time.Now()
			}
			if time.Since(loads) < loadsWithin {
				continue
			}
		}
		late = late || !loads.IsZero()
		delta := a.diff(before, focus)
		if !late && !a.effective(before, delta) {
			continue
		}
		if !late && a.emptied(before, delta) {
			if goes.IsZero() {
				goes = time.Now()
			}
			if time.Since(goes) < goesWithin {
				continue
			}
		}
		return delta, nil
	}
}

// goesWithin is how long something is waited for to go that has lost its words.
const goesWithin = 2 * lookAgain

// loadsWithin is how long a page is waited for that has begun to come.
const loadsWithin = 3 * time.Second

// loading reports whether a page is on its way: the one that was there is gone, and what
// comes in its place has nothing to show yet.
func (a deed) loading(before *desktop.Snapshot) bool {
	had, fresh := false, false
	for i := range before.Elements {
		e := &before.Elements[i]
		had = had || e.Role == desktop.Document && e.States.Has(desktop.Showing) && a.shot.Index(e.ID) < 0
	}
	if !had {
		return false
	}
	for i := range a.shot.Elements {
		e := &a.shot.Elements[i]
		if e.Role != desktop.Document || before.Index(e.ID) >= 0 || !e.States.Has(desktop.Showing) {
			continue
		}
		if fresh = true; e.States.Has(desktop.Busy) || e.End == i+1 {
			return true
		}
	}
	return !fresh && len(a.shot.Children(-1)) > 0 && !a.closedWindow(before)
}

// closedWindow reports whether a window has gone.
func (a deed) closedWindow(before *desktop.Snapshot) bool {
	return slices.ContainsFunc(before.Children(-1), func(top int) bool { return a.shot.Index(before.Elements[top].ID) < 0 })
}

// emptied reports whether an element has lost its words, which in Chromium is how it
// begins to go.
func (a deed) emptied(before *desktop.Snapshot, d delta.Delta) bool {
	return slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		if c.Kind != delta.Changed || c.Restless {
			return false
		}
		now := &a.shot.Elements[c.Index]
		was := before.Index(now.ID)
		return was >= 0 && now.Name == "" && before.Elements[was].Name != ""
	})
}

// diff is what has changed since the snapshot, with what happened to one element
// first.
func (a deed) diff(before *desktop.Snapshot, focus desktop.ID) delta.Delta {
	return delta.Between(before, a.shot, delta.Options{Ref: a.ref, Focus: focus, Restless: a.unrest.Has})
}

// effective reports whether anything changed besides what changes by itself, what
// most programs do with whatever is pressed, and what the mode "focus" does by
// itself: the keyboard goes there.
func (a deed) effective(before *desktop.Snapshot, d delta.Delta) bool {
	acted := &desktop.Element{}
	if a.index >= 0 {
		acted = &before.Elements[a.index]
	}
	raised := slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		return keyboardMoved(before, a.shot, c) && a.shot.Elements[c.Index].States.Has(desktop.Active)
	})
	// What is restless is told last, so what is not told is restless too where
	// anything that is told is.
	more := d.More > 0 && !slices.ContainsFunc(d.Changes, func(c delta.Change) bool { return c.Restless })
	return more || slices.ContainsFunc(d.Changes, func(c delta.Change) bool {
		if c.Restless {
			return false
		}
		if !keyboardMoved(before, a.shot, c) {
			return true
		}
		switch now := &a.shot.Elements[c.Index]; {
		case now.Parent < 0:
			return false
		case now.ID == acted.ID:
			return takesText(acted)
		}
		return !raised
	})
}

// keyboardMoved reports whether the change is that the element, or window, has
// the keyboard now or no longer, and nothing else.
func keyboardMoved(before, after *desktop.Snapshot, c delta.Change) bool {
	if c.Kind != delta.Changed {
		return false
	}
	now := &after.Elements[c.Index]
	i := before.Index(now.ID)
	if i < 0 {
		return false
	}
	const keyboard = desktop.Focused | desktop.Active
	was := &before.Elements[i]
	return was.Name == now.Name && was.Value == now.Value && was.States&^keyboard == now.States&^keyboard
}

// unreadable is what is known when the program cannot be read after the action:
// it may have ended because of it, which is a change like another.
func (a deed) unreadable(err error) (delta.Delta, error) {
	e := *aai.AsError(err)
	if e.Code == aai.AppNotRunning {
		text := "- " + aai.CleanLabel(a.app.Name, 60) + " has ended"
		return delta.Delta{Text: text, Changes: []delta.Change{{Kind: delta.Gone, Index: -1, Text: text}}}, nil
	}
	e.Message = "it was delivered, but what it did was not seen: " + e.Message
	e.Delivery = aai.Delivered
	e.Hint = "Look at the program's state before you try again."
	return delta.Delta{}, &e
}

// telling reports whether an event may be the effect of an action, rather than
// the toolkit showing that it was asked.
func telling(e desktop.Event) bool {
	switch e.Kind {
	case desktop.CaretMoved, desktop.BoundsChanged:
		return false
	case desktop.StateChanged:
		return e.Detail != "focused" && e.Detail != "pressed" && e.Detail != "armed"
	}
	return true
}

// settle waits until no event has come for a moment.
func settle(ctx context.Context, events <-chan desktop.Event) {
	end := time.NewTimer(settleCeiling)
	defer end.Stop()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-time.After(quiet):
			return
		case <-end.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func failed(delivery aai.Delivery, format string, args ...any) error {
	e := aai.Errorf(aai.AutomationFailed, format, args...)
	e.Delivery = delivery
	return e
}

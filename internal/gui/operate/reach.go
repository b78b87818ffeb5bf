package operate

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

// How an element is given its window's keyboard that takes no text and cannot be asked
// for it: by a click, or where that would take the person's focus, by the key that goes
// from one to the next.

// maxTabs is how many elements are passed at most.
const maxTabs = 100

// FocusOrClick gives the element its window's keyboard: by asking it, or else by a click.
func (v *View) FocusOrClick(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	err := v.MoveFocus(ctx, i, input, seat, w)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.ClickOrTabTo(ctx, i, v.Snapshot.Elements[i].Frame.Center(), input, seat, w)
}

// FocusWithoutPress gives the element its window's keyboard, and presses nothing that a click
// would.
func (v *View) FocusWithoutPress(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := &v.Snapshot.Elements[i]
	switch {
	case e.States.Has(desktop.Focused):
		return nil
	case fieldtext.SheetCell(e):
		return v.EnterCell(ctx, i, input, seat, w)
	case snapview.TakesText(e):
		return v.FocusOrClick(ctx, i, input, seat, w)
	case v.App.IsBrowser && !v.App.FocusOnlyWhenActive && seat == desktop.OwnSeat && v.Backend.Actor != nil && e.States.Has(desktop.Focusable):
		return nil // the first stroke moves the focus, when the window has the keyboard
	case (seat == desktop.PersonSeat || v.App.FocusOnlyWhenActive) && v.Backend.Actor != nil:
		if v.focusByAction(ctx, i, desktop.Act{Verb: desktop.TakeFocus, Name: e.Name}, input, seat, w) == nil {
			return nil
		}
	case v.focusAction(e) != "" && v.Backend.Actor != nil:
		if v.focusByAction(ctx, i, desktop.Act{Verb: desktop.Press, Action: setFocus, Name: e.Name}, input, seat, w) == nil {
			return nil
		}
	}
	return v.tabTo(ctx, e.ID, input, seat, w)
}

// ClickOrTabTo clicks a point of an element, or goes to it by keys.
func (v *View) ClickOrTabTo(ctx context.Context, i int, at desktop.Point, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if v.Snapshot.Elements[i].States.Has(desktop.Focused) {
		return nil
	}
	if v.App.FocusOnlyWhenActive && seat == desktop.OwnSeat && v.Backend.Actor != nil {
		if v.focusByAction(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w) == nil {
			return nil
		}
	}
	if _, err := v.ClickPoint(i, w); err != nil {
		return err
	}
	err := input.Click(ctx, seat, v.WindowToClick(ctx, w, at), at, desktop.LeftButton, 1)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.tabTo(ctx, v.Snapshot.Elements[i].ID, input, seat, w)
}

// tabTo presses tab until the element has the keyboard. A window of Qt's has that of the seat from
// the first tab to the last: it reads a key late that comes while it is at work, and where it has
// lost the keyboard by then, the next element gets it and nobody is told.
func (v *View) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	input = withoutFocusCheck(input)
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	now := *v
	k := focusTracker{View: &now, events: Action{View: v}.Subscribe(watching)}
	if err := k.reread(ctx); err != nil {
		return err
	}
	if seat == desktop.PersonSeat || !v.qt() {
		return k.tabTo(ctx, id, input, seat, w)
	}
	return input.WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, input desktop.Input) error {
		if k.focusedIndex() < 0 {
			if err := k.awaitFocusReport(ctx); err != nil {
				return err
			}
		}
		k.holdsKeyboard = true
		return k.tabTo(ctx, id, input, seat, w)
	})
}

// tabTo presses tab until the element has the keyboard.
func (k *focusTracker) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	pressed, back, turns := 0, false, 0
	for ; pressed < maxTabs; pressed++ {
		if has, err := k.hasReached(ctx, id, pressed > 0); has || err != nil {
			return err
		}
		i, at := k.Snapshot.Index(id), k.focusedIndex()
		if i < 0 || turns > 1 {
			break
		}
		in := k.tabConsumer(i, at, k.holdsKeyboard || pressed > 0 || seat == desktop.PersonSeat)
		if in >= 0 && pressed == 0 && in != at && !k.holdsKeyboard {
			if err := k.activateBriefly(ctx, input, seat, w); err != nil {
				return err
			}
			if i, at = k.Snapshot.Index(id), k.Snapshot.Index(k.lastFocused); i < 0 {
				break
			}
			if i == at {
				return nil
			}
			in = k.tabConsumer(i, at, at >= 0)
		}
		if in >= 0 {
			return notReachedError(pressed, ": tab, by which it would be reached, may be a character in "+k.Name(in))
		}
		if at > i != back {
			back = !back
			turns++
		}
		chord := desktop.Chord{Key: "tab"}
		if back {
			chord.Modifiers = []string{"shift"}
		}
		if err := input.Key(ctx, seat, w.ID, chord); err != nil {
			return err
		}
		if moved, err := k.awaitMove(ctx, at); err != nil || !moved {
			pressed++
			break
		}
	}
	return notReachedError(pressed, "")
}

// activateBriefly gives the window the keyboard for a moment, in which programs tell what in it has that,
// and presses nothing.
func (k *focusTracker) activateBriefly(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	k.drainEvents()
	k.lastFocused = ""
	err := input.WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, _ desktop.Input) error { return k.awaitFocusReport(ctx) })
	return cmp.Or(err, k.reread(ctx))
}

// awaitFocusReport waits until the program has told what in its window has the keyboard that the window has
// got, for a moment.
func (k *focusTracker) awaitFocusReport(ctx context.Context) error {
	before := k.changesHeard
	_, err := k.PollUntil(ctx, EffectCeiling, func() (bool, error) { k.drainEvents(); return k.changesHeard > before, nil })
	return err
}

// notReachedError is the error of what was not reached after tab was pressed so often.
func notReachedError(pressed int, why string) error {
	e := &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: "it does not take the keyboard in the background" + why,
	}
	if pressed > 0 {
		e.Code, e.Delivery = aai.AutomationFailed, aai.DeliveryUnknown
		e.Message += fmt.Sprintf("; on the way to it tab was pressed %d times, and another element may have the program's keyboard now", pressed)
		e.Hint = `Look at the program before you go on; the mode "focus" takes the person's keyboard.`
	}
	return e
}

// tabConsumer is the element in which tab might be a character, and not lead to the next: the one
// that has the keyboard, or where nobody knows which that is any in the window of the one that
// is wanted; -1 if there is none.
func (k *focusTracker) tabConsumer(i, at int, told bool) int {
	if k.App.IsBrowser {
		return -1 // a page leaves its fields by it
	}
	// GTK alone tells in the background what has the keyboard before a key comes; LibreOffice on
	// GTK says that what it draws in has it.
	if at >= 0 && (told || strings.HasPrefix(k.App.Toolkit, "GTK")) && k.Snapshot.Elements[at].Role != desktop.Generic {
		if snapview.KeepsTab(&k.Snapshot.Elements[at]) {
			return at
		}
		return -1
	}
	top := i
	for k.Snapshot.Elements[top].Parent >= 0 {
		top = k.Snapshot.Elements[top].Parent
	}
	for in := top; in < k.Snapshot.Elements[top].End; in++ {
		if e := &k.Snapshot.Elements[in]; e.States.Has(desktop.Showing) && snapview.KeepsTab(e) {
			return in
		}
	}
	return -1
}

// enoughLooks is how many times a program is looked at before it is said where its keyboard
// stays: a single look at a busy one takes seconds, and it sleeps now and then.
const enoughLooks = 3

// A tracker knows what has a window's keyboard, also where the window loses it as soon as the
// key is read. That an element got it is told all the same.
type focusTracker struct {
	*View
	events        <-chan desktop.Event
	lastFocused   desktop.ID // what was told last to have got it
	changesHeard  int        // how many others than the one before were told
	newer         bool       // it was told since the last look began
	holdsKeyboard bool       // the window has the keyboard of the seat, and tells each move
}

// reread looks at the program, and hears what it told until then.
func (k *focusTracker) reread(ctx context.Context) error {
	k.drainEvents()
	heard := k.changesHeard
	if err := k.Refresh(ctx); err != nil {
		return err
	}
	k.drainEvents()
	k.newer = k.changesHeard > heard
	return nil
}

// hasReached reports whether the element has its window's keyboard. After a key it is asked until the
// program rests, or for a moment: the window may have got the keyboard by that key alone, at
// the element that had it last, and what the key does there is still to come.
func (k *focusTracker) hasReached(ctx context.Context, id desktop.ID, pressed bool) (bool, error) {
	within := func() bool { i := k.Snapshot.Index(id); return i >= 0 && k.focusedIndex() == i }
	if !within() || !pressed {
		return within(), nil
	}
	since, looks := time.Now(), 0
	_, err := k.PollUntil(ctx, EffectCeiling, func() (bool, error) {
		looks++
		rests := k.Backend.Events == nil || k.Backend.Events.IsIdle(k.App)
		if _, err := k.Backend.Tree.Read(ctx, k.App, id); err != nil { // what it told before it answers is heard
			return false, err
		}
		err := k.reread(ctx)
		return err == nil && (!within() || (rests || k.holdsKeyboard) && !k.newer || looks >= enoughLooks && time.Since(since) > EffectCeiling), err
	})
	return err == nil && within(), err
}

// drainEvents hears what the program told until now.
func (k *focusTracker) drainEvents() {
	for {
		select {
		case event, open := <-k.events:
			if !open {
				k.events = nil
				return
			}
			if event.Kind == desktop.FocusMoved && event.ID != k.lastFocused {
				k.lastFocused = event.ID
				k.changesHeard++
			}
		default:
			return
		}
	}
}

// focusedIndex is the element that has its window's keyboard, or had it last; -1 where nobody knows.
func (k *focusTracker) focusedIndex() int {
	if i := k.Snapshot.Index(k.lastFocused); (k.newer || k.holdsKeyboard) && i >= 0 {
		return i
	}
	if m, err := k.Focused(); err == nil {
		return m.Index
	}
	return k.Snapshot.Index(k.lastFocused)
}

// awaitMove waits until another element than was has the keyboard. Where nobody knew which that
// was, the program may tell of it first, when its window gets the keyboard, and what the key
// did then: that is waited for.
func (k *focusTracker) awaitMove(ctx context.Context, was int) (bool, error) {
	var id, last desktop.ID
	if was >= 0 {
		id = k.Snapshot.Elements[was].ID
	}
	if k.holdsKeyboard {
		before := k.changesHeard
		return k.PollUntil(ctx, WrongCeiling, func() (bool, error) {
			k.drainEvents()
			if k.changesHeard != before && k.Snapshot.Index(k.lastFocused) < 0 {
				before = k.changesHeard
				if err := k.reread(ctx); err != nil {
					return false, err
				}
			}
			at := k.focusedIndex()
			return at >= 0 && at != was, nil
		})
	}
	since, looks := time.Now(), 0
	return k.PollUntil(ctx, WrongCeiling, func() (bool, error) {
		rests := k.Backend.Events == nil || k.Backend.Events.IsIdle(k.App)
		if err := k.reread(ctx); err != nil {
			return false, err
		}
		at := k.focusedIndex()
		if at < 0 || k.Snapshot.Elements[at].ID == id {
			return false, nil
		}
		if now := k.Snapshot.Elements[at].ID; now != last {
			last, since, looks = now, time.Now(), 0
		}
		looks++
		stands := time.Since(since)
		settled := looks > enoughLooks && (rests && stands > EffectCeiling || stands > WrongCeiling)
		return id != "" || k.changesHeard > 1 || settled, nil
	})
}

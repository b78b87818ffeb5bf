package operate

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"aai"
	"aai/internal/ax/scene"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// How an element is given its window's keyboard that takes no text and cannot be asked
// for it: by a click, or where that would take the person's focus, by the key that goes
// from one to the next.

// maxTabs is how many elements are passed at most.
const maxTabs = 100

// Enter gives the element its window's keyboard: by asking it, or else by a click.
func (v *View) Enter(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	err := v.TakeKeyboard(ctx, i, input, seat, w)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.Reach(ctx, i, v.Shot.Elements[i].Frame.Center(), input, seat, w)
}

// GiveKeyboard gives the element its window's keyboard, and presses nothing that a click
// would.
func (v *View) GiveKeyboard(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := &v.Shot.Elements[i]
	switch {
	case e.States.Has(desktop.Focused):
		return nil
	case values.SheetCell(e):
		return v.EnterCell(ctx, i, input, seat, w)
	case scene.TakesText(e):
		return v.Enter(ctx, i, input, seat, w)
	case v.App.Browser && !v.App.FocusInFront && seat == desktop.OwnSeat && v.Backend.Actor != nil && e.States.Has(desktop.Focusable):
		return nil // the first stroke moves the focus, when the window has the keyboard
	case (seat == desktop.PersonSeat || v.App.FocusInFront) && v.Backend.Actor != nil:
		if v.asksFor(ctx, i, desktop.Act{Verb: desktop.TakeFocus, Name: e.Name}, input, seat, w) == nil {
			return nil
		}
	case v.focusing(e) != "" && v.Backend.Actor != nil:
		if v.asksFor(ctx, i, desktop.Act{Verb: desktop.Press, Action: setFocus, Name: e.Name}, input, seat, w) == nil {
			return nil
		}
	}
	return v.tabTo(ctx, e.ID, input, seat, w)
}

// Reach clicks a point of an element, or goes to it by keys.
func (v *View) Reach(ctx context.Context, i int, at desktop.Point, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if v.Shot.Elements[i].States.Has(desktop.Focused) {
		return nil
	}
	if v.App.FocusInFront && seat == desktop.OwnSeat && v.Backend.Actor != nil {
		if v.asksFor(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w) == nil {
			return nil
		}
	}
	if _, err := v.Point(i, w); err != nil {
		return err
	}
	err := input.Click(ctx, seat, v.Over(ctx, w, at), at, desktop.LeftButton, 1)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.tabTo(ctx, v.Shot.Elements[i].ID, input, seat, w)
}

// tabTo presses tab until the element has the keyboard. A window of Qt's has that of the seat from
// the first tab to the last: it reads a key late that comes while it is at work, and where it has
// lost the keyboard by then, the next element gets it and nobody is told.
func (v *View) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	input = unlimited(input)
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	now := *v
	k := tracker{View: &now, events: Deed{View: v}.Watch(watching)}
	if err := k.look(ctx); err != nil {
		return err
	}
	if seat == desktop.PersonSeat || !v.qt() {
		return k.tabTo(ctx, id, input, seat, w)
	}
	return input.Attend(ctx, seat, w.ID, func(ctx context.Context, input desktop.Input) error {
		if k.at() < 0 {
			if err := k.wakes(ctx); err != nil {
				return err
			}
		}
		k.held = true
		return k.tabTo(ctx, id, input, seat, w)
	})
}

// tabTo presses tab until the element has the keyboard.
func (k *tracker) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	pressed, back, turns := 0, false, 0
	for ; pressed < maxTabs; pressed++ {
		if has, err := k.has(ctx, id, pressed > 0); has || err != nil {
			return err
		}
		i, at := k.Shot.Index(id), k.at()
		if i < 0 || turns > 1 {
			break
		}
		in := k.keepsTab(i, at, k.held || pressed > 0 || seat == desktop.PersonSeat)
		if in >= 0 && pressed == 0 && in != at && !k.held {
			if err := k.wake(ctx, input, seat, w); err != nil {
				return err
			}
			if i, at = k.Shot.Index(id), k.Shot.Index(k.told); i < 0 {
				break
			}
			if i == at {
				return nil
			}
			in = k.keepsTab(i, at, at >= 0)
		}
		if in >= 0 {
			return noKeyboard(pressed, ": tab, by which it would be reached, may be a character in "+k.Name(in))
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
		if moved, err := k.moves(ctx, at); err != nil || !moved {
			pressed++
			break
		}
	}
	return noKeyboard(pressed, "")
}

// wake gives the window the keyboard for a moment, in which programs tell what in it has that,
// and presses nothing.
func (k *tracker) wake(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	k.hear()
	k.told = ""
	err := input.Attend(ctx, seat, w.ID, func(ctx context.Context, _ desktop.Input) error { return k.wakes(ctx) })
	return cmp.Or(err, k.look(ctx))
}

// wakes waits until the program has told what in its window has the keyboard that the window has
// got, for a moment.
func (k *tracker) wakes(ctx context.Context) error {
	before := k.heard
	_, err := k.Until(ctx, EffectCeiling, func() (bool, error) { k.hear(); return k.heard > before, nil })
	return err
}

// noKeyboard is the error of what was not reached after tab was pressed so often.
func noKeyboard(pressed int, why string) error {
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

// keepsTab is the element in which tab might be a character, and not lead to the next: the one
// that has the keyboard, or where nobody knows which that is any in the window of the one that
// is wanted; -1 if there is none.
func (k *tracker) keepsTab(i, at int, told bool) int {
	if k.App.Browser {
		return -1 // a page leaves its fields by it
	}
	// GTK alone tells in the background what has the keyboard before a key comes; LibreOffice on
	// GTK says that what it draws in has it.
	if at >= 0 && (told || strings.HasPrefix(k.App.Toolkit, "GTK")) && k.Shot.Elements[at].Role != desktop.Generic {
		if scene.KeepsTab(&k.Shot.Elements[at]) {
			return at
		}
		return -1
	}
	top := i
	for k.Shot.Elements[top].Parent >= 0 {
		top = k.Shot.Elements[top].Parent
	}
	for in := top; in < k.Shot.Elements[top].End; in++ {
		if e := &k.Shot.Elements[in]; e.States.Has(desktop.Showing) && scene.KeepsTab(e) {
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
type tracker struct {
	*View
	events <-chan desktop.Event
	told   desktop.ID // what was told last to have got it
	heard  int        // how many others than the one before were told
	newer  bool       // it was told since the last look began
	held   bool       // the window has the keyboard of the seat, and tells each move
}

// look looks at the program, and hears what it told until then.
func (k *tracker) look(ctx context.Context) error {
	k.hear()
	heard := k.heard
	if err := k.Refresh(ctx); err != nil {
		return err
	}
	k.hear()
	k.newer = k.heard > heard
	return nil
}

// has reports whether the element has its window's keyboard. After a key it is asked until the
// program rests, or for a moment: the window may have got the keyboard by that key alone, at
// the element that had it last, and what the key does there is still to come.
func (k *tracker) has(ctx context.Context, id desktop.ID, pressed bool) (bool, error) {
	within := func() bool { i := k.Shot.Index(id); return i >= 0 && k.at() == i }
	if !within() || !pressed {
		return within(), nil
	}
	since, looks := time.Now(), 0
	_, err := k.Until(ctx, EffectCeiling, func() (bool, error) {
		looks++
		rests := k.Backend.Events == nil || k.Backend.Events.Idle(k.App)
		if _, err := k.Backend.Tree.Read(ctx, k.App, id); err != nil { // what it told before it answers is heard
			return false, err
		}
		err := k.look(ctx)
		return err == nil && (!within() || (rests || k.held) && !k.newer || looks >= enoughLooks && time.Since(since) > EffectCeiling), err
	})
	return err == nil && within(), err
}

// hear hears what the program told until now.
func (k *tracker) hear() {
	for {
		select {
		case event, open := <-k.events:
			if !open {
				k.events = nil
				return
			}
			if event.Kind == desktop.FocusMoved && event.ID != k.told {
				k.told = event.ID
				k.heard++
			}
		default:
			return
		}
	}
}

// at is the element that has its window's keyboard, or had it last; -1 where nobody knows.
func (k *tracker) at() int {
	if i := k.Shot.Index(k.told); (k.newer || k.held) && i >= 0 {
		return i
	}
	if m, err := k.Focused(); err == nil {
		return m.Index
	}
	return k.Shot.Index(k.told)
}

// moves waits until another element than was has the keyboard. Where nobody knew which that
// was, the program may tell of it first, when its window gets the keyboard, and what the key
// did then: that is waited for.
func (k *tracker) moves(ctx context.Context, was int) (bool, error) {
	var id, last desktop.ID
	if was >= 0 {
		id = k.Shot.Elements[was].ID
	}
	if k.held {
		before := k.heard
		return k.Until(ctx, WrongCeiling, func() (bool, error) {
			k.hear()
			if k.heard != before && k.Shot.Index(k.told) < 0 {
				before = k.heard
				if err := k.look(ctx); err != nil {
					return false, err
				}
			}
			at := k.at()
			return at >= 0 && at != was, nil
		})
	}
	since, looks := time.Now(), 0
	return k.Until(ctx, WrongCeiling, func() (bool, error) {
		rests := k.Backend.Events == nil || k.Backend.Events.Idle(k.App)
		if err := k.look(ctx); err != nil {
			return false, err
		}
		at := k.at()
		if at < 0 || k.Shot.Elements[at].ID == id {
			return false, nil
		}
		if now := k.Shot.Elements[at].ID; now != last {
			last, since, looks = now, time.Now(), 0
		}
		looks++
		stands := time.Since(since)
		settled := looks > enoughLooks && (rests && stands > EffectCeiling || stands > WrongCeiling)
		return id != "" || k.heard > 1 || settled, nil
	})
}

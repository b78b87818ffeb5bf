package operate

import (
	"context"
	"time"

	"aai"
	"aai/internal/ax/scene"
	"aai/internal/ax/values"
	"aai/internal/ax/watch"
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
	case seat == desktop.PersonSeat && v.Backend.Actor != nil && v.Backend.Actor.Perform(ctx, v.App, e.ID, desktop.Act{Verb: desktop.TakeFocus, Name: e.Name}) == nil:
		if has, err := v.becomesFocused(ctx, e.ID); has || err != nil {
			return err
		}
	}
	return v.tabTo(ctx, e.ID, input, seat, w)
}

// Reach clicks a point of an element, or goes to it by keys.
func (v *View) Reach(ctx context.Context, i int, at desktop.Point, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if v.Shot.Elements[i].States.Has(desktop.Focused) {
		return nil
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

// tabTo presses tab until the element has the keyboard.
func (v *View) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	now, back, turns := *v, false, 0
	for range maxTabs {
		if err := now.Refresh(ctx); err != nil {
			return err
		}
		i, at := now.Shot.Index(id), now.keyboardAt()
		if i >= 0 && now.Shot.Elements[i].States.Has(desktop.Focused) {
			return nil
		}
		if i < 0 || turns > 1 {
			break
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
		if moved, err := now.keyboardMoves(ctx, at); err != nil || !moved {
			break
		}
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: "it does not take the keyboard in the background",
	}
}

// keyboardAt is the element that has its window's keyboard, or -1.
func (v *View) keyboardAt() int {
	m, err := v.Focused()
	if err != nil {
		return -1
	}
	return m.Index
}

// keyboardMoves waits until another element than was has the keyboard.
func (v *View) keyboardMoves(ctx context.Context, was int) (bool, error) {
	var id desktop.ID
	if was >= 0 {
		id = v.Shot.Elements[was].ID
	}
	for until := time.Now().Add(WrongCeiling); time.Now().Before(until); {
		if err := v.Refresh(ctx); err != nil {
			return false, err
		}
		if at := v.keyboardAt(); at >= 0 && v.Shot.Elements[at].ID != id {
			return true, nil
		}
		select {
		case <-time.After(watch.LookAgain / 10):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}

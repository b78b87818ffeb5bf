package ax

import (
	"context"
	"time"

	"aai"
	"aai/internal/desktop"
)

// How an element is given its window's keyboard that takes no text and cannot be asked
// for it: by a click, or where that would take the person's focus, by the key that goes
// from one to the next.

// maxTabs is how many elements are passed at most.
const maxTabs = 100

// enter gives the element its window's keyboard: by asking it, or else by a click.
func (v *view) enter(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	err := v.takeKeyboard(ctx, i, input, seat, w)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.reach(ctx, i, v.shot.Elements[i].Frame.Center(), input, seat, w)
}

// giveKeyboard gives the element its window's keyboard, and presses nothing that a click
// would.
func (v *view) giveKeyboard(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := &v.shot.Elements[i]
	switch {
	case e.States.Has(desktop.Focused):
		return nil
	case sheetCell(e):
		return v.enterCell(ctx, i, input, seat, w)
	case takesText(e):
		return v.enter(ctx, i, input, seat, w)
	case seat == desktop.PersonSeat && v.backend.Actor != nil && v.backend.Actor.Perform(ctx, v.app, e.ID, desktop.Act{Verb: desktop.TakeFocus, Name: e.Name}) == nil:
		if has, err := v.becomesFocused(ctx, e.ID); has || err != nil {
			return err
		}
	}
	return v.tabTo(ctx, e.ID, input, seat, w)
}

// reach clicks a point of an element, or goes to it by keys.
func (v *view) reach(ctx context.Context, i int, at desktop.Point, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	if v.shot.Elements[i].States.Has(desktop.Focused) {
		return nil
	}
	if _, err := v.point(i, w); err != nil {
		return err
	}
	err := input.Click(ctx, seat, v.over(ctx, w, at), at, desktop.LeftButton, 1)
	if e := aai.AsError(err); e == nil || e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
		return err
	}
	return v.tabTo(ctx, v.shot.Elements[i].ID, input, seat, w)
}

// tabTo presses tab until the element has the keyboard.
func (v *view) tabTo(ctx context.Context, id desktop.ID, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	now, back, turns := *v, false, 0
	for range maxTabs {
		if err := now.refresh(ctx); err != nil {
			return err
		}
		i, at := now.shot.Index(id), now.keyboardAt()
		if i >= 0 && now.shot.Elements[i].States.Has(desktop.Focused) {
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
func (v *view) keyboardAt() int {
	m, err := v.focused()
	if err != nil {
		return -1
	}
	return m.index
}

// keyboardMoves waits until another element than was has the keyboard.
func (v *view) keyboardMoves(ctx context.Context, was int) (bool, error) {
	var id desktop.ID
	if was >= 0 {
		id = v.shot.Elements[was].ID
	}
	for until := time.Now().Add(wrongCeiling); time.Now().Before(until); {
		if err := v.refresh(ctx); err != nil {
			return false, err
		}
		if at := v.keyboardAt(); at >= 0 && v.shot.Elements[at].ID != id {
			return true, nil
		}
		select {
		case <-time.After(lookAgain / 10):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}

package operate

import (
	"context"
	"time"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/scene"
	"aai/internal/ax/values"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
)

// EnterCell makes the cell the one that keys go to: the cursor of a sheet goes there
// without its window coming to the front.
func (v *View) EnterCell(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	at, err := v.Point(i, w)
	if err != nil {
		return err
	}
	if seat == desktop.PersonSeat {
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}
	if v.Backend.Actor == nil {
		return fault.Unsupported("actions on elements")
	}
	id := v.Shot.Elements[i].ID
	if err := v.Backend.Actor.Perform(ctx, v.App, id, desktop.Act{Verb: desktop.TakeFocus}); err != nil {
		return err
	}
	if focused, err := v.becomesFocused(ctx, id); focused || err != nil {
		return err
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: v.Name(i) + " does not take the keyboard in the background",
	}
}

// Focused finds the element that has the program's keyboard.
func (v *View) Focused() (Match, error) {
	found := v.KeyboardWithin(0, len(v.Shot.Elements))
	if found < 0 {
		e := aai.Errorf(aai.ElementNotFound, "nothing in %s has its keyboard", aai.CleanLabel(v.App.Name, 60))
		e.Delivery = aai.NotDelivered
		e.Hint = "Say by query what to type into."
		return Match{}, e
	}
	return Match{found, "focused"}, nil
}

// TakeKeyboard makes the element the one in its window that keys go to. In the
// background it is asked to act, because taking the focus raises the window in
// some toolkits.
func (v *View) TakeKeyboard(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := &v.Shot.Elements[i]
	if !scene.TakesText(e) {
		return &aai.Error{
			Code: aai.InvalidParams, Delivery: aai.NotDelivered, Message: "query: " + v.Name(i) + " takes no text",
			Hint: "Say by query what to type into; ax_click presses it.",
		}
	}
	if e.States.Has(desktop.Focused) {
		return nil
	}
	if seat == desktop.PersonSeat {
		at, err := v.Point(i, w)
		if err != nil {
			return err
		}
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}
	if v.Backend.Actor == nil {
		return fault.Unsupported("actions on elements")
	}
	act := desktop.Act{Verb: desktop.Press}
	if values.SheetCell(e) {
		act.Verb = desktop.TakeFocus
	}
	if err := v.Backend.Actor.Perform(ctx, v.App, e.ID, act); err != nil {
		return err
	}
	if focused, err := v.becomesFocused(ctx, e.ID); focused || err != nil {
		return err
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: v.Name(i) + " does not take the keyboard in the background",
	}
}

// becomesFocused waits until the element has its window's keyboard: programs
// answer before they have given it.
func (v *View) becomesFocused(ctx context.Context, id desktop.ID) (bool, error) {
	for until := time.Now().Add(EffectCeiling); ; {
		now, err := v.Backend.Tree.Read(ctx, v.App, id)
		if err != nil || now.States.Has(desktop.Focused) || time.Now().After(until) {
			return err == nil && now.States.Has(desktop.Focused), err
		}
		select {
		case <-time.After(watch.LookAgain / 10):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

package operate

import (
	"context"
	"slices"
	"strings"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/scene"
	"aai/internal/ax/values"
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
	return v.asksFor(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w)
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
			Hint: "Say by query, or by its ref, the field to type into.",
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
	if values.SheetCell(e) || v.App.FocusInFront {
		return v.asksFor(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w)
	}
	return v.asksFor(ctx, i, desktop.Act{Verb: desktop.Press, Action: v.focusing(e)}, input, seat, w)
}

// setFocus is the action of Qt's by which an element gets its window's keyboard, and no window
// comes to the front.
const setFocus = "SetFocus"

// focusing is that action where the element has it, or "".
func (v *View) focusing(e *desktop.Element) string {
	if v.qt() && slices.Contains(e.Actions, setFocus) {
		return setFocus
	}
	return ""
}

func (v *View) qt() bool { return strings.HasPrefix(v.App.Toolkit, "Qt") }

// hasFocus asks whether the element has its window's keyboard: of a program that tells that in
// front alone, whether its window is in front, too.
func (v *View) hasFocus(ctx context.Context, id desktop.ID) (bool, error) {
	if !v.App.FocusInFront {
		now, err := v.Backend.Tree.Read(ctx, v.App, id)
		return now.States.Has(desktop.Focused), err
	}
	now := *v
	err := now.Refresh(ctx)
	if err != nil {
		return false, err
	}
	i := now.Shot.Index(id)
	return i >= 0 && now.Shot.Elements[i].States.Has(desktop.Focused), nil
}

// asksFor asks the element to act so that it gets its window's keyboard, and waits until it
// has it: programs answer before they have given it. One that tells it in front alone gets
// the seat's keyboard meanwhile.
func (v *View) asksFor(ctx context.Context, i int, act desktop.Act, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	id, k := v.Shot.Elements[i].ID, tracker{View: v, events: Deed{View: v}.Watch(watching)}
	if err := v.Backend.Actor.Perform(ctx, v.App, id, act); err != nil {
		return err
	}
	has := false
	await := func(ctx context.Context) (err error) {
		has, err = v.Until(ctx, EffectCeiling, func() (bool, error) {
			focused, err := v.hasFocus(ctx, id)
			k.hear()
			return err == nil && (focused || k.told == id), err
		})
		return err
	}
	err := error(nil)
	if v.App.FocusInFront || act.Action == setFocus || values.SheetCell(&v.Shot.Elements[i]) {
		err = input.Attend(ctx, seat, w.ID, func(ctx context.Context, _ desktop.Input) error { return await(ctx) })
	} else {
		err = await(ctx)
	}
	if has || err != nil {
		return err
	}
	if v.Backend.Events != nil && !v.Backend.Events.Idle(v.App) { // it was waited for as long as a busy one is
		return &aai.Error{
			Code: aai.Timeout, Delivery: aai.NotDelivered, Answered: true,
			Message: v.Name(i) + " did not take the keyboard: " + aai.CleanLabel(v.App.Name, 60) + " is busy",
			Hint:    "Call again when it is at rest: ax_wait_idle waits for that.",
		}
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: v.Name(i) + " does not take the keyboard in the background",
	}
}

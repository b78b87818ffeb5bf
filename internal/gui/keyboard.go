package gui

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// enterCell moves the cursor of a sheet to the cell, so that keys go there, without raising the
// window.
func (v *view) enterCell(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	at, err := v.clickPoint(i, w)
	if err != nil {
		return err
	}
	if seat == desktop.PersonSeat {
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}
	if v.backend.Actor == nil {
		return guierr.Unsupported("actions on elements")
	}
	return v.focusByAction(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w)
}

// focused finds the element that has the program's keyboard focus.
func (v *view) focused() (match, error) {
	found := v.keyboardWithin(0, len(v.snapshot.Elements))
	if found < 0 {
		e := aai.Errorf(aai.ElementNotFound, "no element of %s has its keyboard", aai.CleanLabel(v.app.Name, 60))
		e.Delivery = aai.NotDelivered
		e.Hint = "Give the target element as query."
		return match{}, e
	}
	return match{found, "focused"}, nil
}

// moveFocus gives the element its window's keyboard focus. In the background it uses an action of
// the element, because taking the focus raises the window in some toolkits.
func (v *view) moveFocus(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := &v.snapshot.Elements[i]
	if !takesText(e) {
		return &aai.Error{
			Code: aai.InvalidParams, Delivery: aai.NotDelivered, Message: "query: " + v.name(i) + " takes no text",
			Hint: "Give the target field as query, by name or ref.",
		}
	}
	if e.States.Has(desktop.Focused) {
		return nil
	}
	if seat == desktop.PersonSeat {
		at, err := v.clickPoint(i, w)
		if err != nil {
			return err
		}
		return input.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1)
	}
	if v.backend.Actor == nil {
		return guierr.Unsupported("actions on elements")
	}
	if fieldtext.IsSheetCell(e) || v.app.FocusOnlyWhenActive {
		return v.focusByAction(ctx, i, desktop.Act{Verb: desktop.TakeFocus}, input, seat, w)
	}
	return v.focusByAction(ctx, i, desktop.Act{Verb: desktop.Press, Action: v.focusAction(e)}, input, seat, w)
}

// setFocus is the action of a toolkit with HasSetFocus.
const setFocus = "SetFocus"

// focusAction returns setFocus if the element has that action, or "".
func (v *view) focusAction(e *desktop.Element) string {
	if v.app.HasSetFocus && slices.Contains(e.Actions, setFocus) {
		return setFocus
	}
	return ""
}

// hasFocus reports whether the element has its window's keyboard focus. For a program with
// FocusOnlyWhenActive it also requires the window in front.
func (v *view) hasFocus(ctx context.Context, id desktop.ID) (bool, error) {
	if !v.app.FocusOnlyWhenActive {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		return now.States.Has(desktop.Focused), err
	}
	now := *v
	err := now.refresh(ctx)
	if err != nil {
		return false, err
	}
	i := now.snapshot.Index(id)
	return i >= 0 && now.snapshot.Elements[i].States.Has(desktop.Focused), nil
}

// focusByAction executes act to give the element its window's keyboard focus, and waits for the
// focus: programs answer earlier. A program with FocusOnlyWhenActive owns the seat's keyboard
// meanwhile.
func (v *view) focusByAction(ctx context.Context, i int, act desktop.Act, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	id, k := v.snapshot.Elements[i].ID, focusTracker{view: v, events: action{view: v}.subscribe(watching)}
	if err := v.backend.Actor.Execute(ctx, v.app, id, act); err != nil {
		return err
	}
	has := false
	await := func(ctx context.Context) (err error) {
		has, err = v.pollUntil(ctx, effectCeiling, func() (bool, error) {
			focused, err := v.hasFocus(ctx, id)
			k.drainEvents()
			return err == nil && (focused || k.lastFocused == id), err
		})
		return err
	}
	err := error(nil)
	if v.app.FocusOnlyWhenActive || act.Action == setFocus || fieldtext.IsSheetCell(&v.snapshot.Elements[i]) {
		err = input.WithKeyboard(ctx, seat, w.ID, func(ctx context.Context, _ desktop.Input) error { return await(ctx) })
	} else {
		err = await(ctx)
	}
	if has || err != nil {
		return err
	}
	if v.backend.Events != nil && !v.backend.Events.IsIdle(v.app) { // the wait was already the longer one for busy programs
		return &aai.Error{
			Code: aai.Timeout, Delivery: aai.NotDelivered, AppResponded: true,
			Message: v.name(i) + " did not take the keyboard: " + aai.CleanLabel(v.app.Name, 60) + " is busy",
			Hint:    "Call again when it is idle: ax_wait_idle waits for that.",
		}
	}
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: v.name(i) + " does not take the keyboard in the background",
	}
}

// trackedInput records whether any input was delivered: if the second of two keys fails, the first still had an
// effect. It blocks input that would reach a question for the person.
type trackedInput struct {
	desktop.Input
	hasInput   *bool
	checkReach func(context.Context, programs.ReachFunc) error
}

// checkReach calls programs.CheckPersonPrompts for the program.
func (v *view) checkReach(ctx context.Context, reaches programs.ReachFunc) error {
	return programs.CheckPersonPrompts(ctx, v.backend.Tree, v.app, reaches)
}

func (m trackedInput) note(err error) error {
	*m.hasInput = *m.hasInput || err == nil
	return err
}

func (m trackedInput) Click(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	return m.note(m.Input.Click(ctx, seat, w, at, button, count))
}

func (m trackedInput) Drag(ctx context.Context, seat desktop.Seat, w desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(from, to)); err != nil {
		return err
	}
	return m.note(m.Input.Drag(ctx, seat, w, from, to, duration))
}

func (m trackedInput) Scroll(ctx context.Context, seat desktop.Seat, w desktop.WindowID, at desktop.Point, dx, dy int) error {
	if err := m.checkReach(ctx, programs.ReachesPoints(at)); err != nil {
		return err
	}
	return m.note(m.Input.Scroll(ctx, seat, w, at, dx, dy))
}

func (m trackedInput) Type(ctx context.Context, seat desktop.Seat, w desktop.WindowID, text string) error {
	if err := m.checkReach(ctx, programs.ReachesByText); err != nil {
		return err
	}
	return m.note(m.Input.Type(ctx, seat, w, text))
}

func (m trackedInput) Key(ctx context.Context, seat desktop.Seat, w desktop.WindowID, chord desktop.Chord) error {
	if err := m.checkReach(ctx, programs.NewChordReach(chord)); err != nil {
		return err
	}
	return m.note(m.Input.Key(ctx, seat, w, chord))
}

// WithKeyboard implements desktop.Keyboard. Input within while counts as delivered; taking the
// keyboard alone does not.
func (m trackedInput) WithKeyboard(ctx context.Context, seat desktop.Seat, w desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return m.Input.WithKeyboard(ctx, seat, w, func(ctx context.Context, input desktop.Input) error {
		return while(ctx, trackedInput{input, m.hasInput, m.checkReach})
	})
}

// partialInputError returns the error for input that was partly delivered.
func (m trackedInput) partialInputError(err error) error {
	if err == nil || !*m.hasInput {
		return err
	}
	e := *aai.AsError(err)
	if e.Delivery != aai.NotDelivered {
		return err
	}
	if e.Code == aai.AutomationNotSupported {
		e.Code = aai.AutomationFailed
	}
	e.Message = "only a part of it was done: " + strings.Replace(e.Message, ", and nothing was done", "", 1)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the program before you go on; the action may be half done."
	return &e
}

// deselectTimeout limits the removal of a selection, even after the end of the call.
const deselectTimeout = time.Second

// overwrite selects the whole content of the element, which has the keyboard focus, and calls write
// to replace it. On failure it removes the selection, so that later typing replaces nothing. The
// error reports if the content is unchanged.
func (v *view) overwrite(ctx context.Context, i int, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo, write func(desktop.Input) error) error {
	before, unread := v.backend.Tree.Read(ctx, v.app, v.snapshot.Elements[i].ID)
	earlier := false
	outer, counts := withoutFocusCheck(input).(trackedInput)
	if counts {
		earlier = *outer.hasInput
	}
	typed := trackedInput{input, new(bool), v.checkReach}
	err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}})
	if err == nil {
		err = write(typed)
	} else if aai.AsError(err).Delivery == aai.NotDelivered {
		return err // nothing is selected
	}
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deselectTimeout)
	defer cancel()
	e := *aai.AsError(err)
	if input.Key(ctx, seat, w.ID, desktop.Chord{Key: "right"}) != nil {
		e.Message += "; its text may still be selected"
		e.Delivery, e.Hint = aai.DeliveryUnknown, "Press right there by ax_key_press and look before you type: typing would replace the selection."
		return &e
	}
	if *typed.hasInput || e.Delivery != aai.NotDelivered {
		return err
	}
	done := "nothing was typed"
	if now, gone := v.backend.Tree.Read(ctx, v.app, before.ID); unread == nil && gone == nil && now.Value == before.Value {
		done += ", and " + v.name(i) + " has its former value"
		if counts {
			*outer.hasInput = earlier
		}
	}
	e.Message = done + ": " + strings.Replace(e.Message, ", and nothing was done", "", 1)
	return &e
}

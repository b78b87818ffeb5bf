package gui

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

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

// onlyField is the query for the field of a program that has just one.
const onlyField = "role:textbox"

// typingTarget finds the element for text without a query: the one that has the program's keyboard
// focus or, if none has, the program's only text field. A password field must be named, and so must
// a field of a tool bar or one beside a page, which may be the address bar.
func (v *view) typingTarget(ctx context.Context, find func(context.Context, string) (match, error)) (match, error) {
	m, err := v.focused()
	if err == nil {
		return m, nil
	}
	only, failure := find(ctx, onlyField)
	if failure != nil || v.snapshot.Elements[only.index].States.Has(desktop.Protected) || v.isBesideContent(only.index) {
		return match{}, err
	}
	return only, nil
}

// isBesideContent reports whether the field is in a tool bar, or in a program that shows pages and in
// none of them.
func (v *view) isBesideContent(i int) bool {
	for p := v.snapshot.Elements[i].Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
		if v.snapshot.Elements[p].Role == desktop.Toolbar {
			return true
		}
	}
	return v.document(i) < 0 && slices.ContainsFunc(v.snapshot.Elements, func(e desktop.Element) bool { return e.Role == desktop.Document })
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

// browserFrameError returns the error for keys without a target while the browser frame has focus.
func (v *view) browserFrameError(i int) error {
	e := guierr.Failed(aai.NotDelivered, "%s has the keyboard, which is part of the browser and not of its page; nothing was typed", v.name(i))
	aai.AsError(e).Hint = "Give the target element as query: it gets the keyboard first. To type into this one, give its ref."
	return e
}

// wrongFocusError returns the error for keys that would go to another element than the target.
func (l focusCheckedInput) wrongFocusError(rival int) error {
	v, i := l.view, l.target()
	if rival < 0 {
		return guierr.Failed(aai.NotDelivered, "%s does not get the keyboard; nothing was typed", v.name(i))
	}
	e := guierr.Failed(aai.NotDelivered, "%s has the keyboard, and %s does not get it; nothing was typed", v.name(rival), v.name(i))
	aai.AsError(e).Hint = "Close the element with the keyboard, or press escape there by its ref, and call again."
	return e
}

package atspi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// doAction is the AT-SPI method that presses an element.
const doAction = "DoAction"

// scrollAnywhere is ATSPI_SCROLL_ANYWHERE of atspi-constants.h.
const scrollAnywhere = 6

// Execute implements desktop.Actor.
//
// It checks the element first and fails with STALE_REF for a row that shows a different item by now. It
// fails with AUTOMATION_FAILED and delivery not_delivered if the element is hidden or disabled: some
// toolkits then answer "true" and do nothing, and others act unseen by the person. For desktop.SelectItem
// the list around the item must show instead. desktop.ScrollTo requires neither; desktop.RefreshText
// requires a focused field.
func (b *Bus) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	p, r, err := b.element(ctx, app, id)
	if err != nil {
		return err
	}
	n, err := p.readOne(ctx, r)
	if err != nil {
		return markNotDelivered(p.failed(app, err))
	}
	if err := p.same(ctx, n, id, act.Name); err != nil {
		return markNotDelivered(p.failed(app, err))
	}
	a := &actor{p: p, app: app, n: n, allowHang: act.AllowHang}
	defer p.cache.NotifyAction()
	p.cache.NotifyAction()
	switch act.Verb {
	case desktop.Press:
		return a.press(ctx, act)
	case desktop.SetText:
		return a.setText(ctx, act.Text)
	case desktop.InsertText:
		return a.insertText(ctx, act.Text)
	case desktop.SetNumber:
		return a.setNumber(ctx, act.Number)
	case desktop.SelectItem:
		return a.selectItem(ctx, act.AddToSelection)
	case desktop.TakeFocus:
		return a.takeFocus(ctx)
	case desktop.ScrollTo:
		return a.scrollTo(ctx)
	case desktop.RefreshText:
		return a.refreshText(ctx)
	}
	return a.unsupported(fmt.Sprintf("cannot %q; expected press, set_text, insert_text, set_number, select, focus, scroll_to or retell", act.Verb), nil)
}

// markNotDelivered marks an error that occurred before the app received the call.
func markNotDelivered(err error) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}

// An actor operates one element.
type actor struct {
	p   *program
	app desktop.App
	n   *node
	// allowHang permits a press over the bus where no actConn is available.
	allowHang bool
}

// ready returns an error if the element must not be operated now.
func (a *actor) ready(ctx context.Context) error {
	shows, err := a.shows(ctx, a.n)
	if err != nil {
		return err
	}
	if !shows {
		return a.refuse("is not showing", "Bring it into view first: open its window, menu or tab, or scroll to it.")
	}
	if !sensitive(a.n) && !a.n.fixed(a.p.profile()) {
		return a.refuse("is disabled", "The app does not allow it now; find out what it waits for.")
	}
	return nil
}

func (a *actor) refuse(what, hint string) *aai.Error {
	return &aai.Error{Code: aai.AutomationFailed, Message: a.name() + " " + what, Hint: hint, Delivery: aai.NotDelivered}
}

func (a *actor) unsupported(what string, cause error) *aai.Error {
	return &aai.Error{Code: aai.AutomationNotSupported, Message: a.name() + " " + what, Delivery: aai.NotDelivered, Err: cause,
		Hint: "Use another way to do it: another element, the keyboard or the pointer."}
}

// name returns the element's role, its name and its app, for messages.
func (a *actor) name() string {
	a.n.elementRole = a.n.word()
	name := a.n.name
	if known, ok := a.p.cache.Find(a.n.id(a.p.sender)); ok {
		name = firstOf(name, known.Name)
	}
	return fmt.Sprintf("the %s %q of %s", a.n.elementRole, aai.CleanLabel(name, 60), label(a.app))
}

// do makes one call that changes something, and never repeats it. It returns an error if the toolkit
// answers false. A program that ends after it received the call, without an answer, counts as success.
func (a *actor) do(ctx context.Context, q *request, to ref) error {
	conn := a.p.link.conn
	var own *actConn
	if to.sender == a.p.sender {
		var err error
		if own, err = a.p.newActConn(ctx); err != nil {
			return markNotDelivered(a.p.failed(a.app, err))
		}
	}
	switch {
	case own != nil:
		conn = own.conn
		defer func() { time.AfterFunc(opened, func() { a.p.keepOpenIfOpened(own) }) }()
	case q.member == doAction && a.p.profile().listsObjects && !a.allowHang:
		return a.unsupported("belongs to a program that can be reached over the bus alone, where it would hang at the next key if it opened a dialog", nil)
	}
	answer, err := a.call(ctx, conn, q, to)
	if q.member == doAction {
		a.p.pressed.Store(time.Now().UnixNano())
	}
	if err != nil {
		if t, ok := errors.AsType[*wire.TransportError](err); ok && own != nil && errors.Is(err, wire.ErrConnectionLost) && t.Delivery != aai.NotDelivered {
			return nil // the program ended before it answered; the next snapshot shows that
		}
		return a.p.failed(a.app, err)
	}
	if answer == nil {
		return nil // the program is still executing the call
	}
	if answer.Kind == wire.KindError {
		r := replyError(answer)
		if r.silent() {
			return nil
		}
		return a.refused(r)
	}
	if answer.Signature == "b" && !answer.Decoder().Bool() {
		return &aai.Error{Code: aai.AutomationFailed, Message: a.name() + " could not do it, the app says", Delivery: aai.Delivered,
			Hint: "Look at the element again; it may be disabled or gone."}
	}
	return nil
}

// refused converts the app's refusal of a call into the caller's error.
func (a *actor) refused(r *refusal) error {
	if r.noObject() && !a.p.profile().reusesUnknown {
		return stale(a.app, r)
	}
	switch strings.TrimPrefix(r.name, "org.freedesktop.DBus.Error.") {
	case "UnknownMethod", "UnknownInterface", "UnknownObject", "UnknownProperty", "NotSupported", "InvalidArgs", "PropertyReadOnly":
		return a.unsupported("cannot do this", r)
	}
	return a.p.failed(a.app, r)
}

func (a *actor) press(ctx context.Context, act desktop.Act) error {
	action := act.Action
	listed := act.AllowClosedMenu && a.n.word().IsMenuItem()
	if err := a.ready(ctx); err != nil && (!listed || !sensitive(a.n)) {
		return err
	}
	if !a.n.action() {
		return a.unsupported("has no actions", nil)
	}
	if wrong := a.misdirectedPress(ctx, action); wrong != "" {
		return a.unsupported("cannot be pressed by asking: "+wrong, nil)
	}
	if err := a.actions(ctx); err != nil {
		return err
	}
	if a.n.role == roleTableCell && action == "" && len(a.n.actions) > 0 && a.n.actions[0] == toggle && a.p.profile().rowsOfTables {
		return a.unsupported("cannot be pressed by asking: its row would be activated", nil)
	}
	index := slices.Index(a.n.actions, action)
	if best := preferred(a.n.actions); action == "" && len(best) > 0 && actionRank(best[0]) < rankShortcut {
		index = slices.Index(a.n.actions, best[0])
	}
	if index < 0 {
		if action == "" {
			return a.unsupported("cannot be pressed", nil)
		}
		return a.unsupported(fmt.Sprintf("has no action %q", aai.CleanLabel(action, 60)), nil)
	}
	return a.do(ctx, numbers(actionInterface, doAction, "i", "b", int32(index)), a.n.ref)
}

// actions reads the names of the element's actions.
func (a *actor) actions(ctx context.Context) error {
	first, second := &batch{}, &batch{}
	a.p.askActions(first, second, a.n, true)
	err := a.p.run(ctx, first)
	if err == nil {
		err = a.p.run(ctx, second)
	}
	if err != nil {
		return markNotDelivered(a.p.failed(a.app, err))
	}
	return nil
}

func (a *actor) setText(ctx context.Context, text string) error {
	if err := a.ready(ctx); err != nil {
		return err
	}
	if a.p.profile().IsBrowser && a.n.role == roleSpinButton && a.n.offers&offersEditable != 0 || a.isDateTime(ctx) {
		return a.replaceText(ctx, text) // setting a number has no effect while the field is empty
	}
	// Letters would empty a spin button, so it accepts only numbers.
	if a.n.wantsNumber() || a.n.offers&offersEditable == 0 && a.n.offers&offersValue != 0 {
		return a.numberOf(ctx, text)
	}
	return a.replaceText(ctx, text)
}

func (a *actor) replaceText(ctx context.Context, text string) error {
	if err := a.editable(); err != nil {
		return err
	}
	e := wire.Encoder{}
	e.Str(text)
	return a.do(ctx, &request{iface: editableInterface, member: "SetTextContents", signature: "s", body: e.Bytes()}, a.n.ref)
}

// editable returns an error if the element's text cannot be changed.
func (a *actor) editable() error {
	if a.n.offers&offersEditable == 0 || a.p.profile().ignoresText { // Gecko answers yes and sets nothing
		return a.unsupported("does not let its text be set", nil)
	}
	if !a.n.states.has(stateEditable) && !a.n.isDateTime() && !a.n.isEditableLabel() || a.n.states.has(stateReadOnly) {
		return a.refuse("is read-only", "Its text cannot be changed.")
	}
	return nil
}

func (a *actor) insertText(ctx context.Context, text string) error {
	if err := a.ready(ctx); err != nil {
		return err
	}
	if err := a.editable(); err != nil {
		return err
	}
	count, caret, err := a.textState(ctx)
	if err != nil {
		return markNotDelivered(a.p.failed(a.app, err))
	}
	at := caret
	if at < 0 || at > count || !a.n.states.has(stateFocused) {
		at = count // the caret means nothing in an unfocused field; GTK 4 leaves it at the beginning
	}
	e := wire.Encoder{}
	e.I32(int32(at))
	e.Str(text)
	e.I32(int32(a.p.profile().textLength(text)))
	err = a.do(ctx, &request{iface: editableInterface, member: "InsertText", signature: "isi", body: e.Bytes()}, a.n.ref)
	if err != nil {
		return err
	}
	after, _, err := a.textState(ctx)
	if isGone(err) {
		return nil // possibly because of this text; the next snapshot shows that
	}
	if err != nil {
		e := failed(a.app, err)
		e.Delivery = aai.Delivered
		return e
	}
	// The length is in characters, or in UTF-16 units in some toolkits.
	grown := after - count
	if runes := len([]rune(text)); grown != runes && grown != utf16Length(text) {
		return &aai.Error{Code: aai.AutomationFailed, Delivery: aai.Delivered,
			Message: fmt.Sprintf("%s took %d characters of %d", a.name(), grown, runes),
			Hint:    "The field may have a limit or change what is typed. Read it and correct it."}
	}
	return nil
}

// textState reads the length of the element's text and its caret position.
func (a *actor) textState(ctx context.Context) (count, caret int, err error) {
	caret = -1
	r := &batch{}
	r.add(a.p.bus.requests.characterCount, a.n.ref, func(d *wire.Decoder) {
		if n, ok := readNumber(d); ok {
			count = int(n)
		}
	})
	r.add(a.p.bus.requests.caretOffset, a.n.ref, func(d *wire.Decoder) {
		if n, ok := readNumber(d); ok {
			caret = int(n)
		}
	})
	return count, caret, a.p.run(ctx, r)
}

func (a *actor) setNumber(ctx context.Context, number float64) error {
	if err := a.ready(ctx); err != nil {
		return err
	}
	if a.n.offers&offersValue == 0 || a.n.role == roleSpinButton && a.p.profile().omitsPageEvents { // Gecko's page would receive no event
		return a.unsupported("does not let a number be set", nil)
	}
	if a.n.states.has(stateReadOnly) {
		return a.refuse("is read-only", "Its number cannot be changed.")
	}
	return a.number(ctx, number)
}

// number sets the element's number if it is within the bounds.
func (a *actor) number(ctx context.Context, number float64) error {
	r := &batch{}
	a.p.askNumber(r, a.n)
	if err := a.p.run(ctx, r); err != nil {
		return markNotDelivered(a.p.failed(a.app, err))
	}
	if a.n.min < a.n.max && (number < a.n.min || number > a.n.max) {
		e := a.refuse(fmt.Sprintf("takes a number from %v to %v, not %v", a.n.min, a.n.max, number), "Set a number within its bounds.")
		e.Code = aai.InvalidParams
		return e
	}
	if a.inexact(number) {
		return a.unsupported("rounds the number", nil)
	}
	e := wire.Encoder{}
	e.Str(valueInterface)
	e.Str("CurrentValue")
	e.Signature("d")
	e.Double(number)
	return a.do(ctx, &request{iface: propertiesInterface, member: "Set", signature: "ssv", body: e.Bytes()}, a.n.ref)
}

func (a *actor) takeFocus(ctx context.Context) error {
	if err := a.ready(ctx); err != nil {
		return err
	}
	if a.n.offers&offersComponent == 0 {
		return a.unsupported("cannot take the focus", nil)
	}
	return a.do(ctx, method(componentInterface, "GrabFocus", "b"), a.n.ref)
}

//go:build darwin || axdouble

package ax

import (
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// An action is an act on an element that is located.
type action struct {
	*reader
	desktop.Act
	path   []*node
	target *node
}

// execute executes an act, see desktop.Actor.
func (r *reader) execute(id desktop.ID, act desktop.Act) error {
	path, err := r.locate(id)
	defer func() { r.drain(path) }()
	if err != nil {
		return notDelivered(err)
	}
	a := &action{r, act, path, path[len(path)-1]}
	e := &a.target.element
	if err := r.nameAlone(a.target); err != nil {
		return notDelivered(err)
	}
	if act.Name != "" && act.Name != e.Name && e.Role.IsSetMember() {
		return gone()
	}
	if !a.isSupported() {
		return a.unsupported()
	}
	if reason := a.obstacle(); reason != "" {
		return &aai.Error{Code: aai.AutomationFailed, Message: desktop.Describe(e) + " " + reason, Delivery: aai.NotDelivered}
	}
	return a.perform()
}

// notDelivered marks an error of the reads before an act.
func notDelivered(err error) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}

func (a *action) unsupported() error {
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: desktop.Describe(&a.target.element) + " does not support " + aai.CleanLabel(string(a.Verb), 20) + " in the background",
	}
}

// isSupported reports whether the element supports the act when nothing stands in its way.
func (a *action) isSupported() bool {
	e, ref := &a.target.element, a.target.entry.ref
	switch a.Verb {
	case desktop.Press:
		return len(e.Actions) > 0 && (a.Action == "" || slices.Contains(e.Actions, a.Action))
	case desktop.SetText:
		return isField(e.Role) && (e.States.Has(desktop.Protected) || e.States.HasAny(desktop.Editable|desktop.ReadOnly)) || a.target.role == "AXComboBox"
	case desktop.InsertText:
		return isField(e.Role) || a.target.role == "AXComboBox"
	case desktop.SetNumber:
		return hasNumber(e.Role) && (e.States.Has(desktop.Editable) || a.isSettable(ref, "AXValue"))
	case desktop.SelectItem:
		return e.States.Has(desktop.Selectable) || e.Role == desktop.Radio || e.Role == desktop.Option
	case desktop.TakeFocus:
		return a.isSettable(ref, "AXFocused")
	case desktop.ScrollTo:
		return slices.Contains(a.actionsOf(ref), "AXScrollToVisible")
	case desktop.ChooseFile, desktop.RefreshText:
	}
	return false
}

// obstacle returns why the element cannot be operated now, as a clause; "" if it can.
func (a *action) obstacle() string {
	e := &a.target.element
	closed := e.Role.IsMenuItem() && a.AllowClosedMenu
	for _, n := range a.path {
		switch states := n.element.States; {
		case !states.HasAny(desktop.Showing|desktop.Offscreen) && !closed:
			return "does not show"
		case n.element.Role == desktop.Window && !states.Has(desktop.Enabled):
			return "is in a window that waits for the answer to a dialog"
		}
	}
	switch {
	case !e.States.Has(desktop.Enabled):
		return "is disabled"
	case e.States.Has(desktop.ReadOnly) && (a.Verb == desktop.SetText || a.Verb == desktop.InsertText):
		return "is read-only"
	case a.Verb == desktop.SetNumber && e.Min != e.Max && (a.Number < e.Min || a.Number > e.Max):
		return "takes only numbers between its bounds"
	}
	return ""
}

// perform executes the act.
func (a *action) perform() error {
	e, ref := &a.target.element, a.target.entry.ref
	switch a.Verb {
	case desktop.Press:
		name := a.Action
		if name == "" {
			name = e.Actions[0]
		}
		return a.press(name)
	case desktop.SetText:
		return a.setText(a.Text)
	case desktop.InsertText:
		return a.insert()
	case desktop.SetNumber:
		number := a.api.NewNumber(a.Number)
		defer a.api.CFRelease(number)
		return a.set(ref, "AXValue", number)
	case desktop.SelectItem:
		return a.selectItem()
	case desktop.TakeFocus:
		return a.set(ref, "AXFocused", a.api.Bool(true))
	case desktop.ScrollTo:
		return a.do("AXScrollToVisible")
	default:
		return a.unsupported()
	}
}

// actionsOf returns the actions of an element by their names in macOS.
func (r *reader) actionsOf(ref native.Ref) []string {
	var array native.Ref
	if r.api.AXUIElementCopyActionNames(ref, &array) != 0 {
		return nil
	}
	defer r.api.CFRelease(array)
	return r.actionTexts(array)
}

// press performs the action that has our name.
func (a *action) press(name string) error {
	for _, own := range a.actionsOf(a.target.entry.ref) {
		if actionName(own) == name {
			return a.do(own)
		}
	}
	return a.unsupported()
}

// do performs an action of macOS. An action that opens a dialog or a menu returns only when that is closed, so the system reports that
// the app did not answer. If the app answers other requests meanwhile, the action was delivered.
func (a *action) do(name string) error {
	own := a.api.NewText(name)
	if own == 0 {
		return a.unsupported()
	}
	defer a.api.CFRelease(own)
	code := a.api.AXUIElementPerformAction(a.target.entry.ref, own)
	if code == native.ErrCannotComplete && a.answers() {
		return nil
	}
	return a.result(code)
}

// answers reports whether the app answers a request.
func (a *action) answers() bool {
	application := a.api.AXUIElementCreateApplication(int32(a.app.PID))
	defer a.api.CFRelease(application)
	var role native.Ref
	if a.api.AXUIElementCopyAttributeValue(application, a.api.Name("AXRole"), &role) != 0 {
		return false
	}
	if role != 0 {
		a.api.CFRelease(role)
	}
	return true
}

// result returns the error for the result of a request that changes something.
func (a *action) result(code native.AXError) error {
	if code == 0 {
		return nil
	}
	err := *aai.AsError(a.fail(code))
	if code == native.ErrCannotComplete || code == native.ErrFailure {
		err.Delivery = aai.DeliveryUnknown
	} else {
		err.Delivery = aai.NotDelivered
	}
	err.Message = desktop.Describe(&a.target.element) + ": " + err.Message
	return &err
}

// set sets an attribute.
func (a *action) set(ref native.Ref, name string, value native.Ref) error {
	return a.result(a.api.AXUIElementSetAttributeValue(ref, a.api.Name(name), value))
}

// setText replaces the text of a field.
func (a *action) setText(text string) error {
	return a.setString("AXValue", text)
}

func (a *action) setString(name, text string) error {
	value := a.api.NewText(text)
	if value == 0 {
		return &aai.Error{Code: aai.InvalidParams, Message: "the text is no UTF-8", Delivery: aai.NotDelivered}
	}
	defer a.api.CFRelease(value)
	return a.set(a.target.entry.ref, name, value)
}

// insert inserts the text at the caret. Where the app has no caret without the keyboard focus, it appends the text, except to a password,
// which nothing reads.
func (a *action) insert() error {
	ref := a.target.entry.ref
	if a.isSettable(ref, "AXSelectedText") {
		return a.setString("AXSelectedText", a.Text)
	}
	if a.target.element.States.Has(desktop.Protected) {
		return a.unsupported()
	}
	value, code := a.attribute(&a.pool, ref, "AXValue")
	if code != 0 {
		return notDelivered(a.fail(code))
	}
	return a.setText(a.api.TextOf(value, maxValue) + a.Text)
}

// selectItem selects an item. Tabs and radio buttons are pressed, as people do. The selection of a set replaces the old one.
func (a *action) selectItem() error {
	e, ref := &a.target.element, a.target.entry.ref
	if is(e.Role, desktop.Tab, desktop.Radio) {
		return a.press("press")
	}
	if set := a.parent(); set != nil && !a.AddToSelection {
		only := a.api.NewArray(ref)
		defer a.api.CFRelease(only)
		for _, name := range []string{"AXSelectedRows", "AXSelectedChildren"} {
			if a.isSettable(set.entry.ref, name) {
				return a.set(set.entry.ref, name, only)
			}
		}
	}
	if !a.isSettable(ref, "AXSelected") {
		return a.unsupported()
	}
	return a.set(ref, "AXSelected", a.api.Bool(true))
}

// parent returns the node above the target, or nil.
func (a *action) parent() *node {
	if len(a.path) < 2 {
		return nil
	}
	return a.path[len(a.path)-2]
}

package uia

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The indexes of methods of the patterns.
const (
	invokeInvoke       = 3
	valueSetValue      = 3
	rangeSetValue      = 3
	toggleToggle       = 3
	selectionSelect    = 3
	selectionAdd       = 4
	expandExpand       = 3
	expandCollapse     = 4
	scrollItemIntoView = 3
	legacyDoDefault    = 4
	textDocumentRange  = 7
	rangeText          = 12
)

// The ids of patterns.
const (
	invokePattern     = 10000
	valuePattern      = 10002
	rangePattern      = 10003
	expandPattern     = 10005
	selectionPattern  = 10010
	textPattern       = 10014
	togglePattern     = 10015
	scrollItemPattern = 10017
	legacyPattern     = 10018
)

// patternInterface returns the interface of a pattern.
func patternInterface(id int) *windows.GUID {
	return map[int]*windows.GUID{
		invokePattern:     {Data1: 0xfb377fbe, Data2: 0x8ea6, Data3: 0x46d5, Data4: [8]byte{0x9c, 0x73, 0x64, 0x99, 0x64, 0x2d, 0x30, 0x59}},
		valuePattern:      {Data1: 0xa94cd8b1, Data2: 0x0844, Data3: 0x4cd6, Data4: [8]byte{0x9d, 0x2d, 0x64, 0x05, 0x37, 0xab, 0x39, 0xe9}},
		rangePattern:      {Data1: 0x59213f4f, Data2: 0x7346, Data3: 0x49e5, Data4: [8]byte{0xb1, 0x20, 0x80, 0x55, 0x59, 0x87, 0xa1, 0x48}},
		expandPattern:     {Data1: 0x619be086, Data2: 0x1f4e, Data3: 0x4ee4, Data4: [8]byte{0xba, 0xfa, 0x21, 0x01, 0x28, 0x73, 0x87, 0x30}},
		selectionPattern:  {Data1: 0xa8efa66a, Data2: 0x0fda, Data3: 0x421a, Data4: [8]byte{0x91, 0x94, 0x38, 0x02, 0x1f, 0x35, 0x78, 0xea}},
		textPattern:       {Data1: 0x32eba289, Data2: 0x3583, Data3: 0x42c9, Data4: [8]byte{0x9c, 0x59, 0x3b, 0x6d, 0x9a, 0x1e, 0x9b, 0x6a}},
		togglePattern:     {Data1: 0x94cf8058, Data2: 0x9b8d, Data3: 0x4ab9, Data4: [8]byte{0x8b, 0xfd, 0x4c, 0xd0, 0xa3, 0x3c, 0x8c, 0x70}},
		scrollItemPattern: {Data1: 0xb488300f, Data2: 0xd015, Data3: 0x4f19, Data4: [8]byte{0x9c, 0x29, 0xbb, 0x59, 0x5e, 0x36, 0x45, 0xef}},
		legacyPattern:     {Data1: 0x828055ad, Data2: 0x355b, Data3: 0x4435, Data4: [8]byte{0x86, 0xd5, 0x3b, 0x51, 0xc1, 0x4a, 0x9b, 0x1b}},
	}[id]
}

// pattern returns a pattern of an element, or nil. The caller releases it.
func (c *client) pattern(element unsafe.Pointer, id int) unsafe.Pointer {
	unknown := c.object(element, elementCurrentPattern, uintptr(id))
	if unknown == nil {
		return nil
	}
	defer comcall.Release(unknown)
	return comcall.Query(unknown, patternInterface(id))
}

// Execute implements wintree.Source.
func (s *Source) Execute(ctx context.Context, id desktop.ID, act desktop.Act) error {
	o, err := s.open(ctx, id)
	if err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return &e
	}
	defer comcall.Release(o.pointer)
	e := o.properties.element("", 0)
	if act.Name != "" && e.Role.IsSetMember() && act.Name != e.Name {
		return win32.Gone()
	}
	a := &actor{opened: o, ctx: ctx, e: &e}
	return a.execute(act)
}

// An actor operates one element.
type actor struct {
	*opened
	ctx context.Context
	e   *desktop.Element
}

func (a *actor) execute(act desktop.Act) error {
	switch act.Verb {
	case desktop.Press:
		return a.press(act)
	case desktop.SetText:
		return a.setText(act.Text)
	case desktop.InsertText:
		return a.insertText(act.Text)
	case desktop.SetNumber:
		return a.setNumber(act.Number)
	case desktop.SelectItem:
		method := selectionSelect
		if act.AddToSelection {
			method = selectionAdd
		}
		if a.properties.has(propSelected) && !a.setShows() {
			return win32.NotShowing(a.e)
		}
		return a.do(a.properties.has(propSelected), selectionPattern, method)
	case desktop.TakeFocus:
		if !a.e.States.Has(desktop.Focusable) {
			return win32.Unsupported(a.e, "cannot take the focus")
		}
		if err := a.ready(); err != nil {
			return err
		}
		return a.result(comcall.Invoke(a.pointer, elementSetFocus))
	case desktop.ScrollTo:
		return a.do(a.properties.is(propScrollItem), scrollItemPattern, scrollItemIntoView)
	}
	return win32.Unsupported(a.e, fmt.Sprintf("cannot %q; expected press, set_text, insert_text, set_number, select, focus or scroll_to", act.Verb))
}

// ready returns an error if the element must not be operated now.
func (a *actor) ready() error {
	switch {
	case !a.e.States.Has(desktop.Showing):
		return win32.NotShowing(a.e)
	case !a.e.States.Has(desktop.Enabled):
		return win32.Disabled(a.e)
	}
	return nil
}

// setShows reports whether the set around an item shows, or the combo box around that.
func (a *actor) setShows() bool {
	if a.e.States.Has(desktop.Showing) {
		return true
	}
	element := a.pointer
	comcall.Hold(element)
	for range 2 {
		parent := a.object(a.walker, walkerParent, uintptr(element))
		comcall.Release(element)
		if element = parent; element == nil {
			return false
		}
		if offscreen, known := a.property(element, elementCurrentValue, propOffscreen, 0).(bool); known && !offscreen {
			comcall.Release(element)
			return true
		}
	}
	comcall.Release(element)
	return false
}

// deliver calls a method of a pattern without arguments, which may last as long as the dialog that it opens.
func (a *actor) deliver(id, method int) error {
	p := a.pattern(a.pointer, id)
	if p == nil {
		return a.result(notImplemented)
	}
	return a.result(comcall.Deliver(a.ctx, func() uint32 {
		defer comcall.Release(p)
		return comcall.Invoke(p, method)
	}))
}

// do calls a method of a pattern if the element has that.
//
//go:uintptrescapes
func (a *actor) do(has bool, id, method int, args ...uintptr) error {
	if !has {
		return win32.Unsupported(a.e, "does not do this")
	}
	p := a.pattern(a.pointer, id)
	if p == nil {
		return a.result(notImplemented)
	}
	defer comcall.Release(p)
	return a.result(comcall.Invoke(p, method, args...))
}

// result converts the result of an act.
func (a *actor) result(hr uint32) error {
	if !comcall.Failed(hr) {
		return nil
	}
	return actError(a.ctx, a.e, hr)
}

// press executes an action.
func (a *actor) press(act desktop.Act) error {
	action := act.Action
	switch {
	case len(a.e.Actions) == 0:
		return win32.Unsupported(a.e, "cannot be pressed")
	case action == "":
		action = a.e.Actions[0]
	case !slices.Contains(a.e.Actions, action):
		return win32.Unsupported(a.e, fmt.Sprintf("has no action %q", aai.CleanLabel(action, 60)))
	}
	listed := act.AllowClosedMenu && a.e.Role.IsMenuItem() && a.e.States.Has(desktop.Enabled)
	if err := a.ready(); err != nil && !listed {
		return err
	}
	switch action {
	case actionPress:
		return a.deliver(invokePattern, invokeInvoke)
	case actionToggle:
		return a.deliver(togglePattern, toggleToggle)
	case actionSelect:
		return a.deliver(selectionPattern, selectionSelect)
	case actionExpand:
		return a.deliver(expandPattern, expandExpand)
	case actionCollapse:
		return a.deliver(expandPattern, expandCollapse)
	}
	return a.deliver(legacyPattern, legacyDoDefault)
}

// setText sets the value. A number is set as a number, since not all programs accept its text.
func (a *actor) setText(text string) error {
	if a.properties.has(propNumber) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return &aai.Error{Code: aai.InvalidParams, Message: desktop.Describe(a.e) + " takes a number", Delivery: aai.NotDelivered, Hint: "Set a number."}
		}
		return a.setNumber(n)
	}
	if !a.properties.has(propValueReadOnly) {
		return win32.Unsupported(a.e, "does not let its text be set")
	}
	if err := a.ready(); err != nil {
		return err
	}
	if a.properties.is(propValueReadOnly) {
		return win32.ReadOnly(a.e)
	}
	if a.properties.text(propFramework) == "Win32" { // its controls take no other line break
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	value := a.NewString(text)
	defer a.FreeString(value)
	return a.do(true, valuePattern, valueSetValue, uintptr(value))
}

// insertText appends the text to that of a field. In the field with the focus the text belongs to the caret, whose place is not known;
// the keyboard reaches it. Nothing is appended to a password, which is never read.
func (a *actor) insertText(text string) error {
	if !a.properties.has(propValueReadOnly) || a.properties.has(propNumber) || a.e.States.HasAny(desktop.Focused|desktop.Protected) {
		return win32.Unsupported(a.e, "does not let text be inserted")
	}
	before, known := a.property(a.pointer, elementCurrentValue, propValue, math.MaxInt).(string)
	if !known {
		return win32.Unsupported(a.e, "does not let text be inserted, since its text cannot be read")
	}
	return a.setText(plainLines(before) + text)
}

// setNumber sets a number within the bounds. Go passes no floats to functions on ARM, so there the number is set as a text.
func (a *actor) setNumber(number float64) error {
	if !a.properties.has(propNumber) {
		return win32.Unsupported(a.e, "does not let a number be set")
	}
	if err := a.ready(); err != nil {
		return err
	}
	switch least, most := a.properties.float(propMinimum), a.properties.float(propMaximum); {
	case a.properties.is(propNumberReadOnly):
		return win32.ReadOnly(a.e)
	case least < most && (number < least || number > most):
		e := win32.Refuse(a.e, fmt.Sprintf("takes a number from %v to %v, not %v", least, most, number), "Set a number within its bounds.")
		e.Code = aai.InvalidParams
		return e
	case runtime.GOARCH == "arm64":
		value := a.NewString(strconv.FormatFloat(number, 'f', -1, 64))
		defer a.FreeString(value)
		return a.do(a.properties.has(propValueReadOnly), valuePattern, valueSetValue, uintptr(value))
	}
	return a.do(true, rangePattern, rangeSetValue, uintptr(math.Float64bits(number)))
}

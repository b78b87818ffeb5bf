package hwnd

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The codes of notifications to the parent.
const (
	enChange, lbnSelChange, cbnSelChange, cbnSelEndOK = 0x0300, 1, 1, 9
	tbThumbPosition, tbEndTrack, sbThumbPosition      = 4, 8, 4
)

// Execute implements wintree.Source.
func (s *Source) Execute(ctx context.Context, id desktop.ID, act desktop.Act) error {
	r := newReader(ctx, s.inner)
	defer r.close()
	c, e, err := r.find(id)
	if err != nil {
		return err
	}
	a, _ := parse(id)
	if act.Name != "" && act.Name != e.Name && e.Role.IsSetMember() {
		return win32.Gone()
	}
	if !c.supports(&e, a.part, act) {
		return unsupported(&e, act)
	}
	if err := c.ready(&e, a.part, act); err != nil {
		return err
	}
	if a.part == whole {
		return c.execute(&e, act)
	}
	return c.executeItem(a, &e, act)
}

// supports reports whether the element supports the act when it is ready.
func (c *control) supports(e *desktop.Element, p part, act desktop.Act) bool {
	switch act.Verb {
	case desktop.Press:
		return len(e.Actions) > 0 && (act.Action == "" || slices.Contains(e.Actions, act.Action))
	case desktop.SetText:
		return p == whole && (c.kind == edit || c.kind == comboBox && c.field() != nil)
	case desktop.InsertText:
		return p == whole && c.kind == edit
	case desktop.SetNumber:
		return p == whole && (c.kind == trackBar || c.kind == upDown || e.Role == desktop.Spinbutton)
	case desktop.SelectItem:
		return e.States.Has(desktop.Selectable)
	case desktop.TakeFocus:
		return p == whole && e.States.Has(desktop.Focusable)
	case desktop.ScrollTo:
		return p == node || p == item && (c.kind == listBox || c.kind == listView)
	case desktop.ChooseFile, desktop.RefreshText:
	}
	return false
}

// ready fails if the element cannot be operated now.
func (c *control) ready(e *desktop.Element, p part, act desktop.Act) error {
	refuse := func(reason string) error {
		return &aai.Error{Code: aai.AutomationFailed, Message: desktop.Describe(e) + " " + reason, Delivery: aai.NotDelivered}
	}
	closed := p == menuEntry && act.AllowClosedMenu || p == item && c.kind == comboBox && c.IsVisible()
	switch {
	case !e.States.HasAny(desktop.Showing|desktop.Offscreen) && !closed:
		return refuse("does not show")
	case !e.States.Has(desktop.Enabled) || c.style&win32.StyleDisabled != 0:
		return refuse("is disabled")
	case !c.Root().IsEnabled():
		return refuse("is in a window that waits for the answer to a dialog")
	case e.States.Has(desktop.ReadOnly) && (act.Verb == desktop.SetText || act.Verb == desktop.InsertText || act.Verb == desktop.SetNumber):
		return refuse("is read-only")
	case c.style&editNumber != 0 && c.kind == edit && strings.ContainsFunc(act.Text, func(r rune) bool { return !unicode.IsDigit(r) }):
		return refuse("takes only digits")
	}
	return nil
}

// unsupported returns the error for an act that an element does not support.
func unsupported(e *desktop.Element, act desktop.Act) error {
	return &aai.Error{
		Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered,
		Message: desktop.Describe(e) + " does not support " + aai.CleanLabel(string(act.Verb), 20) + " in the background",
	}
}

// execute executes an act on the control itself.
func (c *control) execute(e *desktop.Element, act desktop.Act) error {
	switch act.Verb {
	case desktop.Press:
		return c.Post(bmClick, 0, 0) // a sent click would wait for the dialog that it opens
	case desktop.SetText, desktop.InsertText:
		field := c
		if c.kind == comboBox {
			if field = c.field(); field == nil {
				return unsupported(e, act)
			}
		}
		return field.enter(act)
	case desktop.SetNumber:
		return c.setNumber(e, act.Number)
	case desktop.TakeFocus:
		c.Focus()
	default:
		return unsupported(e, act)
	}
	return nil
}

// enter enters a text as the person would: the field is modified afterwards, the change can be undone, and the parent is notified, which
// WM_SETTEXT would not do for fields of several lines.
func (c *control) enter(act desktop.Act) error {
	text := act.Text
	if c.style&editMultiline != 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	if act.Verb == desktop.SetText {
		all := -1
		if _, err := c.send(emSetSel, 0, uintptr(all)); err != nil {
			return err
		}
	}
	const canUndo = 1
	return c.SendText(c.ctx, emReplaceSel, canUndo, text)
}

// setNumber moves a slider or sets the number of a spin button, and notifies the parent.
func (c *control) setNumber(e *desktop.Element, number float64) error {
	position := int(number)
	if float64(position) != number || number < e.Min || number > e.Max {
		return &aai.Error{Code: aai.AutomationFailed, Message: desktop.Describe(e) + " takes only whole numbers between its bounds", Delivery: aai.NotDelivered}
	}
	if c.kind == trackBar {
		if _, err := c.Deliver(c.ctx, tbmSetPos, 1, uintptr(position)); err != nil {
			return err
		}
		vertical := c.style&trackVertical != 0
		if err := c.scroll(tbThumbPosition, uintptr(uint16(position)), vertical); err != nil {
			return err
		}
		return c.scroll(tbEndTrack, 0, vertical)
	}
	spin := c
	if c.kind == edit {
		if spin = c.spin(); spin == nil {
			return win32.Gone()
		}
	}
	if _, err := spin.Deliver(c.ctx, udmSetPos32, 0, uintptr(position)); err != nil {
		return err
	}
	return spin.scroll(sbThumbPosition, uintptr(uint16(position)), true)
}

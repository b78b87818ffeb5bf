package hwnd

import (
	"strconv"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The messages of single controls.
const (
	bmGetCheck, bmClick                                       = 0x00F0, 0x00F5
	emSetSel, emScrollCaret, emReplaceSel, emGetPasswordChar  = 0x00B1, 0x00B7, 0x00C2, 0x00D2
	tbmGetPos, tbmGetRangeMin, tbmGetRangeMax, tbmSetPos      = 0x0400, 0x0401, 0x0402, 0x0405
	udmGetRange, udmGetBuddy, udmSetPos32, udmGetPos32        = 0x0466, 0x046A, 0x0471, 0x0472
	pbmGetRange, pbmGetPos                                    = 0x0407, 0x0408
	cbGetDroppedState, cbGetCurSel, cbGetCount, cbGetListText = 0x0157, 0x0147, 0x0146, 0x0148
	cbGetListTextLen, cbSetCurSel                             = 0x0149, 0x014E
)

// The styles of controls.
const (
	editMultiline, editPassword, editReadOnly, editNumber = 0x0004, 0x0020, 0x0800, 0x2000
	staticType, staticIcon, staticBitmap, staticOwner     = 0x1F, 0x03, 0x0E, 0x0D
	staticMetafile, staticEtched, staticEtchedFrame       = 0x0F, 0x10, 0x12
	trackVertical, scrollVertical, progressVertical       = 0x0002, 0x0001, 0x0004
)

// describe adds the facts of the kind of control to the element.
func (c *control) describe(e *desktop.Element) error {
	switch c.kind {
	case button:
		return c.describeButton(e)
	case edit:
		return c.describeEdit(e)
	case static:
		c.describeStatic(e)
	case comboBox:
		return c.describeCombo(e)
	case listBox, listView, treeView, tabControl, statusBar, toolBar, header:
		c.describeContainer(e)
	case trackBar, progressBar, upDown, scrollBar:
		c.describeNumber(e)
	case dialog:
		if !c.top {
			e.Role = desktop.Group
		}
	case popupMenu:
		e.Role, e.Name = desktop.Menu, ""
	case tooltip:
		e.Role = desktop.Tooltip
	case unknown, container:
	}
	return nil
}

func (c *control) describeButton(e *desktop.Element) error {
	role, states := buttonRole(c.style)
	e.Role, e.Name = role, plainLabel(e.Name)
	if role == desktop.Group {
		return nil
	}
	e.States |= states | desktop.Focusable
	e.Actions = []string{"press"}
	if !states.Has(desktop.Checkable) {
		return nil
	}
	const checked, mixed = 1, 2
	is, err := c.send(bmGetCheck, 0, 0)
	switch is {
	case checked:
		e.States |= desktop.Checked
	case mixed:
		e.States |= desktop.Mixed
	}
	return err
}

// describeEdit describes a field. Its text is read only after the answer that it is no password field.
func (c *control) describeEdit(e *desktop.Element) error {
	e.Role, e.Name = desktop.Textbox, c.label()
	e.States |= desktop.Focusable
	if c.style&editMultiline != 0 {
		e.States |= desktop.Multiline
	}
	if c.style&editReadOnly != 0 {
		e.States |= desktop.ReadOnly
	} else {
		e.States |= desktop.Editable
	}
	char, err := c.send(emGetPasswordChar, 0, 0)
	if err != nil {
		return err
	}
	if char != 0 || c.style&editPassword != 0 {
		e.States |= desktop.Protected
		return nil
	}
	if spin := c.spin(); spin != nil {
		e.Role = desktop.Spinbutton
		bounds := uint32(spin.value(udmGetRange))
		e.Min, e.Max = bounds16(bounds)
	}
	if e.States.Has(desktop.Showing) {
		e.Value, err = c.text()
	}
	return err
}

// bounds16 returns the bounds in the answer to UDM_GETRANGE: the upper one is in the low word. A control may count downwards.
func bounds16(bounds uint32) (low, high float64) {
	a, b := float64(int16(bounds>>16)), float64(int16(bounds))
	return min(a, b), max(a, b)
}

// text reads the control's text, cut for a snapshot.
func (c *control) text() (string, error) {
	if c.complete {
		return c.Text(c.ctx)
	}
	const getText = 0x000D
	text, err := c.GetText(c.ctx, getText, desktop.MaxValue+1, desktop.MaxValue)
	return c.cut(text), err
}

// spin returns the arrows of the spin button with this field, or nil.
func (c *control) spin() *control {
	for w := c.Sibling(false); w != 0; w = w.Sibling(false) {
		if kindOf(w.Class()) == upDown {
			if spin, err := c.control(w); err == nil && spin.value(udmGetBuddy) == int(int32(c.Window)) {
				return spin
			}
		}
	}
	return nil
}

func (c *control) describeStatic(e *desktop.Element) {
	e.Role, e.Name = desktop.Text, plainLabel(e.Name)
	switch t := c.style & staticType; {
	case t == staticIcon || t == staticBitmap || t == staticMetafile:
		e.Role, e.Name = desktop.Image, ""
	case t >= staticEtched && t <= staticEtchedFrame:
		e.Role = desktop.Separator
	case e.Name == "":
		e.Role = desktop.Generic
	}
}

// describeCombo describes a combo box. That inside a ComboBoxEx32 has a field although its style says that it has none.
func (c *control) describeCombo(e *desktop.Element) error {
	e.Role, e.Name = desktop.Combobox, c.label()
	e.States |= desktop.Focusable | desktop.Expandable | desktop.HasPopup
	if c.value(cbGetDroppedState) != 0 {
		e.States |= desktop.Expanded
	}
	text := c
	if field := c.field(); field != nil {
		text = field
		if e.States |= desktop.Editable; c.focus() == field.Window {
			e.States |= desktop.Focused
		}
	}
	var err error
	if e.States.Has(desktop.Showing) {
		e.Value, err = text.text()
	}
	return err
}

// field returns the field of an editable combo box, or nil.
func (c *control) field() *control {
	for _, w := range c.Children() {
		if child, err := c.control(w); err == nil && child.kind == edit {
			return child
		}
	}
	return nil
}

func (c *control) describeContainer(e *desktop.Element) {
	e.Name = c.label()
	e.States |= desktop.Focusable
	const listMultiple, listExtended, viewReport, viewSingle, viewType = 0x0008, 0x0800, 1, 0x0004, 3
	switch c.kind {
	case listBox:
		e.Role = desktop.Listbox
		if c.style&(listMultiple|listExtended) != 0 {
			e.States |= desktop.Multiselectable
		}
	case listView:
		if e.Role = desktop.Listbox; c.style&viewType == viewReport {
			e.Role = desktop.Table
		}
		if c.style&viewSingle == 0 {
			e.States |= desktop.Multiselectable
		}
	case treeView:
		e.Role = desktop.TreeView
	case tabControl:
		e.Role, e.Name = desktop.Tablist, ""
	case statusBar:
		e.Role, e.States = desktop.Status, e.States&^desktop.Focusable
		e.Name, _ = c.Text(c.ctx)
	case toolBar:
		e.Role, e.Name, e.States = desktop.Toolbar, "", e.States&^desktop.Focusable
	case header:
		e.Role, e.Name, e.States = desktop.Row, "", e.States&^desktop.Focusable
	default:
	}
}

func (c *control) describeNumber(e *desktop.Element) {
	e.Name = c.label()
	vertical := uint32(0)
	switch c.kind {
	case trackBar:
		e.Role, vertical = desktop.Slider, trackVertical
		e.States |= desktop.Focusable | desktop.Editable
		e.Min, e.Max = float64(c.value(tbmGetRangeMin)), float64(c.value(tbmGetRangeMax))
		e.Value = strconv.Itoa(c.value(tbmGetPos))
	case progressBar:
		e.Role, vertical = desktop.Progressbar, progressVertical
		low, _ := c.send(pbmGetRange, 1, 0)
		e.Min, e.Max = float64(low), float64(c.value(pbmGetRange))
		e.Value = strconv.Itoa(c.value(pbmGetPos))
	case upDown:
		e.Role = desktop.Spinbutton
		e.Min, e.Max = bounds16(uint32(c.value(udmGetRange)))
		e.Value = strconv.Itoa(c.value(udmGetPos32))
	default:
		e.Role, vertical = desktop.Scrollbar, scrollVertical
		e.Name = ""
	}
	if c.style&vertical != 0 {
		e.States |= desktop.Vertical
	}
	if !e.States.Has(desktop.Showing) {
		e.Value = ""
	}
	if e.Min > e.Max {
		e.Min, e.Max = e.Max, e.Min
	}
}

// notify posts a notification of the control to its parent, as a message WM_COMMAND.
func (c *control) notify(code uintptr) error {
	const command = 0x0111
	return c.Parent().Post(command, uintptr(c.ControlID())|code<<16, uintptr(c.Window))
}

// scroll posts a message of a slider or of arrows to the parent.
func (c *control) scroll(code, position uintptr, vertical bool) error {
	message := uint32(0x0114) // WM_HSCROLL
	if vertical {
		message++
	}
	return win32.Window(c.Parent()).Post(message, code|position<<16, uintptr(c.Window))
}

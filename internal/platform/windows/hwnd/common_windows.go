package hwnd

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The messages of tab controls, tool bars, status bars and headings.
const (
	tcmGetItemCount, tcmGetItemRect, tcmGetCurSel, tcmSetCurFocus, tcmGetItem     = 0x1304, 0x130A, 0x130B, 0x1330, 0x133C
	tbButtonCount, tbGetButton, tbGetItemRect, tbGetButtonText                    = 0x0418, 0x0417, 0x041D, 0x044B
	sbGetParts, sbGetRect, sbGetText                                              = 0x0406, 0x040A, 0x040D
	hdmGetItemCount, hdmGetItemRect, hdmGetItem                                   = 0x1200, 0x1207, 0x120B
	tbStateChecked, tbStateEnabled, tbStateHidden, tbStyleSeparator, tbStyleCheck = 0x01, 0x04, 0x08, 0x01, 0x02
)

// A remote is a control with messages that need memory in its program.
type remote struct {
	*control
	memory *win32.Memory
}

// rect asks for a rectangle of the control's content, on the screen. start is the value of its left side that the message expects.
func (r remote) rect(message uint32, wParam uintptr, start int32) (desktop.Rect, error) {
	rect := windows.Rect{Left: start}
	result, err := r.memory.Ask(r.ctx, r.Window, message, wParam, unsafe.Pointer(&rect), unsafe.Sizeof(rect))
	if err != nil || result == 0 {
		return desktop.Rect{}, err
	}
	return r.ToScreen(rect), nil
}

// tabs are the tabs of a tab control.
type tabs remote

func (t tabs) count() (int, error) { return t.send(tcmGetItemCount, 0, 0) }
func (t tabs) first() (int, error) { return 0, nil }

func (t tabs) read(index int) (desktop.Element, error) {
	e := desktop.Element{Role: desktop.Tab, States: desktop.Selectable | desktop.Enabled}
	info := struct { // TCITEMW
		mask, state, stateMask uint32
		text                   uintptr
		length, image          int32
		data                   uintptr
	}{mask: 1, text: t.memory.TextAddress(), length: win32.MemoryText}
	result, err := t.memory.Ask(t.ctx, t.Window, tcmGetItem, uintptr(index), unsafe.Pointer(&info), unsafe.Sizeof(info))
	if err != nil {
		return e, err
	}
	if result == 0 {
		return e, win32.Gone()
	}
	if e.Name, err = t.memory.Text(info.text); err != nil {
		return e, err
	}
	e.Name = plainLabel(e.Name)
	if t.value(tcmGetCurSel) == index {
		e.States |= desktop.Selected
	}
	e.Frame, err = remote(t).rect(tcmGetItemRect, uintptr(index), 0)
	return e, err
}

// tools are the buttons of a tool bar.
type tools remote

func (t tools) count() (int, error) { return t.send(tbButtonCount, 0, 0) }
func (t tools) first() (int, error) { return 0, nil }

// A tool is a button of a tool bar (TBBUTTON).
type tool struct {
	bitmap, command int32
	state, style    byte
	_               [6]byte
	data, text      uintptr
}

// tool reads a button.
func (t tools) tool(index int) (tool, error) {
	var b tool
	result, err := t.memory.Ask(t.ctx, t.Window, tbGetButton, uintptr(index), unsafe.Pointer(&b), unsafe.Sizeof(b))
	if err == nil && result == 0 {
		err = win32.Gone()
	}
	return b, err
}

func (t tools) read(index int) (desktop.Element, error) {
	b, err := t.tool(index)
	e := desktop.Element{Role: desktop.Button}
	if err != nil {
		return e, err
	}
	if b.style&tbStyleSeparator != 0 {
		e.Role = desktop.Separator
	} else {
		e.Actions = []string{"press"}
		if e.Name, err = t.memory.AskText(t.ctx, t.Window, tbGetButtonText, uintptr(b.command)); err != nil {
			return e, err
		}
		e.Name = plainLabel(e.Name)
	}
	if b.style&tbStyleCheck != 0 {
		e.States |= desktop.Checkable
	}
	if b.state&tbStateChecked != 0 {
		e.States |= desktop.Checked
	}
	if b.state&tbStateEnabled != 0 {
		e.States |= desktop.Enabled
	}
	if b.state&tbStateHidden == 0 {
		e.Frame, err = remote(t).rect(tbGetItemRect, uintptr(index), 0)
	}
	return e, err
}

// parts are the parts of a status bar.
type parts remote

func (p parts) count() (int, error) {
	n, err := p.send(sbGetParts, 0, 0)
	if n == 1 {
		return 0, err // the text of the bar is its name
	}
	return n, err
}
func (p parts) first() (int, error) { return 0, nil }

func (p parts) read(index int) (desktop.Element, error) {
	e := desktop.Element{Role: desktop.Text, States: desktop.Enabled}
	var err error
	if e.Name, err = p.memory.AskText(p.ctx, p.Window, sbGetText, uintptr(index)); err != nil {
		return e, err
	}
	e.Frame, err = remote(p).rect(sbGetRect, uintptr(index), 0)
	return e, err
}

// headings are the headings of the columns of a list view.
type headings remote

func (h headings) count() (int, error) { return h.send(hdmGetItemCount, 0, 0) }
func (h headings) first() (int, error) { return 0, nil }

func (h headings) read(index int) (desktop.Element, error) {
	e := desktop.Element{Role: desktop.ColumnHeader, States: desktop.Enabled}
	info := struct { // HDITEMW
		mask         uint32
		width        int32
		text, bitmap uintptr
		length       int32
		format       int32
		data         uintptr
		image, order int32
		kind         uint32
		filter       uintptr
		state        uint32
	}{mask: 2, text: h.memory.TextAddress(), length: win32.MemoryText}
	result, err := h.memory.Ask(h.ctx, h.Window, hdmGetItem, uintptr(index), unsafe.Pointer(&info), unsafe.Sizeof(info))
	if err != nil {
		return e, err
	}
	if result == 0 {
		return e, win32.Gone()
	}
	if e.Name, err = h.memory.Text(info.text); err != nil {
		return e, err
	}
	e.Frame, err = remote(h).rect(hdmGetItemRect, uintptr(index), 0)
	return e, err
}

package hwnd

import (
	"context"
	"errors"
	"strconv"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
)

// A reader reads windows during one call.
type reader struct {
	ctx      context.Context //nolint:containedctx // the reader lives as long as the call
	inner    wintree.Source
	elements []desktop.Element
	complete bool // values are not cut
	memories map[uint32]*win32.Memory
	narrow   map[uint32]bool         // processes without usable memory
	focused  map[uint32]win32.Window // by thread
}

func newReader(ctx context.Context, inner wintree.Source) *reader {
	return &reader{ctx: ctx, inner: inner, memories: make(map[uint32]*win32.Memory), narrow: make(map[uint32]bool), focused: make(map[uint32]win32.Window)}
}

// close frees the memory in other programs.
func (r *reader) close() {
	for _, m := range r.memories {
		m.Close()
	}
}

// memory returns memory in a process; nil if there is none, since the process has 32 bits or forbids it.
func (r *reader) memory(pid uint32) *win32.Memory {
	if r.memories[pid] == nil && !r.narrow[pid] {
		m, err := win32.OpenMemory(pid)
		if err != nil {
			r.narrow[pid] = true
			return nil
		}
		r.memories[pid] = m
	}
	return r.memories[pid]
}

// A control is a window with the facts about it.
type control struct {
	*reader
	win32.Window
	address
	pid       uint32
	kind      kind
	style, ex uint32
	top       bool
}

// control returns the facts about a window; STALE_REF if it is gone.
func (r *reader) control(w win32.Window) (*control, error) {
	pid, thread := w.Process()
	if thread == 0 {
		return nil, win32.Gone()
	}
	c := &control{reader: r, Window: w, address: address{window: uint64(w), thread: uint64(thread)}, pid: pid, kind: kindOf(w.Class())}
	c.style, c.ex = w.Style()
	c.top = c.style&win32.StyleChild == 0 || w.Root() == w
	return c, nil
}

// send sends a message and returns the result as a number.
func (c *control) send(message uint32, wParam, lParam uintptr) (int, error) {
	result, err := c.Send(c.ctx, message, wParam, lParam)
	return int(int32(result)), err
}

// value sends a message without arguments; 0 if that fails.
func (c *control) value(message uint32) int {
	n, _ := c.send(message, 0, 0)
	return n
}

// read appends the element of the window and its content.
func (c *control) read(parent int) error {
	var inside []desktop.Element
	if c.kind == unknown && c.inner != nil && len(c.Children()) == 0 {
		inside, _ = c.inner.Read(c.ctx, c.Window) // without it the window is still an element
	}
	if len(inside) > 0 && !c.top {
		c.graft(inside, parent)
		return nil
	}
	e, err := c.element()
	if err != nil {
		return err
	}
	index := c.append(e, parent)
	if c.top {
		c.readMenu(index)
		c.graftContent(inside, index)
	}
	switch set := c.set(); {
	case c.kind == treeView:
		if err := c.readNodes(index); err != nil {
			return err
		}
	case set != nil:
		if err := c.readItems(set, index); err != nil {
			return err
		}
	}
	if c.kind == comboBox { // its field and its list are parts of it
		return nil
	}
	for _, w := range c.Children() {
		child, err := c.control(w)
		if err == nil && !child.isPartOfOther() {
			err = child.read(index)
		}
		if err != nil && !isGone(err) {
			return err
		}
	}
	return nil
}

// append appends an element and returns its index.
func (r *reader) append(e desktop.Element, parent int) int {
	e.Parent = parent
	r.elements = append(r.elements, e)
	return len(r.elements) - 1
}

// graft appends the elements of another source.
func (r *reader) graft(elements []desktop.Element, parent int) {
	offset := len(r.elements)
	for _, e := range elements {
		if e.Parent < 0 {
			r.append(e, parent)
		} else {
			r.append(e, e.Parent+offset)
		}
	}
}

// graftContent appends the elements inside a top-level window, whose own element stays the one of this package.
func (r *reader) graftContent(elements []desktop.Element, window int) {
	offset := len(r.elements) - 1
	for i, e := range elements {
		switch {
		case i == 0:
		case e.Parent == 0:
			r.append(e, window)
		default:
			r.append(e, e.Parent+offset)
		}
	}
}

// isPartOfOther reports whether the element of another window stands for this one: the arrows of a spin button.
func (c *control) isPartOfOther() bool { return c.kind == upDown && c.value(udmGetBuddy) != 0 }

// element reads the window's own element.
func (c *control) element() (desktop.Element, error) {
	e := desktop.Element{ID: c.address.id(), Role: desktop.Generic, Name: win32.Plain(c.Title())}
	if !c.Exists() {
		return e, win32.Gone()
	}
	if c.IsVisible() {
		e.States |= desktop.Showing
		if !c.Root().IsMinimized() {
			e.Frame = c.Frame()
		}
	}
	if c.style&win32.StyleDisabled == 0 {
		e.States |= desktop.Enabled
	}
	if c.focus() == c.Window {
		e.States |= desktop.Focused
	}
	if c.top {
		c.describeTop(&e)
	} else if id := c.ControlID(); id != 0 && id != 0xFFFF {
		e.Identifier = strconv.Itoa(int(id))
	}
	return e, c.describe(&e)
}

// focus returns the window with the keyboard focus of the control's thread.
func (c *control) focus() win32.Window {
	thread := uint32(c.thread)
	if _, known := c.focused[thread]; !known {
		c.focused[thread] = c.Focused()
	}
	return c.focused[thread]
}

// describeTop describes a top-level window.
func (c *control) describeTop(e *desktop.Element) {
	e.Role = desktop.Window
	owner := c.Owner()
	if e.States |= desktop.Enabled; owner != 0 && !owner.IsEnabled() && c.style&win32.StyleDisabled == 0 {
		e.States |= desktop.Modal
	}
	const dialogFrame = 0x00000001 // WS_EX_DLGMODALFRAME
	if e.States.Has(desktop.Modal) || c.kind == dialog || owner != 0 && c.ex&dialogFrame != 0 {
		e.Role = desktop.Dialog
	}
	if win32.Foreground() == c.Window {
		e.States |= desktop.Active
	}
}

// maxLabel is the maximum length of a label; a longer text explains more than one control.
const maxLabel = 80

// label returns the text of the static control before this one, which names it. A control that fills another window, such as that of
// the class ComboBoxEx32, has the label of that.
func (c *control) label() string {
	w := c.Window
	if c.Sibling(true) == 0 && kindOf(c.Parent().Class()) == container {
		w = c.Parent()
	}
	for before := w.Sibling(true); before != 0; before = before.Sibling(true) {
		switch kindOf(before.Class()) {
		case upDown:
			continue
		case static:
			if text := fieldName(win32.Plain(before.Title())); len(text) <= maxLabel {
				return text
			}
		default:
		}
		return ""
	}
	return ""
}

// cut cuts a value to the length of those in snapshots.
func (r *reader) cut(text string) string {
	if r.complete || len(text) <= desktop.MaxValue {
		return text
	}
	end := desktop.MaxValue
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end]
}

// isGone reports whether the error says that a window is gone.
func isGone(err error) bool {
	var e interface{ Error() string }
	return errors.As(err, &e) && e.Error() == win32.Gone().Error()
}

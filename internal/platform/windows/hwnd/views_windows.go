package hwnd

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The messages of list views and tree views.
const (
	lvmGetItemCount, lvmGetItemRect, lvmEnsureVisible, lvmGetHeader = 0x1004, 0x100E, 0x1013, 0x101F
	lvmGetTopIndex, lvmSetItemState, lvmGetItemState                = 0x1027, 0x102B, 0x102C
	lvmGetExtendedStyle, lvmGetSubItemRect, lvmGetItemText          = 0x1037, 0x1038, 0x1073
	tvmExpand, tvmGetItemRect, tvmGetNextItem, tvmSelectItem        = 0x1102, 0x1104, 0x110A, 0x110B
	tvmEnsureVisible, tvmGetItem                                    = 0x1114, 0x113E

	lvisFocused, lvisSelected, lvisImage = 0x0001, 0x0002, 0xF000
	viewCheckBoxes                       = 0x0004 // LVS_EX_CHECKBOXES
	tvisSelected, tvisExpanded           = 0x0002, 0x0020
	tvgnRoot, tvgnNext, tvgnChild        = 0, 1, 4
	tvgnCaret                            = 9
)

// rows are the items of a list view.
type rows remote

// An lvItem is the structure LVITEMW.
type lvItem struct {
	mask             uint32
	item, sub        int32
	state, stateMask uint32
	text             uintptr
	length, image    int32
	data             uintptr
	indent, group    int32
	columns          uint32
	columnList       uintptr
	format           uintptr
	groupIndex       int32
}

func (r rows) count() (int, error) { return r.send(lvmGetItemCount, 0, 0) }
func (r rows) first() (int, error) { return r.send(lvmGetTopIndex, 0, 0) }

// text reads the text of a cell.
func (r rows) text(row, column int) (string, error) {
	info := lvItem{sub: int32(column), text: r.memory.TextAddress(), length: win32.MemoryText}
	n, err := r.memory.Ask(r.ctx, r.Window, lvmGetItemText, uintptr(row), unsafe.Pointer(&info), unsafe.Sizeof(info))
	if err != nil || int32(n) <= 0 {
		return "", err
	}
	return r.memory.Text(info.text)
}

func (r rows) read(index int) (desktop.Element, error) {
	e := desktop.Element{Role: desktop.Option, States: desktop.Selectable | desktop.Enabled}
	if r.isReport() {
		e.Role = desktop.Row
	}
	var err error
	if e.Name, err = r.text(index, 0); err != nil {
		return e, err
	}
	state, err := r.send(lvmGetItemState, uintptr(index), lvisFocused|lvisSelected|lvisImage)
	if err != nil {
		return e, err
	}
	if state&lvisSelected != 0 {
		e.States |= desktop.Selected
	}
	if r.value(lvmGetExtendedStyle)&viewCheckBoxes != 0 {
		e.States |= desktop.Checkable
		e.Actions = []string{"toggle"}
		if state>>12 == 2 { // the image of a checked box
			e.States |= desktop.Checked
		}
	}
	e.Frame, err = remote(r).rect(lvmGetItemRect, uintptr(index), 0) // LVIR_BOUNDS
	return e, err
}

// isReport reports whether a list view shows columns.
func (c *control) isReport() bool { return c.kind == listView && c.style&3 == 1 }

// cells returns the cells of a row of a list view with columns.
func (c *control) cells(row *desktop.Element, index int) ([]desktop.Element, error) {
	view, ok := c.set().(rows)
	if !ok || !c.isReport() {
		return nil, nil
	}
	columns, err := win32.Window(c.value(lvmGetHeader)).Send(c.ctx, hdmGetItemCount, 0, 0)
	if err != nil || int32(columns) <= 1 {
		return nil, nil //nolint:nilerr // a view without headings has no columns
	}
	cells := make([]desktop.Element, min(int(columns), 50))
	for i := range cells {
		e := desktop.Element{ID: c.at(cell, row.Name, uint64(index), uint64(i)).id(), Role: desktop.Cell, Name: row.Name, States: desktop.Enabled}
		if i > 0 {
			if e.Name, err = view.text(index, i); err != nil {
				return nil, err
			}
		}
		if e.Frame, err = view.cellFrame(index, i); err != nil {
			return nil, err
		}
		c.place(&e, true)
		cells[i] = e
	}
	return cells, nil
}

// cellFrame returns the rectangle of a cell.
func (r rows) cellFrame(row, column int) (desktop.Rect, error) {
	if column == 0 {
		return remote(r).rect(lvmGetItemRect, uintptr(row), 2) // LVIR_LABEL: as a cell it is the whole row
	}
	rect := [4]int32{0, int32(column)} // its top is the column
	result, err := r.memory.Ask(r.ctx, r.Window, lvmGetSubItemRect, uintptr(row), unsafe.Pointer(&rect), unsafe.Sizeof(rect))
	if err != nil || result == 0 {
		return desktop.Rect{}, err
	}
	return r.ToScreen(rectangle(rect)), nil
}

// readNodes appends the items of a tree view: those below expanded ones, up to maxNodes.
func (c *control) readNodes(parent int) error {
	if c.reader.memory(c.pid) == nil {
		return nil
	}
	left := maxNodes
	return c.readNode(tvgnRoot, 0, parent, &left)
}

// maxNodes is the maximum number of items of a tree view in a snapshot.
const maxNodes = 1000

// readNode appends the first of some items that are siblings, and the others.
func (c *control) readNode(which, of uintptr, parent int, left *int) error {
	next, err := c.Send(c.ctx, tvmGetNextItem, which, of)
	for ; err == nil && next != 0 && *left > 0; next, err = c.Send(c.ctx, tvmGetNextItem, tvgnNext, next) {
		*left--
		e, err := c.node(next)
		if err != nil {
			return err
		}
		index := c.append(e, parent)
		if e.States.Has(desktop.Expanded) {
			if err := c.readNode(tvgnChild, next, index, left); err != nil {
				return err
			}
		}
	}
	return err
}

// node reads an item of a tree view.
func (c *control) node(handle uintptr) (desktop.Element, error) {
	e := desktop.Element{Role: desktop.TreeItem, States: desktop.Selectable | desktop.Enabled}
	m := c.reader.memory(c.pid)
	if m == nil || c.kind != treeView {
		return e, win32.Gone()
	}
	info := struct { // TVITEMW
		mask                              uint32
		item                              uintptr
		state, stateMask                  uint32
		text                              uintptr
		length, image, selected, children int32
		data                              uintptr
	}{mask: 0x01 | 0x08 | 0x10 | 0x40, item: handle, stateMask: 0xFFFF, text: m.TextAddress(), length: win32.MemoryText} // text, state, handle, children
	result, err := m.Ask(c.ctx, c.Window, tvmGetItem, 0, unsafe.Pointer(&info), unsafe.Sizeof(info))
	if err != nil {
		return e, err
	}
	if result == 0 {
		return e, win32.Gone()
	}
	if e.Name, err = m.Text(info.text); err != nil {
		return e, err
	}
	e.ID = c.at(node, e.Name, uint64(handle)).id()
	if info.state&tvisSelected != 0 {
		e.States |= desktop.Selected
	}
	if info.children != 0 {
		e.States |= desktop.Expandable
		e.Actions = []string{"expand or contract"}
		if info.state&tvisExpanded != 0 {
			e.States |= desktop.Expanded
		}
	}
	rect := [4]int32{int32(uint32(handle)), int32(uint32(handle >> 32))} // the handle stands where the rectangle will
	shown, err := m.Ask(c.ctx, c.Window, tvmGetItemRect, 0, unsafe.Pointer(&rect), unsafe.Sizeof(rect))
	if err == nil && shown != 0 {
		e.Frame = c.ToScreen(rectangle(rect))
	}
	c.place(&e, true)
	return e, err
}

// rectangle returns the rectangle of the numbers in the system's structure.
func rectangle(r [4]int32) windows.Rect {
	return windows.Rect{Left: r[0], Top: r[1], Right: r[2], Bottom: r[3]}
}

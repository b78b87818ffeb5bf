package hwnd

import (
	"unsafe"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// executeItem executes an act on an item of the control.
func (c *control) executeItem(a address, e *desktop.Element, act desktop.Act) error {
	index := uintptr(a.path[0])
	switch {
	case a.part == menuEntry:
		return c.choose(a.path, e, act)
	case a.part == node:
		return c.executeNode(index, e, act)
	case act.Verb == desktop.ScrollTo && c.kind == listBox:
		_, err := c.Deliver(c.ctx, lbSetTopIndex, index, 0)
		return err
	case act.Verb == desktop.ScrollTo:
		_, err := c.Deliver(c.ctx, lvmEnsureVisible, index, 0)
		return err
	case act.Verb == desktop.SelectItem:
		return c.selectItem(index, act.AddToSelection)
	}
	switch set := c.set().(type) {
	case tools:
		b, err := set.tool(int(index))
		if err != nil {
			return err
		}
		const command = 0x0111
		return c.Parent().Post(command, uintptr(uint32(b.command)&0xFFFF), uintptr(c.Window))
	case rows:
		const unchecked, checked = 1 << 12, 2 << 12
		image := uint32(checked)
		if e.States.Has(desktop.Checked) {
			image = unchecked
		}
		return set.setState(index, image, lvisImage)
	}
	return unsupported(e, act)
}

// selectItem selects an item of a set and notifies the parent where the control does not.
func (c *control) selectItem(index uintptr, add bool) error {
	switch c.kind {
	case listBox:
		const multiple = 0x0808 // LBS_MULTIPLESEL, LBS_EXTENDEDSEL
		if c.style&multiple != 0 {
			if !add {
				if _, err := c.Deliver(c.ctx, lbSetSel, 0, ^uintptr(0)); err != nil {
					return err
				}
			}
			if _, err := c.Deliver(c.ctx, lbSetSel, 1, index); err != nil {
				return err
			}
		} else if _, err := c.Deliver(c.ctx, lbSetCurSel, index, 0); err != nil {
			return err
		}
		return c.notify(lbnSelChange)
	case comboBox:
		if _, err := c.Deliver(c.ctx, cbSetCurSel, index, 0); err != nil {
			return err
		}
		if err := c.notify(cbnSelEndOK); err != nil {
			return err
		}
		return c.notify(cbnSelChange)
	case tabControl:
		return c.Post(tcmSetCurFocus, index, 0) // the control notifies the parent
	case listView:
		view, ok := c.set().(rows)
		if !ok {
			return win32.Gone()
		}
		if !add {
			if err := view.setState(^uintptr(0), 0, lvisSelected); err != nil {
				return err
			}
		}
		return view.setState(index, lvisSelected|lvisFocused, lvisSelected|lvisFocused)
	default:
		return win32.Gone()
	}
}

// setState sets states of an item of a list view, or of all for the index -1. The control notifies the parent.
func (r rows) setState(index uintptr, state, mask uint32) error {
	info := lvItem{state: state, stateMask: mask}
	_, err := r.memory.Ask(r.ctx, r.Window, lvmSetItemState, index, unsafe.Pointer(&info), unsafe.Sizeof(info))
	return err
}

// executeNode executes an act on an item of a tree view. The control notifies the parent.
func (c *control) executeNode(handle uintptr, e *desktop.Element, act desktop.Act) error {
	const collapse, expand = 1, 2
	switch act.Verb {
	case desktop.SelectItem:
		return c.Post(tvmSelectItem, tvgnCaret, handle)
	case desktop.ScrollTo:
		return c.Post(tvmEnsureVisible, 0, handle)
	case desktop.Press:
		if e.States.Has(desktop.Expanded) {
			return c.Post(tvmExpand, collapse, handle)
		}
		return c.Post(tvmExpand, expand, handle)
	default:
		return unsupported(e, act)
	}
}

// choose chooses an item of the menu bar's menus in the background: the program gets the command as if the person had chosen it. An open
// menu without a bar may belong to a call that returns the command to its caller, so its items are left to the pointer.
func (c *control) choose(path []uint64, e *desktop.Element, act desktop.Act) error {
	if c.kind == popupMenu {
		return unsupported(e, act)
	}
	const initMenuPopup, command = 0x0117, 0x0111
	if len(path) > 1 { // the program brings the menu up to date when it opens
		_, menu, _ := c.entryAt(path)
		if _, err := c.Deliver(c.ctx, initMenuPopup, uintptr(menu), uintptr(path[len(path)-2])); err != nil {
			return err
		}
	}
	entry, _, ok := c.entryAt(path)
	now, _ := c.menuItem(path)
	switch {
	case !ok || now.Name != e.Name || entry.Sub != 0:
		return win32.Gone()
	case entry.Grayed:
		return c.ready(&now, menuEntry, act)
	}
	return c.Post(command, uintptr(entry.ID), 0)
}

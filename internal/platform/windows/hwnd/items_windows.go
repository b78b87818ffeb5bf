package hwnd

import (
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Limits of the items of one control that a snapshot contains.
const (
	maxItems  = 300 // a control with more
	maxSample = 100 // shows its first items in view
)

// A set is the items of a control, by index.
type set interface {
	count() (int, error)
	// first returns the index of the first item in view.
	first() (int, error)
	// read reads an item: its role, name, and states without those of the control. Its frame is where it would be if it were in view.
	read(index int) (desktop.Element, error)
}

// set returns the items of the control, or nil if it has none or they cannot be read.
func (c *control) set() set {
	switch c.kind {
	case listBox:
		return listItems{c}
	case comboBox:
		return options{c}
	default:
	}
	m := c.reader.memory(c.pid)
	if m == nil {
		return nil
	}
	switch c.kind {
	case tabControl:
		return tabs{c, m}
	case listView:
		return rows{c, m}
	case toolBar:
		return tools{c, m}
	case statusBar:
		return parts{c, m}
	case header:
		return headings{c, m}
	default:
		return nil
	}
}

// item reads an item with its place in the set and in view.
func (c *control) item(s set, index, total int) (desktop.Element, error) {
	e, err := s.read(index)
	if err != nil {
		return e, err
	}
	kind := item
	if c.kind == header {
		kind = heading
	}
	e.ID = c.at(kind, e.Name, uint64(index)).id()
	e.Pos, e.Size = index+1, total
	c.place(&e, c.kind != comboBox)
	return e, nil
}

// place sets the states of an item that depend on the control: whether it is in view and enabled.
func (c *control) place(e *desktop.Element, scrolls bool) {
	if c.style&win32.StyleDisabled != 0 {
		e.States &^= desktop.Enabled
	}
	minimized := c.Root().IsMinimized()
	switch {
	case !c.IsVisible():
		e.Frame = desktop.Rect{}
	case minimized:
		e.Frame = desktop.Rect{}
		e.States |= desktop.Showing
	default:
		e.Frame = e.Frame.Intersect(c.Content())
		if !e.Frame.Empty() {
			e.States |= desktop.Showing
			return
		}
		if e.Frame = (desktop.Rect{}); scrolls {
			e.States |= desktop.Offscreen
		}
	}
}

// readItems appends the items of a control, or those in view if they are many.
func (c *control) readItems(s set, parent int) error {
	total, err := s.count()
	if err != nil || total <= 0 {
		return err
	}
	from, to := 0, total
	if total > maxItems {
		if from, err = s.first(); err != nil {
			return err
		}
		from = max(0, min(from, total-1))
		to = min(total, from+maxSample)
	}
	for i := from; i < to; i++ {
		e, err := c.item(s, i, total)
		if err != nil {
			return err
		}
		if total > maxItems && !e.States.Has(desktop.Showing) {
			to = i
			break
		}
		row := c.append(e, parent)
		if c.kind != listView || !e.States.Has(desktop.Showing) {
			continue
		}
		cells, err := c.cells(&e, i)
		if err != nil {
			return err
		}
		for _, cell := range cells {
			c.append(cell, row)
		}
	}
	c.elements[parent].UnreadChildren = total - (to - from)
	return nil
}

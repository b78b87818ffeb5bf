package hwnd

import (
	"context"
	"errors"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
)

// A Source reads and operates windows by messages.
type Source struct{ inner wintree.Source }

// New returns a Source. It lets inner read the child windows of unknown classes; inner may be nil.
func New(inner wintree.Source) *Source { return &Source{inner} }

const wmNull = 0

// Prefix implements wintree.Source.
func (*Source) Prefix() string { return prefix }

// Read implements wintree.Source.
func (s *Source) Read(ctx context.Context, window win32.Window) ([]desktop.Element, error) {
	r := newReader(ctx, s.inner)
	defer r.close()
	c, err := r.control(window)
	if err != nil {
		return nil, err
	}
	return r.elements, c.read(-1)
}

// Element implements wintree.Source.
func (s *Source) Element(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	r := newReader(ctx, s.inner)
	defer r.close()
	r.complete = true
	_, e, err := r.find(id)
	return e, err
}

// Children implements wintree.Source.
func (s *Source) Children(ctx context.Context, id desktop.ID, first, count int) ([]desktop.Element, error) {
	r := newReader(ctx, s.inner)
	defer r.close()
	c, _, err := r.find(id)
	if err != nil || first < 0 || count <= 0 {
		return nil, err
	}
	set := c.set()
	if set == nil {
		return nil, nil
	}
	total, err := set.count()
	if err != nil {
		return nil, err
	}
	var elements []desktop.Element
	for i := first; i < min(total, first+count); i++ {
		e, err := c.item(set, i, total)
		if err != nil {
			return nil, err
		}
		elements = append(elements, e)
	}
	return elements, nil
}

// find finds the control of an element and reads the element afresh.
func (r *reader) find(id desktop.ID) (*control, desktop.Element, error) {
	a, ok := parse(id)
	if !ok {
		return nil, desktop.Element{}, win32.Gone()
	}
	c, err := r.control(win32.Window(a.window))
	if err != nil {
		return nil, desktop.Element{}, err
	}
	if c.address.id() != (address{window: a.window, thread: a.thread}).id() {
		return nil, desktop.Element{}, win32.Gone() // another window has the handle
	}
	if _, err := c.send(wmNull, 0, 0); err != nil {
		return nil, desktop.Element{}, err // a program that hangs tells nothing, though some facts could be read
	}
	e, err := c.find(a)
	if err == nil && a.part != whole && a.part != cell && digest(e.Name) != a.digest {
		err = win32.Gone()
	}
	return c, e, err
}

// find reads the control's element, or one of its items.
func (c *control) find(a address) (desktop.Element, error) {
	switch a.part {
	case whole:
		return c.element()
	case node:
		return c.node(uintptr(a.path[0]))
	case menuEntry:
		e, ok := c.menuItem(a.path)
		if !ok {
			return e, win32.Gone()
		}
		return e, nil
	case item, heading, cell:
	}
	set := c.set()
	if set == nil {
		return desktop.Element{}, win32.Gone()
	}
	total, err := set.count()
	if err != nil {
		return desktop.Element{}, err
	}
	i := int(a.path[0])
	if i >= total {
		return desktop.Element{}, win32.Gone()
	}
	e, err := c.item(set, i, total)
	if err != nil || a.part != cell {
		return e, err
	}
	if digest(e.Name) != a.digest {
		return e, win32.Gone()
	}
	cells, err := c.cells(&e, i)
	if err != nil || int(a.path[1]) >= len(cells) {
		return e, errors.Join(err, win32.Gone())
	}
	return cells[a.path[1]], nil
}

package fakedesktop

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Window is a window on the desktop.
type Window struct {
	*Element  // the window as an element: the parent of its controls
	id        desktop.WindowID
	frame     desktop.Rect
	minimized bool
	closed    bool
	focus     *Element // receives text that is typed into the window
	selectAll bool     // the next text replaces everything
	keys      []desktop.Chord
	onKey     func(desktop.Chord)
}

// Window opens a window in front of the others, 500 by 900 pixels, with the person's keyboard focus.
func (p *Program) Window(title string) *Window {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	w := p.open(title, desktop.Window, 0)
	p.d.active = w
	p.emit(desktop.WindowChanged, w.e.ID, "activated")
	return w
}

// Dialog opens a modal dialog in front of the others. It receives the keyboard focus if the program has it.
func (p *Program) Dialog(title string) *Window {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	owns := p.d.active != nil && p.d.active.program == p
	w := p.open(title, desktop.Dialog, desktop.Modal)
	w.frame = desktop.Rect{X: w.frame.X, Y: w.frame.Y, W: 300, H: 150}
	if owns {
		p.d.active = w
	}
	return w
}

func (p *Program) open(title string, role desktop.Role, states desktop.State) *Window {
	p.d.ids++
	w := &Window{id: desktop.WindowID(p.d.ids)}
	n := len(p.d.stack)
	w.frame = desktop.Rect{X: 20 + 60*(n%18), Y: 20 + 4*(n%18), W: 500, H: 900}
	holder := &Element{d: p.d, program: p, window: w}
	w.Element = holder.add(desktop.Element{Role: role, Name: title}, states)
	w.parent = nil
	p.windows = append(p.windows, w)
	p.d.stack = slices.Insert(p.d.stack, 0, w)
	p.emit(desktop.WindowChanged, w.e.ID, "opened")
	return w
}

// WindowID returns the window's ID in the window system.
func (w *Window) WindowID() desktop.WindowID { return w.id }

// Close closes the window and removes its contents.
func (w *Window) Close() {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.closed = true
	w.remove()
	w.program.windows = slices.DeleteFunc(w.program.windows, func(o *Window) bool { return o == w })
	w.d.unstack(w)
	w.program.emit(desktop.WindowChanged, w.e.ID, "closed")
}

// unstack removes a window from the screen, and passes its keyboard focus to another window of its program.
// The caller holds the desktop's lock.
func (d *Desktop) unstack(w *Window) {
	d.stack = slices.DeleteFunc(d.stack, func(o *Window) bool { return o == w })
	if d.active != w {
		return
	}
	d.active = nil
	for _, o := range d.stack {
		if o.program == w.program {
			d.active = o
			return
		}
	}
}

// Move moves and resizes the window.
func (w *Window) Move(frame desktop.Rect) *Window {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.frame = frame
	w.program.emit(desktop.BoundsChanged, w.e.ID, "")
	return w
}

// Minimize removes the window from the screen but not from its program.
func (w *Window) Minimize() *Window {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.minimized = true
	if w.d.active == w {
		w.d.active = nil
	}
	return w
}

// Raise brings the window to the front and focuses it, as the person would.
func (w *Window) Raise() *Window {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.raise()
	return w
}

// raise is Raise for a caller that holds the desktop's lock.
func (w *Window) raise() {
	w.minimized = false
	w.d.stack = slices.DeleteFunc(w.d.stack, func(o *Window) bool { return o == w })
	w.d.stack = slices.Insert(w.d.stack, 0, w)
	if old := w.d.active; old != nil && old != w {
		old.program.emit(desktop.WindowChanged, old.e.ID, "deactivated")
	}
	w.d.active = w
	w.program.emit(desktop.WindowChanged, w.e.ID, "activated")
}

// Focus focuses the element in its window, as the person would.
func (x *Element) Focus() *Element {
	return x.edit(desktop.FocusMoved, "", func() bool {
		changed := x.window.focus != x
		x.window.focus, x.window.selectAll = x, false
		return changed
	})
}

// Keys returns the keys that were pressed in the window, except those typed into an element.
func (w *Window) Keys() []desktop.Chord {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	return slices.Clone(w.keys)
}

// OnKey sets the handler for keys that no element uses.
func (w *Window) OnKey(f func(desktop.Chord)) *Window {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	w.onKey = f
	return w
}

// arrange computes the layout of the window: controls stand below each other. The caller holds the
// desktop's lock.
func (w *Window) arrange() {
	open := !w.closed && !w.program.ended
	w.Element.arrange(w.frame.X, w.frame.Y, w.frame.W, open)
	w.e.Frame, w.showing = w.frame, open && !w.hidden // also for an empty window
}

// arrange places the element and its descendants, and returns its height.
func (x *Element) arrange(left, top, width int, showing bool) int {
	x.showing = showing && !x.hidden
	y := top
	if x.showing && x.height == 0 && x.needsSpace() {
		y += rowHeight
	}
	for i, c := range x.children {
		seen := x.showing && !x.folded && (x.rows == 0 || i >= x.offset && i < x.offset+x.rows)
		if h := c.arrange(left+4, y+2, width-8, seen); c.showing {
			y += h + 2
		}
	}
	x.e.Frame = desktop.Rect{}
	if !x.showing {
		return 0
	}
	h := max(x.height, y-top)
	x.e.Frame = desktop.Rect{X: left, Y: top, W: width, H: h}.Intersect(x.window.frame)
	x.showing = !x.e.Frame.Empty()
	return h
}

// needsSpace reports whether the element needs space in addition to its children: a button does, and the
// title of a menu.
func (x *Element) needsSpace() bool {
	switch x.e.Role {
	case desktop.Generic, desktop.Listbox, desktop.Tablist, desktop.Menubar, desktop.Dialog, desktop.Window:
		return false
	}
	return true
}

// info returns the window's WindowInfo. The caller holds the desktop's lock.
func (w *Window) info() desktop.WindowInfo {
	return desktop.WindowInfo{
		ID: w.id, PID: w.program.app.PID, Title: w.e.Name, Class: w.program.app.Name, Frame: w.frame,
		Active: w.d.active == w, Minimized: w.minimized, Covered: w.covered(),
	}
}

// covered returns the fraction of the window that lies under others or off the screen. The caller holds the
// desktop's lock.
func (w *Window) covered() float64 {
	if w.minimized || w.frame.Empty() {
		return 1
	}
	seen := []desktop.Rect{w.frame.Intersect(screen())}
	for _, o := range w.d.stack[:slices.Index(w.d.stack, w)] {
		if o.minimized {
			continue
		}
		var left []desktop.Rect
		for _, r := range seen {
			left = append(left, without(r, o.frame)...)
		}
		seen = left
	}
	area := 0
	for _, r := range seen {
		area += r.W * r.H
	}
	return 1 - float64(area)/float64(w.frame.W*w.frame.H)
}

// without returns the parts of a rectangle that remain after cutting out another.
func without(r, hole desktop.Rect) []desktop.Rect {
	cut := r.Intersect(hole)
	if cut.Empty() {
		return []desktop.Rect{r}
	}
	below, right := cut.Y+cut.H, cut.X+cut.W
	return slices.DeleteFunc([]desktop.Rect{
		{X: r.X, Y: r.Y, W: r.W, H: cut.Y - r.Y},
		{X: r.X, Y: below, W: r.W, H: r.Y + r.H - below},
		{X: r.X, Y: cut.Y, W: cut.X - r.X, H: cut.H},
		{X: right, Y: cut.Y, W: r.X + r.W - right, H: cut.H},
	}, desktop.Rect.Empty)
}

func screen() desktop.Rect { return desktop.Rect{W: Width, H: Height} }

func (b *backend) Windows(ctx context.Context) ([]desktop.WindowInfo, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	all := []desktop.WindowInfo{}
	for _, w := range b.d.stack {
		all = append(all, w.info())
	}
	return all, nil
}

func (b *backend) WindowAt(ctx context.Context, p desktop.Point) (desktop.WindowInfo, error) {
	if err := contextError(ctx); err != nil {
		return desktop.WindowInfo{}, err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if w := b.d.at(p); w != nil {
		return w.info(), nil
	}
	return desktop.WindowInfo{}, notDeliveredError(aai.ElementNotFound, "no window is seen at %d, %d", p.X, p.Y)
}

// at returns the topmost window at the point, or nil. The caller holds the desktop's lock.
func (d *Desktop) at(p desktop.Point) *Window {
	for _, w := range d.stack {
		if !w.minimized && w.frame.Contains(p) {
			return w
		}
	}
	return nil
}

func (b *backend) Activate(ctx context.Context, id desktop.WindowID) error {
	if err := contextError(ctx); err != nil {
		return err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.d.recordAction("Activate")
	w, err := b.d.window(id)
	if err != nil {
		return err
	}
	b.d.takeFocus(w)
	return nil
}

func (b *backend) Manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	if err := contextError(ctx); err != nil {
		return err
	}
	b.d.mu.Lock()
	w, err := b.d.window(id)
	b.d.recordAction("Manage")
	b.d.mu.Unlock()
	if err != nil {
		return err
	}
	switch wish {
	case desktop.Close:
		w.Close()
	case desktop.Raise:
		b.d.mu.Lock()
		w.raise()
		b.d.mu.Unlock()
	case desktop.Restore, desktop.Minimize:
		b.d.mu.Lock()
		w.minimized = wish == desktop.Minimize
		b.d.mu.Unlock()
	}
	return nil
}

// takeFocus raises a window and records the focus change. The caller holds the desktop's lock.
func (d *Desktop) takeFocus(w *Window) {
	if d.active != w {
		d.person.FocusMoves++
	}
	w.raise()
}

// window finds a window. The caller holds the desktop's lock.
func (d *Desktop) window(id desktop.WindowID) (*Window, error) {
	for _, w := range d.stack {
		if w.id == id {
			return w, nil
		}
	}
	return nil, notDeliveredError(aai.AutomationFailed, "the window is gone")
}

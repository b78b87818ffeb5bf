package fakedesktop

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// An Element is a control in a window. The methods that add controls append them to its children.
type Element struct {
	d        *Desktop
	program  *Program
	window   *Window
	parent   *Element // nil for a window
	children []*Element

	e        desktop.Element // Showing, Focused, Frame and position are computed on access
	held     string          // the text of a password field
	hidden   bool
	folded   bool // its children are hidden, as in a closed menu
	gone     bool
	height   int // in pixels; zero to compute it from its children
	rows     int // number of children that show at once; zero for all
	offset   int // index of the first showing child, from 0
	huge     func(i int) string
	unlisted map[int]*Element // children that no snapshot contains
	showing  bool             // computed by Window.arrange

	press  func()
	change func()
	click  func(Click)
	drag   func(from, to desktop.Point)
}

// A Click is a press of a pointer button on an element.
type Click struct {
	Button desktop.MouseButton
	Count  int
	At     desktop.Point // relative to the upper left corner of the element
}

// edit changes the element with f, and emits an event if f returns true.
func (x *Element) edit(kind desktop.EventKind, detail string, f func() bool) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if f() {
		x.program.emit(kind, x.e.ID, detail)
	}
	return x
}

// ID returns the element's ID.
func (x *Element) ID() desktop.ID {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return x.e.ID
}

// Name returns the element's current name.
func (x *Element) Name() string {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return x.e.Name
}

// Value returns the complete value, also that of a password field.
func (x *Element) Value() string {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if x.e.States.Has(desktop.Protected) {
		return x.held
	}
	return x.e.Value
}

// Has reports whether the element has all of the states.
func (x *Element) Has(s desktop.State) bool {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.window.arrange()
	return x.states().Has(s)
}

// Frame returns the element's rectangle on the screen.
func (x *Element) Frame() desktop.Rect {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.window.arrange()
	return x.e.Frame
}

// Rename changes the name of the element, and emits an event if it differs.
func (x *Element) Rename(name string) *Element {
	return x.edit(desktop.NameChanged, "", func() bool {
		changed := x.e.Name != name
		x.e.Name = name
		return changed
	})
}

// Describe sets the element's description and identifier.
func (x *Element) Describe(description, identifier string) *Element {
	return x.edit(desktop.NameChanged, "", func() bool {
		x.e.Description, x.e.Identifier = description, identifier
		return true
	})
}

// AddState adds states, such as desktop.Required.
func (x *Element) AddState(s desktop.State) *Element {
	return x.edit(desktop.StateChanged, firstWord(s), func() bool {
		changed := !x.e.States.Has(s)
		x.e.States |= s
		return changed
	})
}

// RemoveState removes states, such as desktop.Enabled.
func (x *Element) RemoveState(s desktop.State) *Element {
	return x.edit(desktop.StateChanged, firstWord(s), func() bool {
		changed := x.e.States.HasAny(s)
		x.e.States &^= s
		return changed
	})
}

func firstWord(s desktop.State) string { return append(s.Words(), "")[0] }

// Hide hides the element without removing it.
func (x *Element) Hide() *Element { return x.setHidden(true) }

// Show undoes Hide.
func (x *Element) Show() *Element { return x.setHidden(false) }

func (x *Element) setHidden(hidden bool) *Element {
	return x.edit(desktop.StateChanged, "showing", func() bool {
		changed := x.hidden != hidden
		x.hidden = hidden
		return changed
	})
}

// Remove removes the element and its descendants from the window.
func (x *Element) Remove() {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.remove()
	if x.parent != nil {
		x.parent.children = slices.DeleteFunc(x.parent.children, func(o *Element) bool { return o == x })
		x.program.emit(desktop.ChildrenChanged, x.parent.e.ID, "")
	}
}

// remove marks the element and its descendants as gone. The caller holds the desktop's lock.
func (x *Element) remove() {
	x.gone = true
	if x.window.focus == x {
		x.window.focus = nil
	}
	for _, c := range x.children {
		c.remove()
	}
}

// Rerender replaces the items of a list by new ones with other IDs.
func (x *Element) Rerender(names ...string) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.rerender(names)
}

// Recycle renames the items of a list, as toolkits do that reuse rows when people scroll.
func (x *Element) Recycle(names ...string) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	for i, c := range x.children[:min(len(names), len(x.children))] {
		c.e.Name = names[i]
		x.program.emit(desktop.NameChanged, c.e.ID, "")
	}
}

// SetText sets the text or number, as the person or the program would.
func (x *Element) SetText(text string) *Element {
	x.put(text)
	return x
}

// put is SetText, and reports whether the text has changed.
func (x *Element) put(text string) bool {
	x.d.mu.Lock()
	kind := desktop.ValueChanged
	if x.e.States.Has(desktop.Editable) && x.e.Min == x.e.Max {
		kind = desktop.TextChanged
	}
	held := &x.e.Value
	if x.e.States.Has(desktop.Protected) {
		held = &x.held
	}
	changed := *held != text
	*held = text
	if changed {
		x.program.emit(kind, x.e.ID, "")
	}
	f := x.change
	x.d.mu.Unlock()
	if changed && f != nil {
		f()
	}
	return changed
}

// Number returns the element's number.
func (x *Element) Number() float64 {
	n, _ := strconv.ParseFloat(x.Value(), 64)
	return n
}

// SetNumber is SetText for a number, limited to the element's bounds.
func (x *Element) SetNumber(n float64) *Element {
	x.d.mu.Lock()
	n = max(x.e.Min, min(x.e.Max, n))
	x.d.mu.Unlock()
	return x.SetText(strconv.FormatFloat(n, 'f', -1, 64))
}

// OnChange sets the handler for changes of the text, number, check or selection.
func (x *Element) OnChange(f func()) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.change = f
	return x
}

// OnClick sets the handler for clicks of a pointer button.
func (x *Element) OnClick(f func(Click)) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.click = f
	return x
}

// OnDrag sets the handler for drags from the element. Points are relative to its upper left corner.
func (x *Element) OnDrag(f func(from, to desktop.Point)) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.drag = f
	return x
}

// states returns the element's current states. The caller holds the desktop's lock, and the window is
// arranged.
func (x *Element) states() desktop.State {
	s := x.e.States
	if x.showing {
		s |= desktop.Showing
	}
	if x.window.focus == x {
		s |= desktop.Focused
	}
	if x.parent == nil && x.d.active == x.window {
		s |= desktop.Active
	}
	return s
}

// snapshot returns the element in the form of a snapshot. The caller holds the desktop's lock, and the
// window is arranged.
func (x *Element) snapshot(cut bool) desktop.Element {
	e := x.e
	e.States = x.states()
	e.Actions = slices.Clone(x.e.Actions)
	if cut && len(e.Value) > desktop.MaxValue {
		n := desktop.MaxValue
		for !utf8.RuneStart(e.Value[n]) {
			n--
		}
		e.Value = e.Value[:n]
	}
	if x.parent != nil && e.Role.IsSetMember() {
		e.Pos, e.Size = x.place()
	}
	return e
}

// place returns the element's position among its siblings of the same role.
func (x *Element) place() (pos, size int) {
	for _, c := range x.parent.children {
		if c.e.Role == x.e.Role {
			size++
		}
		if c == x {
			pos = size
		}
	}
	return pos, size
}

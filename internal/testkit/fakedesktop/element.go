package fakedesktop

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// An Element is a control in a window. The methods that make controls put them
// at its end.
type Element struct {
	d        *Desktop
	program  *Program
	window   *Window
	parent   *Element // nil for a window
	children []*Element

	e        desktop.Element // its Showing, Focused, Frame and place are found when somebody looks
	held     string          // what a password field holds
	hidden   bool
	folded   bool // its children are not showing, as those of a closed menu
	gone     bool
	height   int // in pixels; zero where its children say it
	rows     int // how many of its children it shows at once; zero for all
	offset   int // the first of them, from 0
	huge     func(i int) string
	unlisted map[int]*Element // its children that are in no snapshot
	showing  bool             // found by Window.arrange

	press  func()
	change func()
	click  func(Click)
	drag   func(from, to desktop.Point)
}

// A Click is a press of a pointer's button on an element.
type Click struct {
	Button desktop.MouseButton
	Count  int
	At     desktop.Point // from the upper left corner of the element
}

// edit changes the element and tells of it, if f says that something changed.
func (x *Element) edit(kind desktop.EventKind, detail string, f func() bool) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if f() {
		x.program.emit(kind, x.e.ID, detail)
	}
	return x
}

// ID returns its id.
func (x *Element) ID() desktop.ID {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return x.e.ID
}

// Name returns what it is called now.
func (x *Element) Name() string {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return x.e.Name
}

// Value returns all that it holds, also what a password field does.
func (x *Element) Value() string {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	if x.e.States.Has(desktop.Protected) {
		return x.held
	}
	return x.e.Value
}

// Has reports whether the states are true of it.
func (x *Element) Has(s desktop.State) bool {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.window.arrange()
	return x.states().Has(s)
}

// Frame returns where it is on the screen.
func (x *Element) Frame() desktop.Rect {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.window.arrange()
	return x.e.Frame
}

// Rename changes its name.
func (x *Element) Rename(name string) *Element {
	return x.edit(desktop.NameChanged, "", func() bool {
		changed := x.e.Name != name
		x.e.Name = name
		return changed
	})
}

// Describe sets its description and what its author calls it.
func (x *Element) Describe(description, identifier string) *Element {
	return x.edit(desktop.NameChanged, "", func() bool {
		x.e.Description, x.e.Identifier = description, identifier
		return true
	})
}

// AddState adds states to it, such as desktop.Required.
func (x *Element) AddState(s desktop.State) *Element {
	return x.edit(desktop.StateChanged, firstWord(s), func() bool {
		changed := !x.e.States.Has(s)
		x.e.States |= s
		return changed
	})
}

// RemoveState takes states from it, such as desktop.Enabled.
func (x *Element) RemoveState(s desktop.State) *Element {
	return x.edit(desktop.StateChanged, firstWord(s), func() bool {
		changed := x.e.States.HasAny(s)
		x.e.States &^= s
		return changed
	})
}

func firstWord(s desktop.State) string { return append(s.Words(), "")[0] }

// Hide makes it not showing. It lives on.
func (x *Element) Hide() *Element { return x.setHidden(true) }

// Show ends what Hide did.
func (x *Element) Show() *Element { return x.setHidden(false) }

func (x *Element) setHidden(hidden bool) *Element {
	return x.edit(desktop.StateChanged, "showing", func() bool {
		changed := x.hidden != hidden
		x.hidden = hidden
		return changed
	})
}

// Remove ends it and all that is in it.
func (x *Element) Remove() {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.remove()
	if x.parent != nil {
		x.parent.children = slices.DeleteFunc(x.parent.children, func(o *Element) bool { return o == x })
		x.program.emit(desktop.ChildrenChanged, x.parent.e.ID, "")
	}
}

// remove marks the element and what is in it as gone. The desktop is locked.
func (x *Element) remove() {
	x.gone = true
	if x.window.focus == x {
		x.window.focus = nil
	}
	for _, c := range x.children {
		c.remove()
	}
}

// Rerender throws the items of a list away and makes others, with other ids.
func (x *Element) Rerender(names ...string) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.rerender(names)
}

// Recycle gives the items of a list other names, as toolkits do that use the same
// rows again when people scroll.
func (x *Element) Recycle(names ...string) {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	for i, c := range x.children[:min(len(names), len(x.children))] {
		c.e.Name = names[i]
		x.program.emit(desktop.NameChanged, c.e.ID, "")
	}
}

// SetText gives it another text or number, as the person or its program would.
func (x *Element) SetText(text string) *Element {
	x.put(text)
	return x
}

// put is SetText, and reports whether the text was another one.
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

// Number returns the number that it holds.
func (x *Element) Number() float64 {
	n, _ := strconv.ParseFloat(x.Value(), 64)
	return n
}

// SetNumber is SetText for a number, held within the element's bounds.
func (x *Element) SetNumber(n float64) *Element {
	x.d.mu.Lock()
	n = max(x.e.Min, min(x.e.Max, n))
	x.d.mu.Unlock()
	return x.SetText(strconv.FormatFloat(n, 'f', -1, 64))
}

// OnChange sets what happens when its text, number, check or selection changes.
func (x *Element) OnChange(f func()) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.change = f
	return x
}

// OnClick sets what happens when a pointer's button is pressed on it.
func (x *Element) OnClick(f func(Click)) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.click = f
	return x
}

// OnDrag sets what happens when a pointer drags from it. Points are from its
// upper left corner.
func (x *Element) OnDrag(f func(from, to desktop.Point)) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	x.drag = f
	return x
}

// states are its states as somebody sees them now. The desktop is locked and the
// window is arranged.
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

// snapshot returns the element as a snapshot has it. The desktop is locked and the
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

// place is where the element stands among those of its role.
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

package desktop

import (
	"slices"
	"strings"
	"time"
)

// An ID identifies an element of an app during the element's life. Its format is private to the backend. An
// app never has two elements with the same ID at once.
type ID string

// An Element is one part of an app's user interface: a button, a row, a window.
type Element struct {
	ID   ID
	Role Role
	// Name is the visible name, from the element's text or its label.
	Name string
	// Value is the element's content: the text of a text box, the number of a slider. In a snapshot it has
	// at most MaxValue bytes. It is "" if States has Protected: backends never read the content of a
	// password field.
	Value       string
	Description string
	// Identifier is the name that the app's author chose, such as an accessible ID or an HTML id. It does
	// not depend on the language.
	Identifier string
	States     State
	// Frame is the element's rectangle on the screen, in physical pixels from the top left of the whole
	// screen; zero if unknown or not showing.
	Frame   Rect
	Actions []string // background actions, default first
	// Pos and Size are the element's position in its set and the set's size, such as the third of ten rows,
	// from 1; zero without a set.
	Pos, Size int
	// Min and Max are the bounds of a numeric Value; both zero if there are none.
	Min, Max float64
	// UnreadChildren is the number of children that the snapshot omits because they are too many.
	// Backend.Tree.Children reads some of them.
	UnreadChildren int

	// Parent and End locate the element in Snapshot.Elements: the index of its parent (-1 for a window) and
	// the index after its last descendant. Both are zero outside of a snapshot.
	Parent, End int
}

// Values of Element.Identifier for windows that choose a file, color or font, on platforms that report the kind of
// chooser.
const (
	FileChooser  = "file-chooser"
	ColorChooser = "color-chooser"
	FontChooser  = "font-chooser"
)

// MaxValue is the maximum length of a value in a snapshot, in bytes.
const MaxValue = 500

// A State is a set of boolean properties of an element.
type State uint32

// The states. Those with the name of an ARIA attribute mean the same. Showing means that the element would be visible
// if nothing covered its window.
const (
	Showing State = 1 << iota
	Enabled
	Focusable
	Focused
	Editable
	ReadOnly
	Multiline
	Protected // a password field: its value is never read
	Checkable
	Checked
	Mixed // partially checked
	Pressed
	Selectable
	Selected
	Expandable
	Expanded
	HasPopup
	Required
	Invalid
	Busy
	Modal
	Active // of a window: has the keyboard focus
	Default
	Multiselectable
	Vertical
	Virtual   // its children are created and removed as it scrolls
	Offscreen // not showing, but would show if its container were scrolled
)

// Has reports whether all of the states are set.
func (s State) Has(all State) bool { return s&all == all }

// HasAny reports whether at least one of the states is set.
func (s State) HasAny(some State) bool { return s&some != 0 }

// stateWords lists the words of the states, for ARIA attributes their names, in the order of the bits.
const stateWords = "showing enabled focusable focused editable readonly multiline password checkable checked mixed pressed " +
	"selectable selected expandable expanded haspopup required invalid busy modal active default multiselectable vertical virtual offscreen"

// Words returns the names of the states in a fixed order.
func (s State) Words() []string {
	words := []string{}
	for i, word := range strings.Fields(stateWords) {
		if s&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// ParseState returns the state with the name, or 0.
func ParseState(word string) State {
	if i := slices.Index(strings.Fields(stateWords), word); i >= 0 {
		return 1 << i
	}
	return 0
}

// A Rect is a rectangle on the screen, in physical pixels.
type Rect struct{ X, Y, W, H int }

// Empty reports whether the rectangle has no area.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Center returns the rectangle's center.
func (r Rect) Center() Point { return Point{r.X + r.W/2, r.Y + r.H/2} }

// Contains reports whether the point lies in the rectangle.
func (r Rect) Contains(p Point) bool {
	return p.X >= r.X && p.Y >= r.Y && p.X < r.X+r.W && p.Y < r.Y+r.H
}

// Intersect returns the intersection of both rectangles, which may be empty.
func (r Rect) Intersect(o Rect) Rect {
	x, y := max(r.X, o.X), max(r.Y, o.Y)
	w, h := min(r.X+r.W, o.X+o.W)-x, min(r.Y+r.H, o.Y+o.H)-y
	if w <= 0 || h <= 0 {
		return Rect{}
	}
	return Rect{x, y, w, h}
}

// A Point is a position on the screen, in physical pixels.
type Point struct{ X, Y int }

// A Snapshot is the state of an app's tree at one moment. It is immutable and therefore safe for concurrent
// use.
type Snapshot struct {
	App App
	// Elements are in depth-first order, a parent before its children. Elements without a parent are the
	// app's windows.
	Elements []Element
	// Version differs between any two snapshots of the app whose elements differ.
	Version uint64
	Taken   time.Time
	// Warnings describe, for people, parts that could not be read and why.
	Warnings []string
}

// Index returns the index of the element with the ID, or -1.
func (s *Snapshot) Index(id ID) int {
	for i := range s.Elements {
		if s.Elements[i].ID == id {
			return i
		}
	}
	return -1
}

// Children returns the indexes of the element's children in order; for -1, those of the windows.
func (s *Snapshot) Children(i int) []int {
	next, end := 0, len(s.Elements)
	if i >= 0 {
		next, end = i+1, s.Elements[i].End
	}
	var children []int
	for ; next < end; next = s.Elements[next].End {
		children = append(children, next)
	}
	return children
}

// WindowOf returns the index of the window that contains the element, which may be the element itself.
func (s *Snapshot) WindowOf(i int) int {
	for s.Elements[i].Parent >= 0 {
		i = s.Elements[i].Parent
	}
	return i
}

// IsVisible reports whether the element and all of its ancestors are showing.
func (s *Snapshot) IsVisible(i int) bool {
	for ; i >= 0; i = s.Elements[i].Parent {
		if !s.Elements[i].States.Has(Showing) {
			return false
		}
	}
	return true
}

// IsOffscreen reports whether the element is only scrolled out of view: it or an ancestor does not show,
// and each of these that does not show has Offscreen.
func (s *Snapshot) IsOffscreen(i int) bool {
	beyond := false
	for ; i >= 0; i = s.Elements[i].Parent {
		if states := s.Elements[i].States; !states.Has(Showing) {
			if !states.Has(Offscreen) {
				return false
			}
			beyond = true
		}
	}
	return beyond
}

// VisibleElements returns the result of IsVisible for each element.
func (s *Snapshot) VisibleElements() []bool {
	seen := make([]bool, len(s.Elements))
	for i := range s.Elements {
		e := &s.Elements[i]
		seen[i] = e.States.Has(Showing) && (e.Parent < 0 || seen[e.Parent])
	}
	return seen
}

// SetEnds sets End of elements whose Parent is set and which are in depth-first order. Backends call it
// once.
func SetEnds(elements []Element) {
	for i := len(elements) - 1; i >= 0; i-- {
		e := &elements[i]
		e.End = max(e.End, i+1)
		if e.Parent >= 0 {
			elements[e.Parent].End = max(elements[e.Parent].End, e.End)
		}
	}
}

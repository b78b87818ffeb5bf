package desktop

import (
	"slices"
	"strings"
	"time"
)

// An ID names an element of an app for as long as the element lives. It is the
// backend's own and means nothing to others. An app never has two elements with
// the same ID at once.
type ID string

// An Element is one thing that an app shows: a button, a row, a window.
type Element struct {
	ID   ID
	Role Role
	// Name is what people call it, from its text or its label.
	Name string
	// Value is what it holds: the text of a text box, the number of a slider. At
	// most MaxValue bytes in a snapshot. It is "" where States has Protected:
	// backends never read what a password field holds.
	Value       string
	Description string
	// Identifier is what the app's author calls it, such as an accessible id or
	// an HTML id. It is the same in every language.
	Identifier string
	States     State
	// Frame is where it is on the screen, in physical pixels from the top left of
	// the whole screen; zero where that is not known or it is not showing.
	Frame   Rect
	Actions []string // what can be done to it in the background, the first by default
	// Pos and Size are its place in its set, such as the third of ten rows, from
	// 1; zero where there is no set.
	Pos, Size int
	// Min and Max bound a number that Value may be; both zero where there are none.
	Min, Max float64
	// UnreadChildren is how many children it has that are not in the snapshot, because
	// they are too many. Backend.Tree.Children reads some of them.
	UnreadChildren int

	// Parent and End are the element's place in Snapshot.Elements: the index of
	// its parent (-1 for a window) and the index after its last descendant. Both
	// are zero outside of a snapshot.
	Parent, End int
}

// The identifiers of windows that let people choose, where a platform tells these from others.
const (
	FileChooser  = "file-chooser"
	ColorChooser = "color-chooser"
	FontChooser  = "font-chooser"
)

// MaxValue is how many bytes of a value a snapshot holds.
const MaxValue = 500

// A State is a set of things that are true of an element.
type State uint32

// The states. They mean what ARIA's attributes of the same names mean; Showing
// means that it would be seen if nothing lay over its window.
const (
	Showing State = 1 << iota
	Enabled
	Focusable
	Focused
	Editable
	ReadOnly
	Multiline
	Protected // a password: its value is never read
	Checkable
	Checked
	Mixed // neither checked nor not
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
	Active // of a window: it has the keyboard
	Default
	Multiselectable
	Vertical
	Virtual   // its children come and go as it scrolls
	Offscreen // of what does not show: it would if what it is in were scrolled
)

// Has reports whether all of the states are true.
func (s State) Has(all State) bool { return s&all == all }

// HasAny reports whether one of the states is true.
func (s State) HasAny(some State) bool { return s&some != 0 }

// stateWords are the states in ARIA's words, in the order of the bits.
const stateWords = "showing enabled focusable focused editable readonly multiline password checkable checked mixed pressed " +
	"selectable selected expandable expanded haspopup required invalid busy modal active default multiselectable vertical virtual offscreen"

// Words returns the states' names in a fixed order.
func (s State) Words() []string {
	words := []string{}
	for i, word := range strings.Fields(stateWords) {
		if s&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// ParseState returns the state with the word, or 0.
func ParseState(word string) State {
	if i := slices.Index(strings.Fields(stateWords), word); i >= 0 {
		return 1 << i
	}
	return 0
}

// A Rect is a rectangle on the screen, in physical pixels.
type Rect struct{ X, Y, W, H int }

// Empty reports whether nothing is in it.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Center is the point in its middle.
func (r Rect) Center() Point { return Point{r.X + r.W/2, r.Y + r.H/2} }

// Contains reports whether the point is in it.
func (r Rect) Contains(p Point) bool {
	return p.X >= r.X && p.Y >= r.Y && p.X < r.X+r.W && p.Y < r.Y+r.H
}

// Intersect returns what both have in common, which may be empty.
func (r Rect) Intersect(o Rect) Rect {
	x, y := max(r.X, o.X), max(r.Y, o.Y)
	w, h := min(r.X+r.W, o.X+o.W)-x, min(r.Y+r.H, o.Y+o.H)-y
	if w <= 0 || h <= 0 {
		return Rect{}
	}
	return Rect{x, y, w, h}
}

// A Point is a place on the screen, in physical pixels.
type Point struct{ X, Y int }

// A Snapshot is what an app showed at one moment. It is not changed after it was
// made, so it may be read by many goroutines at once.
type Snapshot struct {
	App App
	// Elements are in the order of a walk that visits a parent before its
	// children. Those without a parent are the app's windows.
	Elements []Element
	// Version is a number that differs from that of every other snapshot of the
	// app whose elements differ.
	Version uint64
	Taken   time.Time
	// Warnings say what could not be read and why, for people.
	Warnings []string
}

// Index finds the element with the ID, or returns -1.
func (s *Snapshot) Index(id ID) int {
	for i := range s.Elements {
		if s.Elements[i].ID == id {
			return i
		}
	}
	return -1
}

// Children returns the indexes of the element's children in order; those of -1
// are the windows.
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

// WindowOf returns the index of the window that the element is in, which may be
// the element itself.
func (s *Snapshot) WindowOf(i int) int {
	for s.Elements[i].Parent >= 0 {
		i = s.Elements[i].Parent
	}
	return i
}

// IsVisible reports whether the element and all that it is in are showing.
func (s *Snapshot) IsVisible(i int) bool {
	for ; i >= 0; i = s.Elements[i].Parent {
		if !s.Elements[i].States.Has(Showing) {
			return false
		}
	}
	return true
}

// IsOffscreen reports whether the element is only scrolled out of view: not all of what it is
// in shows, and all that does not would if it were scrolled to.
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

// VisibleElements says for each element whether it and all that it is in are showing.
func (s *Snapshot) VisibleElements() []bool {
	seen := make([]bool, len(s.Elements))
	for i := range s.Elements {
		e := &s.Elements[i]
		seen[i] = e.States.Has(Showing) && (e.Parent < 0 || seen[e.Parent])
	}
	return seen
}

// SetEnds fills in End of elements whose Parent is set and which stand in the
// order of a walk. Backends call it once.
func SetEnds(elements []Element) {
	for i := len(elements) - 1; i >= 0; i-- {
		e := &elements[i]
		e.End = max(e.End, i+1)
		if e.Parent >= 0 {
			elements[e.Parent].End = max(elements[e.Parent].End, e.End)
		}
	}
}

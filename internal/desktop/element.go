package desktop

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
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
	// Level is the level of a heading, from 1; 0 if unknown.
	Level int
	// Language is the language that the author of a page declares, such as "en"; NoLanguage if the author declares none,
	// and "" if it is unknown, as for all other elements.
	Language string
	// UnreadChildren is the number of children that the snapshot omits because they are too many.
	// Backend.Tree.Children reads some of them.
	UnreadChildren int
	// DevTools reports whether the element is read and operated over the DevTools of a browser, and not by the
	// platform's accessibility.
	DevTools bool

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

// NoLanguage is the Element.Language of a page without a declared language.
const NoLanguage = "none"

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
	Placed    // a field whose Name is that of the label beside or above it, which nothing but its place relates to it
)

// Has reports whether all of the states are set.
func (s State) Has(all State) bool { return s&all == all }

// HasAny reports whether at least one of the states is set.
func (s State) HasAny(some State) bool { return s&some != 0 }

// stateWords lists the words of the states, for ARIA attributes their names, in the order of the bits.
const stateWords = "showing enabled focusable focused editable readonly multiline password checkable checked mixed pressed " +
	"selectable selected expandable expanded haspopup required invalid busy modal active default multiselectable vertical virtual offscreen placed"

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

// Subtract returns the parts of the rectangles outside hole. The rectangles must not overlap.
func Subtract(rects []Rect, hole Rect) []Rect {
	var left []Rect
	for _, r := range rects {
		h := r.Intersect(hole)
		if h.Empty() {
			left = append(left, r)
			continue
		}
		for _, part := range []Rect{
			{X: r.X, Y: r.Y, W: r.W, H: h.Y - r.Y},                   // above the hole
			{X: r.X, Y: h.Y + h.H, W: r.W, H: r.Y + r.H - h.Y - h.H}, // below
			{X: r.X, Y: h.Y, W: h.X - r.X, H: h.H},                   // left
			{X: h.X + h.W, Y: h.Y, W: r.X + r.W - h.X - h.W, H: h.H}, // right
		} {
			if !part.Empty() {
				left = append(left, part)
			}
		}
	}
	return left
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

// maxDescribedName is the maximum length of a name in a description, in bytes.
const maxDescribedName = 80

// Describe returns a short description of the element: button "Save". An element without a name is
// described by its description or identifier: button (Closes the tab), textbox #email. Text of the app is
// cleaned to one line and quoted, so that it cannot pass for the gateway's own words.
func Describe(e *Element) string {
	switch {
	case e.Name != "":
		return string(e.Role) + " " + Quote(e.Name, maxDescribedName)
	case e.Description != "":
		quoted := Quote(e.Description, maxDescribedName)
		return string(e.Role) + " (" + quoted[1:len(quoted)-1] + ")"
	case e.Identifier != "":
		quoted := Quote(e.Identifier, maxDescribedName)
		return string(e.Role) + " #" + quoted[1:len(quoted)-1]
	}
	return string(e.Role)
}

// IsActionable reports whether people operate the element. parent is the role of its parent; it matters
// only for a menu without a name. An actionable element gets a ref, and package render never omits it.
func (e *Element) IsActionable(parent Role) bool {
	switch {
	case e.Role == Scrollbar || e.Role == Separator:
		return false
	case e.Role.IsInteractive() || e.States.HasAny(Editable|Checkable|Expandable|Selectable):
		return true
	case e.Role == Menu:
		return e.Name != "" || parent == Menubar || parent == Menu
	case e.Role.IsRefContainer():
		return false
	}
	return e.IsPressableDespiteRole() || e.States.Has(Focusable)
}

// IsPressableDespiteRole reports whether the element has an action although its role is not interactive. Examples are
// a picture or a part of a page that handles clicks.
func (e *Element) IsPressableDespiteRole() bool {
	return len(e.Actions) > 0 && !e.Role.IsInteractive() && !e.Role.IsRefContainer()
}

// IsKeyRelay reports whether the element is a field too narrow to read, through which a page receives keys.
// The page draws their effect elsewhere, such as on a terminal's screen.
func (e *Element) IsKeyRelay() bool {
	const narrow = 16 // pixels; a field for one digit is wider
	return e.States.Has(Editable) && !e.States.Has(Protected) && e.Frame.W > 0 && e.Frame.W <= narrow && e.Frame.W < e.Frame.H
}

// RepeatsParent reports whether the element only repeats the name or value of its parent.
func (e *Element) RepeatsParent(parent *Element) bool {
	if e.Value != "" && e.Value != e.Name {
		return false
	}
	switch {
	case e.Role.IsTextual() || e.Role == Generic:
		if EqualNames(e.Name, parent.Name) && parent.Role != Document && parent.Role != Window {
			return true
		}
		return (parent.Role.namedByContent() || parent.IsPressableDespiteRole()) && containsWords(parent.Name, e.Name) ||
			parent.Value != "" && containsWords(parent.Value, e.Name)
	case e.Role == Group:
		return EqualNames(e.Name, parent.Name)
	}
	return false
}

// containsWords reports whether text contains words, bounded by word boundaries.
func containsWords(text, words string) bool {
	words = strings.TrimSpace(words)
	for from := 0; ; from++ {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return false
		}
		from += at
		if !joinsWord(text[:from], words) && !joinsWord(words, text[from+len(words):]) {
			return true
		}
	}
}

// joinsWord reports whether before and after form one word where they meet.
func joinsWord(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	inWord := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
	}
	return inWord(last) && inWord(first)
}

// IsDialog reports whether the element is a dialog, or a window that blocks others.
func (e *Element) IsDialog() bool {
	return e.Role == Dialog || e.Role == AlertDialog || e.States.Has(Modal)
}

// IsBlank reports whether neither the element's name nor its value has visible characters.
func (e *Element) IsBlank() bool { return IsBlank(e.Name) && IsBlank(e.Value) }

// IsBlank reports whether the text has no visible characters, such as the characters of an icon font.
func IsBlank(text string) bool {
	if text == "" {
		return true
	}
	if ' ' < text[0] && text[0] < 0x7f {
		return false
	}
	return aai.CleanLabel(text, 16) == ""
}

// EqualNames reports whether two names look the same to people, such as "Name:" and "Name".
func EqualNames(a, b string) bool {
	trim := func(s string) string { return strings.TrimRight(strings.TrimSpace(s), " :") }
	return a == b || strings.EqualFold(trim(a), trim(b))
}

// Quote makes foreign text harmless: it returns one quoted line of at most max bytes inside the quotes,
// with quotes and backslashes escaped.
func Quote(text string, max int) string { return strconv.Quote(aai.CleanLabel(text, max)) }

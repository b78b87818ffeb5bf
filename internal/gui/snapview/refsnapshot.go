// Package scene is what a snapshot of a program says to a conversation: how its elements are
// named and told apart, what stands with them, what menus, choices, dates and blocks of cells
// are made of, and where one would click. It is looked at and never acts; what has to be read
// anew, or asked of the window system, is not its business.
package snapview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
)

// A Scene is a snapshot of a program in the words of a conversation: its elements by the
// references that are given there. It reads nothing anew.
type RefSnapshot struct {
	Snapshot       *desktop.Snapshot
	Refs           *refs.Table
	WithoutNewRefs bool // errors are told to nobody, so that no reference is given
}

// Ref is the reference to the snapshot's i'th element.
func (s *RefSnapshot) Ref(i int) string { return s.Refs.Ref(s.Snapshot, i) }

// UnreadElements is how many elements the snapshot leaves out.
func (s *RefSnapshot) UnreadElements() int {
	n := 0
	for i := range s.Snapshot.Elements {
		n += s.Snapshot.Elements[i].UnreadChildren
	}
	return n
}

// OutOfView are those of the elements that are only scrolled out of view.
func (s *RefSnapshot) OutOfView(matches []int) []int {
	var out []int
	for _, i := range matches {
		if s.Snapshot.IsOffscreen(i) {
			out = append(out, i)
		}
	}
	return out
}

// UnsearchedHint is a hint that names what is too much to be read, or "".
func (s *RefSnapshot) UnsearchedHint() string {
	var parts []string
	for i := range s.Snapshot.Elements {
		if e := &s.Snapshot.Elements[i]; e.UnreadChildren > 0 && s.Snapshot.IsVisible(i) && !s.WithoutNewRefs && len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("%d in %s", e.UnreadChildren, s.Name(i)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Not searched, too many to read: " + strings.Join(parts, ", ") + "; ax_scroll goes there."
}

// Name is an element for people and models: button "Save" [e12].
func (s *RefSnapshot) Name(i int) string {
	return desktop.Describe(&s.Snapshot.Elements[i]) + " [" + s.Ref(i) + "]"
}

// FilterInside leaves those that are in such an element, if some are.
func (s *RefSnapshot) FilterInside(matches []int, such func(i int) bool) []int {
	if len(matches) < 2 {
		return matches
	}
	within := func(i int) bool {
		for p := s.Snapshot.Elements[i].Parent; p >= 0; p = s.Snapshot.Elements[p].Parent {
			if such(p) {
				return true
			}
		}
		return false
	}
	if !slices.ContainsFunc(matches, within) {
		return matches
	}
	return slices.DeleteFunc(slices.Clone(matches), func(i int) bool { return !within(i) })
}

// RenamedError is the error for a reference whose element has another name than the
// caller was told. The error tells the new one, so that the caller may go on.
func (s *RefSnapshot) RenamedError(ref string, i int, told string) error {
	e := aai.Errorf(aai.StaleRef, "%s was %q and is %s now", ref, aai.CleanLabel(told, 60), desktop.Describe(&s.Snapshot.Elements[i]))
	e.Delivery = aai.NotDelivered
	e.Candidates = s.Candidates([]int{i})
	e.Hint = "If that is what you mean, call again."
	return e
}

// WithoutHiddenMenuBars leaves out what is in menu bars that nobody sees, if something else is meant too.
func (s *RefSnapshot) WithoutHiddenMenuBars(matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	left := slices.DeleteFunc(slices.Clone(matches), s.isInHiddenMenuBar)
	if len(left) == 0 {
		return matches
	}
	return left
}

// IDOf is the ID of the snapshot's i'th element; "" for -1.
func (s *RefSnapshot) IDOf(i int) desktop.ID {
	if i < 0 {
		return ""
	}
	return s.Snapshot.Elements[i].ID
}

// KeyboardWithin is which of these elements has the keyboard, or -1. A browser's hidden
// pages say that they have it too: what is in a page comes before another page, and a larger
// one before a smaller.
func (s *RefSnapshot) KeyboardWithin(begin, end int) int {
	found, all := -1, s.Snapshot.Elements
	for i := begin; i < end; i++ {
		e := &all[i]
		if !e.States.Has(desktop.Focused|desktop.Showing) || e.Role == desktop.Window || !s.Snapshot.IsVisible(i) {
			continue
		}
		if other := found >= 0 && i >= all[found].End; other && e.Role == desktop.Document {
			was := &all[found]
			if was.Role != desktop.Document || was.Frame.W*was.Frame.H > e.Frame.W*e.Frame.H {
				continue
			}
		}
		found = i
	}
	return found
}

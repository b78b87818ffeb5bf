// Package snapview presents a snapshot of a program to a conversation. A RefSnapshot names elements
// by their refs, distinguishes similar ones, finds their labels and rows, interprets menus,
// choices, dates and cells, and computes click points. It never acts, rereads the program or calls
// the window system.
package snapview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
)

// RefSnapshot is a snapshot of a program with the refs of a conversation. It never rereads the
// program.
type RefSnapshot struct {
	Snapshot       *desktop.Snapshot
	Refs           *refs.Table
	WithoutNewRefs bool // errors get no hints or candidates with refs, because the caller discards them
}

// Ref returns the ref of the snapshot's i'th element.
func (s *RefSnapshot) Ref(i int) string { return s.Refs.Ref(s.Snapshot, i) }

// UnreadElements returns how many elements the snapshot omits.
func (s *RefSnapshot) UnreadElements() int {
	n := 0
	for i := range s.Snapshot.Elements {
		n += s.Snapshot.Elements[i].UnreadChildren
	}
	return n
}

// OutOfView returns those of matches that are only scrolled out of view.
func (s *RefSnapshot) OutOfView(matches []int) []int {
	var out []int
	for _, i := range matches {
		if s.Snapshot.IsOffscreen(i) {
			out = append(out, i)
		}
	}
	return out
}

// UnsearchedHint returns a hint with the elements that have too many children to read, or "".
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

// Name formats an element for people and models: button "Save" [e12].
func (s *RefSnapshot) Name(i int) string {
	return desktop.Describe(&s.Snapshot.Elements[i]) + " [" + s.Ref(i) + "]"
}

// FilterInside keeps the matches with an ancestor for which such returns true, or all if there are none.
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

// RenamedError returns the error for a ref of an element that was renamed since the caller saw it.
// It contains the new name, so that the caller may go on.
func (s *RefSnapshot) RenamedError(ref string, i int, told string) error {
	e := aai.Errorf(aai.StaleRef, "%s was %q and is %s now", ref, aai.CleanLabel(told, 60), desktop.Describe(&s.Snapshot.Elements[i]))
	e.Delivery = aai.NotDelivered
	e.Candidates = s.Candidates([]int{i})
	e.Hint = "If you mean this element, call again."
	return e
}

// WithoutHiddenMenuBars removes matches in invisible menu bars, unless none would remain.
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

// IDOf returns the ID of the snapshot's i'th element; "" for -1.
func (s *RefSnapshot) IDOf(i int) desktop.ID {
	if i < 0 {
		return ""
	}
	return s.Snapshot.Elements[i].ID
}

// KeyboardWithin returns the element in the range with the keyboard focus, or -1. A browser's
// hidden pages report the focus too. So an element in a page takes precedence over another page,
// and a larger page over a smaller one.
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

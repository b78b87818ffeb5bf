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
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
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

// ElementView is an element as data for programs.
type ElementView struct {
	Ref      string   `json:"element_ref"`
	Role     string   `json:"role"`
	Title    string   `json:"title"`
	Value    string   `json:"value,omitempty"`
	Position []int    `json:"position,omitempty"` // x, y on the screen
	Size     []int    `json:"size,omitempty"`     // width, height
	Enabled  bool     `json:"enabled"`
	Focused  bool     `json:"focused"`
	States   []string `json:"states,omitempty"`
}

// Summarize returns an element of a snapshot, which may be newer than s, as data for programs.
func (s *RefSnapshot) Summarize(shot *desktop.Snapshot, i int) ElementView {
	e := &shot.Elements[i]
	out := ElementView{
		Ref: s.Refs.Ref(shot, i), Role: string(e.Role), Title: aai.CleanLabel(e.Name, fieldtext.MaxText), Value: (&RefSnapshot{Snapshot: shot}).shown(i),
		Enabled: e.States.Has(desktop.Enabled), Focused: e.States.Has(desktop.Focused), States: e.States.Words(),
	}
	if !e.Frame.Empty() {
		out.Position, out.Size = []int{e.Frame.X, e.Frame.Y}, []int{e.Frame.W, e.Frame.H}
	}
	return out
}

// shown returns the value of an element, for display.
func (s *RefSnapshot) shown(i int) string {
	e := s.Snapshot.Elements[i]
	e.Value = s.ValueOf(i)
	return fieldtext.DisplayValue(&e)
}

// describe formats an element in one line, with its value.
func (s *RefSnapshot) describe(i int) string {
	e := &s.Snapshot.Elements[i]
	text := s.Name(i)
	if value := s.shown(i); value != "" && (e.Value != "" || !e.States.Has(desktop.Checkable)) {
		text += fmt.Sprintf(" value %q", aai.CleanLabel(value, 200))
	}
	if !e.States.Has(desktop.Enabled) {
		text += " disabled"
	}
	if s.Snapshot.IsOffscreen(i) {
		text += " out of view"
	}
	if e.States.Has(desktop.Checkable) {
		text += map[bool]string{true: " checked", false: " unchecked"}[e.States.Has(desktop.Checked)]
	}
	return text
}

// FoundText describes the element, its containers and its row.
func (s *RefSnapshot) FoundText(i int, row string) string {
	text := s.describe(i)
	if !s.Snapshot.IsVisible(i) && !s.Snapshot.IsOffscreen(i) { // describe already contains that
		text += " out of view"
	}
	for _, part := range s.Path(i) {
		text += " in " + part
	}
	if row != "" {
		text += "; its row: " + row
	}
	return text
}

// MaxCandidates limits the elements that an error lists.
const MaxCandidates = 8

// Candidates describes elements so that a caller can choose: e12 button "Save" in dialog "Really?".
// It omits containers that all of them share.
func (s *RefSnapshot) Candidates(indexes []int) []string {
	if s.WithoutNewRefs {
		return nil
	}
	shown := indexes[:min(len(indexes), MaxCandidates)]
	paths := make(map[int][]string)
	for _, i := range shown {
		paths[i] = s.Path(i)
	}
	shared := make(map[string]int)
	for _, path := range paths {
		for _, part := range path {
			shared[part]++
		}
	}
	alike := make(map[string][]int) // elements with the same description
	texts := make(map[int]string)
	for _, i := range indexes {
		text := desktop.Describe(&s.Snapshot.Elements[i])
		for _, part := range paths[i] {
			if len(shown) == 1 || shared[part] < len(shown) {
				text += " in " + part
			}
		}
		texts[i] = text
		alike[text] = append(alike[text], i)
	}
	var out []string
	for _, i := range shown {
		text := s.Ref(i) + " " + texts[i]
		if others := alike[texts[i]]; len(others) > 1 {
			text += s.apart(i, others)
		}
		out = append(out, text)
	}
	return out
}

// apart returns a text that distinguishes an element from others with the same description: nearby
// text that none of the others has, or its position.
func (s *RefSnapshot) apart(i int, others []int) string {
	all := s.Snapshot.Elements
	of := -1 // the largest container without the others
	for p := all[i].Parent; p >= 0 && !slices.ContainsFunc(others, func(o int) bool { return o != i && p < o && o < all[p].End }); p = all[p].Parent {
		of = p
	}
	if of >= 0 {
		var words []string
		s.eachText(of, i, func(_ int, text string) bool {
			if text != all[i].Name && !slices.Contains(words, text) {
				words = append(words, text)
			}
			return len(words) < MaxCandidates
		})
		if len(words) > 0 {
			return " beside " + guierr.QuoteQuery(aai.CleanLabel(strings.Join(words, " "), 60))
		}
	}
	b := all[i].Frame
	return fmt.Sprintf(" at %d,%d", b.X, b.Y)
}

// maxPathWord is the maximum of bytes of a container's name in a path.
const maxPathWord = 40

// Path returns the named containers of an element, nearest first, at most two. It omits containers
// with the element's own name.
func (s *RefSnapshot) Path(i int) []string {
	var names []string
	for p := s.Snapshot.Elements[i].Parent; p >= 0 && len(names) < 2; p = s.Snapshot.Elements[p].Parent {
		if e := &s.Snapshot.Elements[p]; e.Name != "" && e.Role != desktop.Generic && e.Name != s.Snapshot.Elements[i].Name {
			names = append(names, string(e.Role)+" "+desktop.Quote(e.Name, maxPathWord))
		}
	}
	return names
}

package query

import (
	"regexp"
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Options restrict a search.
type Options struct {
	Hidden bool // also search elements that are not showing
	// Root is the index of the element that is searched with its descendants; -1 for the whole snapshot.
	Root int
}

// Result is the result of a query.
type Result struct {
	Strategy Strategy // the strategy that found the matches; "" without matches
	Matches  []int    // indexes of elements, in the order of the snapshot
	// HiddenMatches, if there are no matches, are hidden elements that fit the query.
	HiddenMatches []int
	// Suggestions, if there are no matches, are at most five showing elements that are most similar to the
	// query, best first.
	Suggestions []int
}

// A searchPass is one way to answer a query. A query runs its passes in order until one finds an element.
type searchPass struct {
	strategy Strategy
	// find returns all showing elements that fit; with hidden set, at least all hidden ones that fit.
	find func(f *finder, hidden bool) []int
	// definite means that the query is exact: all found elements are meant.
	definite bool
	// fuzzy means that the pass tolerates misspellings.
	fuzzy bool
	// anyRole means that the query does not mention roles, so that interactive elements take precedence
	// over labels of the same name.
	anyRole bool
}

// Find answers the query with the first of its strategies that finds an element. If this finds both
// interactive elements and labels, it drops the labels, unless the query mentions roles. It also drops an
// element inside another match with the same name, such as the text in a button. Partial and fuzzy matches do
// not count if a hidden element fits better.
func (q *Query) Find(s *desktop.Snapshot, o Options) Result {
	f := newFinder(s, o)
	var hidden []int
	for i, t := range q.passes {
		if i > 0 && t.strategy.isPartial() && t.strategy != q.passes[i-1].strategy {
			if hidden = f.hiddenMatches(q.passes[:i]); len(hidden) > 0 {
				break
			}
		}
		if matches := t.find(f, o.Hidden); len(matches) > 0 {
			return Result{Strategy: t.strategy, Matches: f.prune(matches, t)}
		}
	}
	if len(hidden) == 0 {
		hidden = f.hiddenMatches(q.passes)
	}
	return Result{HiddenMatches: hidden, Suggestions: f.nearest(q.words, q.role)}
}

// A finder searches one snapshot.
type finder struct {
	s        *desktop.Snapshot
	from, to int // the range of elements to search
	root     int
	all      bool                   // hidden elements are searched too
	visible  []bool                 // by index
	loose    map[attribute][]string // loosened attributes, by index; "" if not known yet
	// The following patterns are compiled on first use.
	ends, mnemonic *regexp.Regexp
}

func newFinder(s *desktop.Snapshot, o Options) *finder {
	f := &finder{s: s, to: len(s.Elements), root: o.Root, all: o.Hidden}
	f.visible, f.loose = s.VisibleElements(), make(map[attribute][]string)
	if o.Root >= 0 {
		f.from, f.to = min(o.Root, len(s.Elements)), 0
		if o.Root < len(s.Elements) {
			f.to = s.Elements[o.Root].End
		}
	}
	return f
}

// each returns a search that applies test to each element.
func each(test func(f *finder, i int) bool) func(*finder, bool) []int {
	return func(f *finder, hidden bool) []int {
		var matches []int
		for i := f.from; i < f.to; i++ {
			if (f.all || f.visible[i] != hidden) && test(f, i) {
				matches = append(matches, i)
			}
		}
		return matches
	}
}

func (f *finder) hiddenMatches(tries []searchPass) []int {
	if f.all {
		return nil
	}
	for _, t := range tries {
		if t.fuzzy {
			continue
		}
		matches := slices.DeleteFunc(t.find(f, true), func(i int) bool { return f.visible[i] })
		if len(matches) > 0 {
			return f.prune(matches, t)
		}
	}
	return nil
}

// prune drops redundant matches.
func (f *finder) prune(matches []int, t searchPass) []int {
	if t.definite || len(matches) < 2 {
		return matches
	}
	idle := func(i int) bool { return !f.interactive(i) }
	switch {
	case !t.anyRole:
	case slices.ContainsFunc(matches, f.interactive):
		matches = slices.DeleteFunc(slices.Clone(matches), idle)
	case slices.ContainsFunc(matches, f.isChoiceContainer):
		matches = slices.DeleteFunc(slices.Clone(matches), f.isTextOnly) // labels of the control
	}
	return f.outermost(f.withoutWrappers(matches))
}

// isChoiceContainer reports whether the element contains options to choose from.
func (f *finder) isChoiceContainer(i int) bool {
	switch f.s.Elements[i].Role {
	case desktop.List, desktop.Listbox, desktop.TreeView, desktop.Table, desktop.Grid, desktop.Radiogroup, desktop.Tablist:
		return true
	}
	return false
}

// isTextOnly reports whether the element is only text.
func (f *finder) isTextOnly(i int) bool {
	role := f.s.Elements[i].Role
	return role == desktop.Label || role == desktop.Text
}

func (f *finder) interactive(i int) bool {
	e := &f.s.Elements[i]
	return e.Role.IsInteractive() || e.States.Has(desktop.Editable) || e.Role == desktop.Generic && e.IsActionable("")
}

// outermost drops elements inside another match with the same name.
func (f *finder) outermost(matches []int) []int {
	var kept, around []int
	for _, i := range matches {
		for len(around) > 0 && f.s.Elements[around[len(around)-1]].End <= i {
			around = around[:len(around)-1]
		}
		same := func(outer int) bool { return f.looseName(outer) == f.looseName(i) }
		if !slices.ContainsFunc(around, same) {
			kept = append(kept, i)
		}
		around = append(around, i)
	}
	return kept
}

// withoutWrappers drops elements that wrap a control of the same name, and generic elements inside such a
// wrapper.
func (f *finder) withoutWrappers(matches []int) []int {
	wrappers := make(map[int]bool)
	for _, i := range matches {
		for p := f.s.Elements[i].Parent; p >= 0; p = f.s.Elements[p].Parent {
			if wraps(f.s, p, i) && f.looseName(p) == f.looseName(i) {
				wrappers[p] = true
			}
		}
	}
	if len(wrappers) == 0 {
		return matches
	}
	return slices.DeleteFunc(slices.Clone(matches), func(i int) bool {
		for p := i; p >= 0 && (p == i || f.s.Elements[i].Role == desktop.Generic); p = f.s.Elements[p].Parent {
			if wrappers[p] && f.looseName(p) == f.looseName(i) {
				return true
			}
		}
		return false
	})
}

// wraps reports whether the outer element has no function of its own: a click on the inner control reaches
// it too. In a page this does not hold for fields that consist of several controls, and for nested items.
func wraps(s *desktop.Snapshot, outer, inner int) bool {
	control, role := s.Elements[inner].Role, s.Elements[outer].Role
	switch {
	case !control.IsPressable() && (!control.IsInputOrItem() || !control.IsInteractive()):
		return false
	case role == desktop.Generic:
		return true
	case control.IsSetMember():
		return false
	case role.IsSetMember():
		return true
	}
	return s.App.IsBrowser && (role.IsPressable() || role == desktop.Link)
}

// WrappedControl returns the index of the innermost control of the same name that element i wraps. It returns i if
// the element wraps none, or several.
func WrappedControl(s *desktop.Snapshot, i int) int {
	e, found := &s.Elements[i], i
	if e.Role != desktop.Generic || e.Name == "" {
		return i
	}
	for inner := i + 1; inner < e.End; inner++ {
		if wraps(s, i, inner) && loosen(s.Elements[inner].Name) == loosen(e.Name) {
			if found != i && s.Elements[found].End <= inner {
				return i
			}
			found = inner
		}
	}
	return found
}

// loosened returns an attribute of the element in the form for NameLoose.
func (f *finder) loosened(i int, a attribute) string {
	got := a.of(&f.s.Elements[i])
	if got == "" {
		return ""
	}
	known := f.loose[a]
	if known == nil {
		known = make([]string, len(f.s.Elements))
		f.loose[a] = known
	}
	if known[i] == "" {
		known[i] = loosen(got)
	}
	return known[i]
}

func (f *finder) looseName(i int) string { return f.loosened(i, nameAttribute) }

// plainPasses returns the passes for plain words. The second is NameExact.
func plainPasses(text string, strategy Strategy) []searchPass {
	w := newSearchText(text)
	on := func(s Strategy, g matchLevel, attributes ...attribute) searchPass {
		return searchPass{strategy: s, anyRole: true, find: each(func(f *finder, i int) bool {
			return slices.ContainsFunc(attributes, func(a attribute) bool { return f.compare(i, a, w, g) })
		})}
	}
	contains := []searchPass{
		on(NameContains, wordStart, nameAttribute),
		on(NameContains, inside, nameAttribute),
		on(ValueContains, inside, valueAttribute, descriptionAttribute),
	}
	switch strategy {
	case Contains:
		return contains
	case Exact:
		return []searchPass{
			on(IdentifierExact, exact, identifierAttribute),
			on(NameExact, exact, nameAttribute),
			on(ValueExact, exact, valueAttribute, descriptionAttribute),
		}
	}
	tries := []searchPass{
		on(IdentifierExact, exact, identifierAttribute),
		on(NameExact, exact, nameAttribute),
		on(NameLoose, loose, nameAttribute),
		on(ValueExact, loose, valueAttribute, descriptionAttribute),
	}
	return append(append(tries, contains...), fuzzyPasses(w)...)
}

func identifierPasses(text string) []searchPass {
	w := newSearchText(text)
	return []searchPass{{strategy: IdentifierExact, find: each(func(f *finder, i int) bool {
		return f.compare(i, identifierAttribute, w, exact)
	})}}
}

func regexPasses(re *regexp.Regexp) []searchPass {
	return []searchPass{
		{strategy: Regex, anyRole: true, find: each(func(f *finder, i int) bool {
			return f.s.Elements[i].Name != "" && re.MatchString(f.s.Elements[i].Name)
		})},
		{strategy: Regex, anyRole: true, find: each(func(f *finder, i int) bool {
			e := &f.s.Elements[i]
			return e.Value != "" && re.MatchString(e.Value) || e.Description != "" && re.MatchString(e.Description)
		})},
	}
}

// termPasses returns the passes for a query of terms. If no term compares text there is only one.
func termPasses(t *term, strategy Strategy) []searchPass {
	wordy, roles, patterns := false, false, false
	t.walk(func(t *term) {
		wordy = wordy || t.words != nil
		roles = roles || t.role != nil
		patterns = patterns || t.pattern != nil
	})
	on := func(s Strategy, g matchLevel) searchPass {
		return searchPass{strategy: s, anyRole: !roles, find: each(func(f *finder, i int) bool { return t.matches(f, i, g) })}
	}
	switch {
	case !wordy && patterns:
		return []searchPass{on(Regex, exact)}
	case !wordy:
		return []searchPass{on(ByRole, exact)}
	case strategy == Exact:
		return []searchPass{on(TermsExact, exact)}
	}
	parts := []searchPass{on(TermsContains, wordStart), on(TermsContains, inside)}
	if strategy == Contains {
		return parts
	}
	return append([]searchPass{on(TermsExact, exact), on(TermsLoose, loose)}, parts...)
}

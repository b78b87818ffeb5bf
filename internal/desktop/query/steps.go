package query

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// find evaluates the path's steps.
func (p *path) find(f *finder, hidden bool) []int {
	n := len(f.s.Elements)
	here := make([]bool, n+1) // by index; the last entry stands for the root
	here[n] = true
	var found []int
	for _, s := range p.steps {
		found = nil
		next := make([]bool, n+1)
		f.parents(here, s.deep, func(parent int) {
			for _, i := range s.take(f, f.children(parent), hidden) {
				next[i] = true
			}
		})
		for i := f.from; i < f.to; i++ {
			if next[i] {
				found = append(found, i)
			}
		}
		here = next
	}
	for _, condition := range p.filters {
		found = condition.filter(f, found)
	}
	return found
}

// parents visits each element that the step takes children of: the marked ones, and for a deep step also
// their descendants.
func (f *finder) parents(here []bool, deep bool, visit func(int)) {
	n := len(f.s.Elements)
	within := make([]bool, n+1)
	within[n] = here[n]
	if within[n] {
		visit(n)
	}
	for i := f.from; i < f.to; i++ {
		parent := f.s.Elements[i].Parent
		if parent < 0 || i == f.from {
			parent = n
		}
		within[i] = here[i] || deep && within[parent]
		if within[i] {
			visit(i)
		}
	}
}

// children returns an element's children. For the index after the last element these are the windows, or
// the root of the search.
func (f *finder) children(i int) []int {
	switch {
	case i < len(f.s.Elements):
		return f.s.Children(i)
	case f.root >= 0 && f.from < f.to:
		return []int{f.root}
	case f.root >= 0:
		return nil
	}
	return f.s.Children(-1)
}

// take returns those of the children that match the step.
func (s *step) take(f *finder, children []int, hidden bool) []int {
	fit := children[:0]
	for _, i := range children {
		if (hidden || f.visible[i]) && (s.role == nil || s.role.matches(&f.s.Elements[i])) {
			fit = append(fit, i)
		}
	}
	for _, p := range s.predicates {
		fit = p.filter(f, fit)
	}
	return fit
}

// filter returns the elements that satisfy the predicate; a position counts among them.
func (p *predicate) filter(f *finder, elements []int) []int {
	switch p.operator {
	case "number":
		if p.number > len(elements) {
			return nil
		}
		return elements[p.number-1 : p.number]
	case "last":
		return elements[max(0, len(elements)-1):]
	}
	var fit []int
	for _, i := range elements {
		if p.matches(&f.s.Elements[i]) {
			fit = append(fit, i)
		}
	}
	return fit
}

func (p *predicate) matches(e *desktop.Element) bool {
	switch p.operator {
	case "and":
		for _, part := range p.parts {
			if !part.matches(e) {
				return false
			}
		}
		return true
	case "or":
		for _, part := range p.parts {
			if part.matches(e) {
				return true
			}
		}
		return false
	case "not":
		return !p.parts[0].matches(e)
	}
	got := p.attribute.of(e)
	switch p.operator {
	case "exists":
		return got != ""
	case "contains":
		return strings.Contains(got, p.text)
	case "starts-with":
		return strings.HasPrefix(got, p.text)
	}
	equal := got == p.text
	if p.role != nil {
		equal = p.role.matches(e)
	}
	return equal == (p.operator == "=")
}

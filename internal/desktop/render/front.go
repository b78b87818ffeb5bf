package render

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// dialogFirst returns the snapshot with the frontmost dialog before all other elements, because it must be
// answered first. The dialog's ancestors move with it.
func dialogFirst(s *desktop.Snapshot, o Options) (*desktop.Snapshot, Options) {
	dialog := inFront(s)
	if o.Root >= 0 || dialog < 0 {
		return s, o
	}
	var path []int // from the window to the dialog
	for i := dialog; i >= 0; i = s.Elements[i].Parent {
		path = append([]int{i}, path...)
	}
	order := make([]int, 0, len(s.Elements)) // old index by new index
	var rest [][]int                         // the elements behind each part of the path
	parent := -1
	for _, i := range path {
		var others []int
		for _, c := range s.Children(parent) {
			for j := c; c != i && j < s.Elements[c].End; j++ {
				others = append(others, j)
			}
		}
		order, rest, parent = append(order, i), append(rest, others), i
	}
	for j := dialog + 1; j < s.Elements[dialog].End; j++ {
		order = append(order, j)
	}
	for _, others := range slices.Backward(rest) {
		order = append(order, others...)
	}
	if slices.IsSorted(order) {
		return s, o
	}
	first := *s
	first.Elements = make([]desktop.Element, len(order))
	place := make([]int, len(order))
	for now, was := range order {
		place[was] = now
		first.Elements[now] = s.Elements[was]
	}
	for i := range first.Elements {
		e := &first.Elements[i]
		if e.End = 0; e.Parent >= 0 {
			e.Parent = place[e.Parent]
		}
	}
	desktop.SetEnds(first.Elements)
	if ref := o.Ref; ref != nil {
		o.Ref = func(i int) string { return ref(order[i]) }
	}
	return &first, o
}

// inFront returns the dialog that must be answered first, the last of several; -1 without one.
func inFront(s *desktop.Snapshot) int {
	seen := s.VisibleElements()
	for i := len(s.Elements) - 1; i >= 0; i-- {
		e := &s.Elements[i]
		if seen[i] && (e.Role == desktop.Dialog || e.Role == desktop.AlertDialog) && (e.States.Has(desktop.Modal) || e.Parent < 0 && e.States.Has(desktop.Active)) {
			return i
		}
	}
	return -1
}

package atspi

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxSorted is the maximum number of children that are put into reading order.
const maxSorted = 200

// inReadingOrder returns the children of the node in the order of the tree or, if that goes against the
// places on the screen, by rows from the top. A grid of GTK 3 lists its children the last first. Pages and
// sets have an order of their own.
func (m *elementBuilder) inReadingOrder(n *node) []*node {
	if m.habits.IsBrowser || !n.arranges() || len(n.children) > maxSorted {
		return n.children
	}
	var placed []*node
	for _, child := range n.children {
		if child.shown && !child.frame.Empty() {
			if child.word().IsSetMember() || slices.ContainsFunc(placed, func(other *node) bool { return overlaps(other.frame, child.frame) }) {
				return n.children
			}
			placed = append(placed, child)
		}
	}
	d := m.tree.directionIn(n)
	if !goesBack(placed, d) {
		return n.children
	}
	sorted := byRows(placed, d)
	children := slices.Clone(n.children)
	for i, child := range children {
		if child.shown && !child.frame.Empty() {
			children[i], sorted = sorted[0], sorted[1:]
		}
	}
	return children
}

// arranges reports whether the node is a container whose children have no order but that of their places.
func (n *node) arranges() bool {
	switch n.word() {
	case desktop.Generic, desktop.Group, desktop.Window, desktop.Dialog:
		return len(n.children) > 1
	}
	return false
}

// overlaps reports whether the frames overlap by more than neighbours do.
func overlaps(a, b desktop.Rect) bool {
	both := a.Intersect(b)
	return both.W > maxOverlap && both.H > maxOverlap
}

// directionIn returns the direction of the text in the container, as far as its fields tell it.
func (t *tree) directionIn(n *node) direction {
	d := unknownDirection
	n.walk(func(c *node) bool {
		d = c.direction
		return d == unknownDirection
	})
	return d
}

// goesBack reports whether a node is above an earlier one in the same column, or before it in the same row.
func goesBack(nodes []*node, d direction) bool {
	for i, one := range nodes {
		n := mirroredFrame(one.frame, d)
		if slices.ContainsFunc(nodes[:i], func(earlier *node) bool {
			e := mirroredFrame(earlier.frame, d)
			above := n.Y+n.H <= e.Y+maxOverlap && n.X < e.X+e.W && e.X < n.X+n.W
			return above || d != unknownDirection && gapBeside(n, e) >= 0
		}) {
			return true
		}
	}
	return false
}

// byRows returns the nodes by rows from the top, each row from its leading side. For an unknown direction
// the nodes of a row stay in the order of the tree.
func byRows(nodes []*node, d direction) []*node {
	left := slices.Clone(nodes)
	var sorted []*node
	for len(left) > 0 {
		top := slices.MinFunc(left, func(a, b *node) int { return a.frame.Y - b.frame.Y })
		var row, rest []*node
		for _, n := range left {
			overlap := min(n.frame.Y+n.frame.H, top.frame.Y+top.frame.H) - max(n.frame.Y, top.frame.Y)
			if n == top || overlap*2 >= min(n.frame.H, top.frame.H) {
				row = append(row, n)
			} else {
				rest = append(rest, n)
			}
		}
		if d != unknownDirection {
			slices.SortStableFunc(row, func(a, b *node) int { return mirroredFrame(a.frame, d).X - mirroredFrame(b.frame, d).X })
		}
		sorted, left = append(sorted, row...), rest
	}
	return sorted
}

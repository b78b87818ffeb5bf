package atspi

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestReadingOrder lists places of children and the order in which an outline shows them.
func TestReadingOrder(t *testing.T) {
	type place [4]int // left, top, width and height
	for name, c := range map[string]struct {
		direction direction
		role      roleNumber
		frames    []place
		want      []int
	}{
		"rows":                    {leftToRight, rolePanel, []place{{0, 0, 50, 20}, {60, 0, 50, 20}, {0, 30, 50, 20}}, []int{0, 1, 2}},
		"the last first":          {leftToRight, rolePanel, []place{{60, 30, 50, 20}, {0, 30, 50, 20}, {60, 0, 50, 20}, {0, 0, 50, 20}}, []int{3, 2, 1, 0}},
		"from the right":          {rightToLeft, rolePanel, []place{{0, 0, 50, 20}, {60, 0, 50, 20}}, []int{1, 0}},
		"an unknown direction":    {unknownDirection, rolePanel, []place{{60, 30, 50, 20}, {0, 30, 50, 20}, {60, 0, 50, 20}, {0, 0, 50, 20}}, []int{2, 3, 0, 1}},
		"columns":                 {leftToRight, rolePanel, []place{{0, 0, 50, 20}, {0, 30, 50, 20}, {60, 0, 50, 20}, {60, 30, 50, 20}}, []int{0, 1, 2, 3}},
		"a tall one, last":        {leftToRight, rolePanel, []place{{60, 0, 50, 20}, {60, 30, 50, 20}, {0, 0, 50, 50}}, []int{2, 0, 1}},
		"one on top of the other": {leftToRight, rolePanel, []place{{0, 30, 50, 20}, {0, 0, 50, 40}}, []int{0, 1}},
		"one without a place":     {leftToRight, rolePanel, []place{{0, 30, 50, 20}, {}, {0, 0, 50, 20}}, []int{2, 1, 0}},
		"a list":                  {leftToRight, roleListBox, []place{{0, 30, 50, 20}, {0, 0, 50, 20}}, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			parent := &node{parent: &node{parent: &node{}}, role: c.role}
			for i, f := range c.frames {
				frame := desktop.Rect{X: f[0], Y: f[1], W: f[2], H: f[3]}
				parent.children = append(parent.children, &node{parent: parent, index: i, role: roleLabel, shown: true, details: details{frame: frame, direction: c.direction}})
			}
			m := elementBuilder{tree: newTree(ref{}), habits: &profile{}}
			var got []int
			for _, child := range m.inReadingOrder(parent) {
				got = append(got, child.index)
			}
			assert.Check(t, slices.Equal(got, c.want), "the order is %v, want %v", got, c.want)
		})
	}
}

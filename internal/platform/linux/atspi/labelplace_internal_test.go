package atspi

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A placedPart is a node of a window for tests of labels by place.
type placedPart struct {
	role   roleNumber
	name   string
	frame  desktop.Rect
	states stateSet
	inside []placedPart
}

// at returns a part with the frame.
func at(role roleNumber, name string, x, y, w, h int, inside ...placedPart) placedPart {
	return placedPart{role: role, name: name, frame: desktop.Rect{X: x, Y: y, W: w, H: h}, inside: inside}
}

// expanded returns the part with the state of an open expander.
func expanded(p placedPart) placedPart {
	p.states = stateExpandable | stateExpanded
	return p
}

// named makes a window of the parts and returns the name by place of each nameless field, in the order of
// the tree.
func named(d direction, habits profile, parts ...placedPart) []string {
	window := &node{role: roleFrame, shown: true, parent: &node{}}
	var fields []*node
	var add func(parent *node, parts []placedPart)
	add = func(parent *node, parts []placedPart) {
		for _, p := range parts {
			n := &node{role: p.role, name: p.name, states: p.states, shown: true, parent: parent, details: details{frame: p.frame, direction: d}}
			parent.children = append(parent.children, n)
			if newTree(ref{}).wantsPlace(n, &habits) {
				fields = append(fields, n)
			}
			add(n, p.inside)
		}
	}
	add(window, parts)
	newTree(ref{}).nameByPlace(window, &habits)
	var names []string
	for _, field := range fields {
		names = append(names, field.labelBeside)
	}
	return names
}

// TestNameByPlace lists windows and the names of their nameless fields by place.
func TestNameByPlace(t *testing.T) {
	label := func(name string, x, y int, inside ...placedPart) placedPart {
		return at(roleLabel, name, x, y, 60, 20, inside...)
	}
	entry := func(name string, x, y int) placedPart { return at(roleEntry, name, x, y, 100, 20) }
	box := func(x, y int) placedPart { return at(roleCheckBox, "", x, y, 20, 20) }
	for name, c := range map[string]struct {
		direction direction
		parts     []placedPart
		want      []string
	}{
		"a label beside":             {leftToRight, []placedPart{label("A", 0, 0), entry("", 66, 0)}, []string{"A"}},
		"a label above":              {leftToRight, []placedPart{label("A", 0, 0), entry("", 0, 24)}, []string{"A"}},
		"a label after":              {leftToRight, []placedPart{entry("", 0, 0), label("A", 106, 0)}, []string{""}},
		"a label below":              {leftToRight, []placedPart{entry("", 0, 0), label("A", 0, 24)}, []string{""}},
		"a column":                   {unknownDirection, []placedPart{label("A", 0, 0), entry("", 66, 0), label("B", 0, 24), entry("", 66, 24)}, []string{"A", "B"}},
		"a column, fields first":     {unknownDirection, []placedPart{entry("", 66, 0), entry("", 66, 24), label("B", 0, 24), label("A", 0, 0)}, []string{"A", "B"}},
		"one above the other":        {unknownDirection, []placedPart{label("A", 0, 0), entry("", 0, 24), label("B", 0, 48), entry("", 0, 72)}, []string{"A", "B"}},
		"a row with a value":         {leftToRight, []placedPart{label("A", 0, 0), label("5", 66, 0), entry("", 132, 0), entry("", 0, 26)}, []string{"5", ""}},
		"a head of columns":          {leftToRight, []placedPart{label("A", 0, 0), label("B", 120, 0), entry("", 0, 24), entry("", 120, 24)}, []string{"A", "B"}},
		"captions below":             {unknownDirection, []placedPart{entry("", 0, 0), label("A", 0, 24), entry("", 0, 48), label("B", 0, 72)}, []string{"", ""}},
		"a row":                      {unknownDirection, []placedPart{label("A", 0, 0), entry("", 66, 0), label("B", 172, 0), entry("", 238, 0)}, []string{"A", "B"}},
		"a row from the right":       {unknownDirection, []placedPart{label("A", 238, 0), entry("", 132, 0), label("B", 66, 0), entry("", -40, 0)}, []string{"", ""}},
		"a row said from the right":  {rightToLeft, []placedPart{label("A", 238, 0), entry("", 132, 0), label("B", 66, 0), entry("", -40, 0)}, []string{"A", "B"}},
		"a label at the other side":  {rightToLeft, []placedPart{label("A", 0, 0), entry("", 66, 0)}, []string{""}},
		"between two labels":         {unknownDirection, []placedPart{label("A", 0, 0), entry("", 66, 0), label("B", 172, 0)}, []string{""}},
		"a unit after it":            {leftToRight, []placedPart{label("A", 0, 0), entry("", 66, 0), label("px", 172, 0)}, []string{"A"}},
		"two fields after it":        {leftToRight, []placedPart{label("A", 0, 0), entry("", 66, 0), entry("", 172, 0)}, []string{"A", ""}},
		"a named field between":      {leftToRight, []placedPart{label("A", 0, 0), entry("own", 66, 0), entry("", 172, 0)}, []string{""}},
		"a box before it":            {leftToRight, []placedPart{box(0, 0), label("A", 26, 0), entry("", 92, 0)}, []string{""}},
		"a box before it, near":      {leftToRight, []placedPart{box(0, 0), label("A", 40, 0), entry("", 101, 0)}, []string{""}},
		"a box far before it":        {leftToRight, []placedPart{box(0, 0), label("A", 80, 0), entry("", 146, 0)}, []string{"A"}},
		"a box in another container": {leftToRight, []placedPart{box(0, 0), at(rolePanel, "", 26, 0, 180, 20, label("A", 26, 0), entry("", 92, 0))}, []string{""}},
		"a switch before it":         {leftToRight, []placedPart{at(roleToggleButton, "", 0, 0, 40, 20), label("A", 46, 0), entry("", 112, 0)}, []string{""}},
		"a button with words":        {leftToRight, []placedPart{at(rolePushButton, "Browse", 0, 0, 70, 20), label("A", 76, 0), entry("", 142, 0)}, []string{"A"}},
		"a button without words":     {leftToRight, []placedPart{at(rolePushButton, "Browse", 0, 0, 24, 20), label("A", 30, 0), entry("", 96, 0)}, []string{""}},
		"a nameless field before":    {leftToRight, []placedPart{entry("", 0, 0), label("A", 106, 0), entry("", 172, 0)}, []string{"", ""}},
		"a box below its label":      {leftToRight, []placedPart{label("A", 0, 0), box(0, 24), entry("", 66, 40)}, []string{""}},
		"a list below it":            {leftToRight, []placedPart{label("A", 0, 0), at(roleListBox, "", 0, 22, 60, 80), entry("", 200, 0)}, []string{""}},
		"a title above the row":      {leftToRight, []placedPart{at(roleLabel, "Title", 0, 0, 200, 20), at(roleLabel, "A", 0, 26, 20, 20), entry("", 30, 26)}, []string{"A"}},
		"no box, switch or button":   {leftToRight, []placedPart{label("A", 0, 0), box(66, 0), label("B", 0, 30), at(rolePushButton, "", 66, 30, 60, 20)}, nil},
		"a slider and a combo box":   {leftToRight, []placedPart{label("A", 0, 0), at(roleComboBox, "", 66, 0, 90, 20, entry("", 66, 0)), label("B", 0, 30), at(51, "", 66, 30, 90, 20)}, []string{"A", "B"}},
		"the words of a button":      {leftToRight, []placedPart{at(rolePushButton, "A", 0, 0, 60, 20, label("A", 0, 0)), entry("", 66, 0)}, []string{""}},
		"the words on a tab":         {leftToRight, []placedPart{at(rolePageTab, "A", 0, 0, 60, 20, label("A", 0, 0)), entry("", 66, 0)}, []string{""}},
		"the page below a tab":       {leftToRight, []placedPart{at(rolePageTab, "Page", 0, 0, 60, 20, at(rolePanel, "", 0, 30, 200, 60, label("A", 0, 40), entry("", 66, 40)))}, []string{"A"}},
		"below an expander":          {leftToRight, []placedPart{at(rolePushButton, "More", 0, 0, 200, 90, label("A", 0, 40), entry("", 66, 40))}, nil},
		"below an open expander":     {leftToRight, []placedPart{expanded(at(rolePushButton, "More", 0, 0, 200, 90, label("A", 0, 40), entry("", 66, 40)))}, []string{"A"}},
		"a field in a frame":         {leftToRight, []placedPart{label("A", 0, 0), at(roleInternalFrame, "", 66, 0, 100, 20, at(roleDocumentWeb, "", 66, 0, 100, 20, entry("", 66, 0)))}, []string{""}},
		"a label in a frame":         {leftToRight, []placedPart{at(roleDocumentWeb, "", 0, 0, 60, 20, label("A", 0, 0)), entry("", 66, 0)}, []string{""}},
		"a label in another group":   {leftToRight, []placedPart{at(rolePanel, "", 0, 0, 60, 20, label("A", 0, 0)), at(rolePanel, "", 66, 0, 170, 20, entry("", 66, 0), label("px", 172, 0))}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			got := named(c.direction, profile{}, c.parts...)
			assert.Assert(t, is.Len(got, len(c.want)), "the names are %q, want %q", got, c.want)
			for i := range got {
				assert.Check(t, is.Equal(got[i], c.want[i]), "the names are %q, want %q", got, c.want)
			}
		})
	}
}

package atspi

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestEditableLabel: a container of GTK 4 that takes a text and the keyboard is a field, and others are not.
func TestEditableLabel(t *testing.T) {
	root := &node{}
	window := &node{parent: root}
	for name, c := range map[string]struct {
		n    node
		want desktop.Role
	}{
		"an editable label": {node{role: roleFiller, offers: offersEditable | offersText, states: stateFocusable}, desktop.Textbox},
		"no focus":          {node{role: roleFiller, offers: offersEditable | offersText}, desktop.Generic},
		"no text":           {node{role: roleFiller, offers: offersText, states: stateFocusable}, desktop.Generic},
		"a panel":           {node{role: rolePanel, offers: offersEditable, states: stateFocusable}, desktop.Generic},
	} {
		c.n.parent = window
		assert.Check(t, is.Equal(c.n.word(), c.want), name)
		if c.n.elementRole = c.n.word(); c.n.wordStates().Has(desktop.Editable) != (c.want == desktop.Textbox) {
			t.Errorf("%s: the states are %s", name, c.n.wordStates().Words())
		}
	}
}

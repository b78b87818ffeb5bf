package atspi

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// LibreOffice names few fields and gives few of them a label relation. A text that ends in a colon and
// stands right before a field is its visible label.

// maxAround is the maximum number of nameless ancestors between a field and the sibling of its label.
const maxAround = 3

// labelBefore returns the label before a field, or "".
func (n *node) labelBefore() string {
	if !isField(n) {
		return ""
	}
	at := n
	for range maxAround {
		up := at.parent
		if up == nil || up.parent == nil || at != n && !at.holdsOnly(n) {
			return ""
		}
		if before := at.before(); before != nil && before.role == roleLabel && strings.HasSuffix(strings.TrimSpace(before.name), ":") {
			return before.name
		}
		if up.name != "" {
			return ""
		}
		at = up
	}
	return ""
}

// before returns the nearest preceding sibling that shows, or nil.
func (n *node) before() *node {
	siblings := n.parent.children
	for i := slices.Index(siblings, n) - 1; i >= 0; i-- {
		if siblings[i].shown {
			return siblings[i]
		}
	}
	return nil
}

// holdsOnly reports whether the node contains nothing but the field and nameless buttons.
func (n *node) holdsOnly(field *node) bool {
	return n.walk(func(c *node) bool { return c == n || c == field || !c.shown || !isField(c) && c.name == "" })
}

// isField reports whether people enter a value in the node.
func isField(n *node) bool {
	switch n.word() {
	case desktop.Textbox, desktop.Searchbox, desktop.Combobox, desktop.Spinbutton:
		return true
	}
	return false
}

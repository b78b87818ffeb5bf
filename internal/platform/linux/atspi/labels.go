package atspi

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// LibreOffice gives few fields a name, and says of few what labels them. What stands right
// before them, and ends in a colon, is what people call them.

// maxAround is in how many nameless nodes a field may be that has its label before them.
const maxAround = 3

// labelBefore is that of a field, or "".
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

// before is the sibling before the node that shows, or nil.
func (n *node) before() *node {
	siblings := n.parent.children
	for i := slices.Index(siblings, n) - 1; i >= 0; i-- {
		if siblings[i].shown {
			return siblings[i]
		}
	}
	return nil
}

// holdsOnly reports whether the field is all that is in the node, but for buttons that have no
// name.
func (n *node) holdsOnly(field *node) bool {
	return n.walk(func(c *node) bool { return c == n || c == field || !c.shown || !isField(c) && c.name == "" })
}

// isField reports whether people set something in the node.
func isField(n *node) bool {
	switch n.word() {
	case desktop.Textbox, desktop.Searchbox, desktop.Combobox, desktop.Spinbutton:
		return true
	}
	return false
}

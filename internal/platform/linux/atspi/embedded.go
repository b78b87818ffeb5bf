package atspi

import (
	"slices"
	"strings"
)

// An editor in a page exposes each line but the first, and each bold word, as a separate object. Its text
// contains one placeholder character per object.

// object is the placeholder character for an object in a text.
const object = "\uFFFC"

// hasEmbeddedObjects reports whether the node is an editor with embedded objects in its text.
func (n *node) hasEmbeddedObjects() bool {
	return n.states.has(stateEditable) && n.wantsText() && strings.Contains(n.text, object)
}

// isCompositeText reports whether the node is a read-only text with embedded objects: links, and marked
// words such as emphasized or deleted ones.
func (n *node) isCompositeText() bool {
	return !n.states.has(stateEditable) && n.wantsText() && strings.Contains(n.text, object)
}

// expandedText returns the node's text with the embedded objects replaced by their texts, paragraphs on
// separate lines.
func (n *node) expandedText() string {
	objects := n.children
	if strings.Count(n.text, object) != len(objects) { // Chromium's static texts have their words in the text
		objects = slices.DeleteFunc(slices.Clone(objects), func(c *node) bool { return c.role == roleStatic && c.count <= 0 })
	}
	parts := strings.Split(n.text, object)
	if len(parts) != len(objects)+1 {
		return n.text // the objects cannot be matched with the placeholders
	}
	var lines []string
	line, open := parts[0], parts[0] != ""
	for i, o := range objects {
		text, rest := firstOf(o.expandedText(), o.name), parts[i+1]
		if inline(o.role) {
			line, open = line+text+rest, true
			continue
		}
		if open {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
		lines = append(lines, strings.TrimSuffix(text, "\n"))
		line, open = rest, rest != ""
	}
	if open {
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

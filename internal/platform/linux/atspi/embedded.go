package atspi

import (
	"slices"
	"strings"
)

// An editor of a page holds each of its lines but the first, and each bold word, as an
// object of its own. In its text a sign stands for each of them.

// object is the sign that stands in a text for an object.
const object = "\uFFFC"

// hasEmbeddedObjects reports whether the node is an editor in whose text objects stand.
func (n *node) hasEmbeddedObjects() bool {
	return n.states.has(stateEditable) && n.wantsText() && strings.Contains(n.text, object)
}

// isCompositeText reports whether the node is a text to read in which objects stand: links and words
// with a mark of their own, as emphasized and deleted ones.
func (n *node) isCompositeText() bool {
	return !n.states.has(stateEditable) && n.wantsText() && strings.Contains(n.text, object)
}

// expandedText is the node's text with that of its objects in their places, those that are
// paragraphs on lines of their own.
func (n *node) expandedText() string {
	objects := n.children
	if strings.Count(n.text, object) != len(objects) { // Chromium's static texts have their words in the text
		objects = slices.DeleteFunc(slices.Clone(objects), func(c *node) bool { return c.role == roleStatic && c.count <= 0 })
	}
	parts := strings.Split(n.text, object)
	if len(parts) != len(objects)+1 {
		return n.text // who knows which stands where
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

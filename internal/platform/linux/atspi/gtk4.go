package atspi

import "slices"

// GTK 4 gives the numbers of scroll bars, the words of tabs and the states of pages to other objects
// than the ones people see.

// isBarRange reports whether the node has the number of the scroll bar around it, as in GTK 4.
func (n *node) isBarRange() bool {
	return n.parent != nil && n.parent.role == roleScrollBar && n.parent.offers&offersValue == 0 && n.offers&offersValue != 0
}

// namedByContent reports whether the node's own name says nothing: GTK 4 calls each tab "Tab", in the
// person's language.
func (n *node) namedByContent(habits *profile) bool {
	return habits.namesClasses && n.role == rolePageTab
}

// pageTab returns the tab of a notebook's page; nil if the node is none. GTK 4 reports the pages and the
// tabs in two containers, and does not report which pages are not open.
func (n *node) pageTab() *node {
	pages := n.parent
	if n.role != rolePanel || pages.role != rolePanel || pages.parent == nil {
		return nil
	}
	for _, header := range pages.parent.children {
		if header == pages || header.role != rolePanel {
			continue
		}
		for _, list := range header.children {
			if list.role == rolePageTabList && len(list.children) == len(pages.children) {
				return list.children[slices.Index(pages.children, n)]
			}
		}
	}
	return nil
}

package atspi

import "slices"

// GTK 4 gives the numbers of scroll bars and the words of tabs to other objects than the ones people see,
// no states to the pages of notebooks, and no role to texts that can be edited in their place.

// isBarRange reports whether the node has the number of the scroll bar around it, as in GTK 4.
func (n *node) isBarRange() bool {
	return n.parent != nil && n.parent.role == roleScrollBar && n.parent.offers&offersValue == 0 && n.offers&offersValue != 0
}

// namedByContent reports whether the node's own name says nothing: GTK 4 calls each tab "Tab", in the
// person's language.
func (n *node) namedByContent(habits *profile) bool {
	return habits.namesClasses && n.role == rolePageTab
}

// isEditableLabel reports whether the node is a text that becomes a field while it is edited, as the cells of tables
// in GTK 4. It has the role of a container, and takes a text at any time.
func (n *node) isEditableLabel() bool {
	return n.role == roleFiller && n.offers&offersEditable != 0 && n.states.has(stateFocusable)
}

// pageTab returns the tab of a notebook's page; nil if the node is none. GTK 4 and Qt report the pages and
// the tabs in two containers, and GTK 4 does not report which pages are not open.
func (n *node) pageTab() *node {
	pages := n.parent
	if n.role != rolePanel && n.role != roleFiller || pages.role != rolePanel && pages.role != roleLayeredPane || pages.parent == nil {
		return nil
	}
	at := slices.Index(pages.children, n)
	for _, header := range pages.parent.children {
		for _, list := range append([]*node{header}, header.children...) {
			if list.role == rolePageTabList && header != pages && list.tabs() == len(pages.children) {
				return list.children[at]
			}
		}
	}
	return nil
}

// tabs returns the number of tabs at the beginning of a list of tabs. In Qt, buttons for scrolling follow.
func (n *node) tabs() (count int) {
	for _, child := range n.children {
		if child.role != rolePageTab {
			break
		}
		count++
	}
	return count
}

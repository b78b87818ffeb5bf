package atspi

import "github.com/gybob/aai-gateway/internal/desktop"

// clip works out, for a node that says it is to be seen and for all that is in it,
// whether it can be: what lies outside of the window, or was scrolled away, cannot.
// Nothing is held against a node whose place is not known.
func (t *tree) clip(n *node, view desktop.Rect, habits traits) {
	n.hidden = false
	if n.shown {
		n.offscreen = false
	}
	if n.shown && n.parent != t.root {
		switch {
		case n.floats():
			view = desktop.Rect{}
		case n.offers&offersComponent == 0 || !n.detailed || n.slides():
		case n.frame.Empty():
			n.hidden = t.visibleState == stateVisible // of GTK 4 it is all there is to tell by
		case !view.Empty() && n.frame.Intersect(view).Empty():
			n.hidden, n.offscreen = true, true
		}
	}
	if inside := n.frame; !inside.Empty() && habits.clips(n) && !n.slides() {
		if view.Empty() {
			view = inside
		} else if both := view.Intersect(inside); !both.Empty() {
			view = both
		}
	}
	showing := false
	for _, child := range n.children {
		t.clip(child, view, habits)
		if n.hidden && !n.frame.Empty() {
			child.hide(n.offscreen)
		}
		showing = showing || child.shown && !child.hidden
	}
	if n.hidden && n.frame.Empty() && showing {
		n.hidden = false // a container without a size of its own
	}
}

// floats reports whether the node is drawn over the window rather than in it: a
// menu, or the list of a combo box.
func (n *node) floats() bool {
	switch plainRole(n.role) {
	case desktop.Menu, desktop.Tooltip, desktop.Dialog, desktop.Alert:
		return true
	}
	return n.parent != nil && (n.parent.role == roleComboBox || n.parent.role == roleMenu)
}

// slides reports whether the node is a viewport that says that it moves with what
// it scrolls, though it is what that is seen through. One of GTK 3 does, and that it
// does not show any more after a page. What is around it clips, and shows.
func (n *node) slides() bool {
	return n.role == roleViewport && n.parent != nil && n.parent.role == roleScrollPane
}

// clips reports whether what is in the node is seen only as far as it lies within
// it. In Qt widgets never reach out of their parents, and those that were scrolled
// away still say SHOWING.
func (t traits) clips(n *node) bool {
	switch n.role {
	case roleScrollPane, roleViewport:
		return true
	}
	return t.toolkit == qt
}

func (n *node) hide(beyond bool) {
	n.hidden, n.offscreen = true, beyond && (n.shown || n.offscreen)
	for _, child := range n.children {
		child.hide(n.offscreen)
	}
}

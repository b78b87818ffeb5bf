package atspi

import "github.com/gybob/aai-gateway/internal/desktop"

// clip sets hidden on the node and its descendants if they show but lie outside of the window or are
// scrolled away. A node with an unknown position is never hidden.
func (t *tree) clip(n *node, view desktop.Rect, habits *profile) {
	n.hidden = false
	if n.shown {
		n.offscreen = false
	}
	if n.shown && n.parent != t.root {
		switch {
		case n.floats():
			view = desktop.Rect{}
			n.hidden = n.detailed && n.offers&offersComponent != 0 && n.frame.Empty() && t.visibleState == stateVisible
		case n.offers&offersComponent == 0 || !n.detailed || n.slides() || habits.IsBrowser && n.isUnseenBox():
		case n.frame.Empty() && n.role == roleTableCell && habits.hidesScrolledContent:
			n.hidden, n.offscreen = true, true // GTK 3 keeps SHOWING, and no place, in cells that it has never drawn
		case n.frame.Empty() && plainRole(n.role) == desktop.Row && habits.namesClasses:
			n.hidden, n.offscreen = true, true // a row of GTK 4's column views that was scrolled away
		case n.frame.Empty():
			n.hidden = t.visibleState == stateVisible // in GTK 4 the position is the only evidence
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
		if n.hidden && (n.offscreen || !n.frame.Empty()) {
			child.hide(n.offscreen)
		}
		showing = showing || child.shown && !child.hidden
	}
	if n.hidden && n.frame.Empty() && showing {
		n.hidden = false // a container without a size of its own
	}
}

// floats reports whether the node is drawn above the window, not inside it: a menu, or the list of a combo
// box.
func (n *node) floats() bool {
	switch plainRole(n.role) {
	case desktop.Menu, desktop.Tooltip, desktop.Dialog, desktop.Alert:
		return true
	}
	return n.parent != nil && (n.parent.role == roleComboBox || n.parent.role == roleMenu)
}

// slides reports whether the node is a viewport that wrongly reports that it moves with its content. In GTK
// 3 such a viewport also loses SHOWING after one page. Its parent clips and shows in its place.
func (n *node) slides() bool {
	return n.role == roleViewport && n.parent != nil && n.parent.role == roleScrollPane
}

// fillsPane reports whether the node is the content of a scroll area, such as a list. In GTK 3 it loses SHOWING
// when a viewport around the area is scrolled, although the area shows.
func (n *node) fillsPane() bool {
	return n.role != roleScrollBar && n.parent != nil && n.parent.role == roleScrollPane
}

// clips reports whether the node clips its descendants. In Qt, widgets never extend beyond their parents,
// and those that were scrolled away still have SHOWING.
func (p *profile) clips(n *node) bool {
	switch n.role {
	case roleScrollPane, roleViewport:
		return true
	}
	return p.clipsDescendants
}

func (n *node) hide(beyond bool) {
	n.hidden, n.offscreen = true, beyond && (n.shown || n.offscreen)
	for _, child := range n.children {
		child.hide(n.offscreen)
	}
}

package atspi

import (
	"context"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// LibreOffice lets GTK draw its menus and also exposes its own menu bars, with height 0. These repeat a
// third of its whole tree, so their menus are not read if the window has a visible menu bar.

// findUnseenBars finds the invisible menu bars among the nodes and defers reading their menus.
func (p *program) findUnseenBars(ctx context.Context, t *tree, level []*node) error {
	if !p.profile().isOffice {
		return nil
	}
	r := &batch{}
	for _, n := range level {
		if n.role != roleMenuBar || n.bar == barNeeded {
			continue
		}
		if n.bar == noBar {
			t.bars = append(t.bars, n)
		}
		n.bar = barSeen
		r.add(p.bus.requests.extentsOf(p.profile()), n.ref, func(d *wire.Decoder) {
			if frame, ok := readExtents(d); ok && sane(frame).Empty() {
				n.bar = barUnseen
			}
		})
	}
	return p.run(ctx, r)
}

// A bar says whether a node is a menu bar, and whether the bar is visible.
type bar int

const (
	noBar bar = iota
	barSeen
	barUnseen
	barNeeded // invisible, but the only one of its window
)

// neededBars returns the menus of invisible menu bars in windows without another menu bar.
func (t *tree) neededBars() (needed []*node) {
	for _, n := range t.bars {
		if n.bar != barUnseen || t.nodes[n.ref] != n {
			continue
		}
		other := false
		for _, o := range t.bars {
			other = other || o.bar == barSeen && o.window() == n.window()
		}
		if !other {
			n.bar = barNeeded
			needed = append(needed, n.children...)
		}
	}
	return needed
}

// window returns the child of the app that contains the node.
func (n *node) window() *node {
	for n.parent != nil && n.parent.parent != nil {
		n = n.parent
	}
	return n
}

package atspi

import (
	"context"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// LibreOffice has its menus drawn by GTK, and tells of its own too, with no height. What is
// in those, a third of all that it has, is the same once more, and is not read where the
// window has a menu bar that is seen.

// findUnseenBars finds the menu bars among the nodes that nobody sees: what is in their menus
// waits.
func (p *program) findUnseenBars(ctx context.Context, t *tree, level []*node) error {
	if !p.currentTraits().unlisted {
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
		r.add(p.bus.requests.extentsOf(p.currentTraits()), n.ref, func(d *wire.Decoder) {
			if frame, ok := readExtents(d); ok && sane(frame).Empty() {
				n.bar = barUnseen
			}
		})
	}
	return p.run(ctx, r)
}

// What is known of a node as a menu bar.
type bar int

const (
	noBar bar = iota
	barSeen
	barUnseen
	barNeeded // nobody sees it, but it is the only one of its window
)

// neededBars are those that nobody sees, but whose windows have no other.
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

// window is the child of the app that the node is in.
func (n *node) window() *node {
	for n.parent != nil && n.parent.parent != nil {
		n = n.parent
	}
	return n
}

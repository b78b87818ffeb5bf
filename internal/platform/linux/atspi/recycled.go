package atspi

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// same fails with STALE_REF if the object shows a different item than taken, the name that the caller
// knows. Rows of long lists are recycled: GTK 4 has about two hundred for any number of items, and
// reassigns them as people scroll.
func (p *program) same(ctx context.Context, n *node, id desktop.ID, taken string) error {
	known, ok := p.cache.Find(id)
	if !ok || !known.Role.IsSetMember() || taken == "" {
		return nil
	}
	name := n.name
	if name == "" {
		var err error
		if name, err = p.written(ctx, n); err != nil {
			return err
		}
	}
	switch name {
	case "", taken, taken + " " + taken: // GTK 4.8 doubles some names
		return nil
	}
	if n.description == taken {
		return nil
	}
	return stale(p.app, nil)
}

// written reads the node's current text.
func (p *program) written(ctx context.Context, n *node) (string, error) {
	const most = 20 // parts of a row
	row := &node{ref: n.ref, count: n.count, read: true, role: n.role, states: n.states, offers: n.offers, childrenUncertain: true}
	if n.count <= 0 || n.count > most {
		return "", nil
	}
	t := newTree(p.root)
	t.nodes[row.ref] = row
	if err := p.expand(ctx, t, []*node{row}, false); err != nil {
		return "", err
	}
	return row.content(), nil
}

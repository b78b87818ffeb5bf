package atspi

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// same fails with STALE_REF if the app shows something else by the object now than
// the caller takes it for. The rows of long lists take turns: GTK 4 has some two
// hundred for as many rows as there are, and gives them to others as people scroll.
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
	case "", taken, taken + " " + taken: // GTK 4.8 says some names twice
		return nil
	}
	if n.description == taken {
		return nil
	}
	return stale(p.app, nil)
}

// written reads what is written on the node now.
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

package atspi

import (
	"context"
	"sort"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// An item is one object in the answer of Cache.GetItems.
type item struct {
	ref, parent  ref
	index, count int
	offers       offers
	role         roleNumber
	states       stateSet
	name, about  string
}

// items queries all objects that the app lists at once. It returns none if the app lists none or must not
// be queried.
func (p *program) items(ctx context.Context) ([]item, error) {
	if p.profile().isOffice {
		return nil, nil
	}
	var items []item
	r := &batch{}
	r.add(p.bus.requests.items, ref{p.sender, cachePath}, func(d *wire.Decoder) {
		items = readItems(d, p.sender)
		for i := range items {
			items[i].role = p.effectiveRole(items[i].ref, items[i].role)
		}
	})
	return items, p.run(ctx, r)
}

// readItems reads the answer of GetItems. Each item has the object, its app, parent, index, number of
// children, interfaces, name, role, description and states.
func readItems(d *wire.Decoder, sender string) []item {
	var items []item
	var last item
	root := ""
	d.Array(8, func() {
		if len(items) == maxNodes {
			d.Skip("((so)(so)(so)iiassusau)")
			return
		}
		it := item{}
		d.Struct()
		it.ref = readRef(d, sender)
		d.Struct()
		d.StringLike(sender)
		root = d.StringLike(root)
		d.Struct()
		it.parent = ref{d.StringLike(sender), d.StringLike(last.parent.path)}
		it.index, it.count = int(d.I32()), int(d.I32())
		d.Array(4, func() { it.offers |= offer(d.Str()) })
		it.name = d.StringLike(last.name)
		it.role = roleNumber(d.U32())
		it.about = d.StringLike(last.about)
		it.states, _ = readStates(d)
		items, last = append(items, it), it
	})
	if d.Err() != nil {
		return nil
	}
	return items
}

// take sets the listed properties of the nodes.
func (t *tree) take(items []item, habits *profile) {
	for i := range items {
		it := &items[i]
		n := t.nodes[it.ref]
		if n == nil {
			n = &node{ref: it.ref}
			t.nodes[it.ref] = n
		}
		n.take(it, habits)
	}
}

// build builds the tree from the listed items, and returns the nodes whose children may be incomplete or
// out of order. It does not work for lists of lazy apps: GTK 4 omits objects between listed parents and
// descendants.
func (t *tree) build(items []item) (doubtful []*node) {
	for i := range items {
		n, parent := t.nodes[items[i].ref], t.nodes[items[i].parent]
		if n == t.root || parent == nil || n.parent != nil || n.sender != parent.sender || parent.within(n) {
			continue
		}
		n.parent = parent
		parent.children = append(parent.children, n)
	}
	for _, n := range t.nodes {
		if n.parent == nil && n != t.root {
			continue
		}
		sort.SliceStable(n.children, func(i, j int) bool { return n.children[i].index < n.children[j].index })
		if !n.complete() {
			doubtful = append(doubtful, n)
		}
	}
	t.prune()
	return doubtful
}

// take sets the listed properties of the node.
func (n *node) take(it *item, habits *profile) {
	n.index, n.count, n.offers, n.role, n.states = it.index, it.count, it.offers, it.role, it.states
	n.named(it.name, habits)
	n.description = habits.clean(it.about)
	n.read = true
}

// complete reports whether the number of children and their indexes match the app's counts.
func (n *node) complete() bool {
	if n.count != len(n.children) {
		return false
	}
	for i, child := range n.children {
		if child.index != i {
			return false
		}
	}
	return true
}

// lacks reports whether any node of the tree has fewer children than its app counts.
func (t *tree) lacks() (lacks bool) {
	t.root.walk(func(n *node) bool {
		lacks = lacks || n.count > len(n.children) && n.count <= maxChildren
		return !lacks
	})
	return lacks
}

// prune removes nodes that are not connected to the root.
func (t *tree) prune() {
	inside := make(map[ref]*node, len(t.nodes))
	t.root.walk(func(n *node) bool {
		inside[n.ref] = n
		return true
	})
	t.nodes = inside
}

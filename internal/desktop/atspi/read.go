package atspi

import (
	"context"
	"fmt"
	"sort"

	"aai/internal/dbuswire"
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

// items asks for all objects that the app lists at once. An app that lists none
// has none.
func (p *program) items(ctx context.Context) ([]item, error) {
	var items []item
	r := &round{}
	r.put(p.bus.ask.items, ref{p.sender, cachePath}, func(d *dbuswire.Decoder) { items = readItems(d, p.sender) })
	return items, p.run(ctx, r)
}

// readItems reads what GetItems answers: of each object itself, its app, its
// parent, its index, the number of its children, its interfaces, name, role,
// description and states.
func readItems(d *dbuswire.Decoder, sender string) []item {
	var items []item
	var last item
	root := ""
	d.Array(8, func() {
		it := item{}
		d.Struct()
		it.ref = readRef(d, sender)
		d.Struct()
		d.StrLike(sender)
		root = d.StrLike(root)
		d.Struct()
		it.parent = ref{d.StrLike(sender), d.StrLike(last.parent.path)}
		it.index, it.count = int(d.I32()), int(d.I32())
		d.Array(4, func() { it.offers |= offer(d.Str()) })
		it.name = d.StrLike(last.name)
		it.role = roleNumber(d.U32())
		it.about = d.StrLike(last.about)
		it.states, _ = readStates(d)
		items, last = append(items, it), it
	})
	if d.Err() != nil {
		return nil
	}
	return items
}

// readAll reads the structure of the whole app: who there is, in whom, and what
// they say of themselves. It reports whether the app is a lazy one: one that lists
// only those objects that somebody has asked for before.
func (p *program) readAll(ctx context.Context) (t *tree, lazy bool, err error) {
	items, err := p.items(ctx)
	if err != nil {
		return nil, false, err
	}
	t = newTree(p.root)
	doubtful := t.build(items, p.habits())
	if len(items) == 0 {
		doubtful = []*node{t.root}
	}
	lazy = len(items) > 0 && !p.habits().peers
	if err := p.expand(ctx, t, doubtful, lazy); err != nil {
		return nil, false, err
	}
	if lazy { // by now its list has grown
		if err := p.learn(ctx, t); err != nil {
			return nil, false, err
		}
	}
	t.judge(p.habits().windowRelative())
	return t, lazy, nil
}

// build makes the tree of what was listed, and returns the nodes whose children
// are not certain to be all there and in order.
func (t *tree) build(items []item, habits traits) (doubtful []*node) {
	for i := range items {
		it := &items[i]
		n := t.nodes[it.ref]
		if n == nil {
			n = &node{ref: it.ref}
			t.nodes[it.ref] = n
		}
		n.take(it, habits)
	}
	for i := range items {
		n, parent := t.nodes[items[i].ref], t.nodes[items[i].parent]
		if n == t.root || parent == nil || n.parent != nil || parent.within(n) {
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

// take sets what the list says of a node.
func (n *node) take(it *item, habits traits) {
	n.index, n.count, n.offers, n.role, n.states = it.index, it.count, it.offers, it.role, it.states
	n.name, n.description = habits.clean(it.name), habits.clean(it.about)
	n.read = true
}

// complete reports whether the children are as many as the app says, and each is
// where it says.
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

// prune forgets nodes that are not in the tree.
func (t *tree) prune() {
	inside := make(map[ref]*node, len(t.nodes))
	t.root.walk(func(n *node) bool {
		inside[n.ref] = n
		return true
	})
	t.nodes = inside
}

// expand asks for the children of the nodes, and of those which it finds, level by
// level. Where brief is set nothing else is asked of them.
func (p *program) expand(ctx context.Context, t *tree, level []*node, brief bool) error {
	for len(level) > 0 {
		if len(t.nodes) > maxNodes {
			t.warn(tooMany())
			return nil
		}
		r := &round{}
		for _, n := range level {
			p.askCount(r, n)
			if !n.read && !brief {
				p.askSelf(r, n)
			}
		}
		if err := p.run(ctx, r); err != nil {
			return err
		}
		next, err := p.children(ctx, t, level, brief)
		if err != nil {
			return err
		}
		level = next
	}
	return nil
}

// children asks for the children of the nodes, and what is still to be known of
// the nodes themselves. It returns those that are new.
func (p *program) children(ctx context.Context, t *tree, level []*node, brief bool) (next []*node, err error) {
	r := &round{}
	var huge []*node
	for _, n := range level {
		if n.read && !brief && n.offers == 0 {
			p.askMore(r, n)
		}
		switch {
		case n.count > maxChildren:
			huge = append(huge, n)
		case n.doubt || n.count != 0 && !n.complete() || n.count == 0 && len(n.children) > 0:
			r.put(p.bus.ask.children, n.ref, func(d *dbuswire.Decoder) {
				next = append(next, t.adopt(n, readRefs(d, p.sender))...)
			})
		}
	}
	if err := p.run(ctx, r); err != nil {
		return nil, err
	}
	for _, n := range huge {
		found, err := p.sample(ctx, t, n)
		if err != nil {
			return nil, err
		}
		next = append(next, found...)
	}
	return next, nil
}

func (p *program) askCount(r *round, n *node) {
	r.put(p.bus.ask.childCount, n.ref, func(d *dbuswire.Decoder) {
		if count, ok := readNumber(d); ok {
			n.count = int(count)
		}
	})
}

// askSelf asks what the node is.
func (p *program) askSelf(r *round, n *node) {
	habits, ask := p.habits(), p.bus.ask
	r.put(ask.name, n.ref, func(d *dbuswire.Decoder) {
		if name, ok := readText(d); ok {
			n.name = habits.clean(name)
		}
	})
	r.put(ask.role, n.ref, func(d *dbuswire.Decoder) { n.role = roleNumber(d.U32()) })
	r.put(ask.states, n.ref, func(d *dbuswire.Decoder) {
		if states, ok := readStates(d); ok {
			n.states, n.read = states, true
		}
	})
}

// askMore asks what can be done with the node and what it says of itself. What
// does not show is not asked.
func (p *program) askMore(r *round, n *node) {
	if !n.states.any(stateShowing | stateVisible) {
		return
	}
	r.put(p.bus.ask.interfaces, n.ref, func(d *dbuswire.Decoder) {
		d.Array(4, func() { n.offers |= offer(d.Str()) })
	})
	if plainRole(n.role).Interactive() {
		habits := p.habits()
		r.put(p.bus.ask.description, n.ref, func(d *dbuswire.Decoder) {
			if about, ok := readText(d); ok {
				n.description = habits.clean(about)
			}
		})
	}
}

// learn fills in the nodes that were only found, first from the list, which has
// grown by their having been asked for.
func (p *program) learn(ctx context.Context, t *tree) error {
	unknown := t.unknown()
	if len(unknown) == 0 {
		return nil
	}
	items, err := p.items(ctx)
	if err != nil {
		return err
	}
	habits := p.habits()
	for i := range items {
		if n := t.nodes[items[i].ref]; n != nil && !n.read {
			index, count := n.index, n.count
			n.take(&items[i], habits)
			n.index, n.count = index, count // they were asked for just now
		}
	}
	self, more := &round{}, &round{}
	unknown = t.unknown()
	for _, n := range unknown {
		p.askSelf(self, n)
	}
	if err := p.run(ctx, self); err != nil {
		return err
	}
	for _, n := range unknown {
		p.askMore(more, n)
	}
	return p.run(ctx, more)
}

// unknown lists the nodes of which nothing was read.
func (t *tree) unknown() (nodes []*node) {
	t.root.walk(func(n *node) bool {
		if !n.read && n != t.root {
			nodes = append(nodes, n)
		}
		return true
	})
	return nodes
}

// tooMany is the warning for an app with more elements than a snapshot holds.
func tooMany() string {
	return fmt.Sprintf("the app has more than %d elements; the rest was not read", maxNodes)
}

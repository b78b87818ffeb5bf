package atspi

import (
	"context"
	"fmt"
	"slices"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// readStructure reads the structure of the whole app: who there is, in whom, and what
// they say of themselves. It reports whether the app is a lazy one: one that lists
// only those objects that somebody has asked for before.
func (p *program) readStructure(ctx context.Context, older *tree) (t *tree, lazy bool, err error) {
	items, err := p.items(ctx)
	if err != nil {
		return nil, false, err
	}
	t = newTree(p.root)
	t.older = older
	t.take(items, p.currentTraits())
	lazy = len(items) > 0 && !p.currentTraits().peers
	doubtful := []*node{t.root}
	if len(items) > 0 && !lazy {
		doubtful = t.build(items)
	}
	if lazy && older != nil {
		if err := p.askListed(ctx, t); err != nil {
			return nil, false, err
		}
	}
	if err := p.expand(ctx, t, doubtful, lazy); err != nil {
		return nil, false, err
	}
	t.prune()
	if lazy { // by now its list has grown
		if err := p.learn(ctx, t); err != nil {
			return nil, false, err
		}
	}
	t.older = nil
	t.updateVisibility(p.currentTraits(), p.offscreen.Load())
	return t, lazy, nil
}

// expand asks for the children of the nodes, and of those which it finds, level by
// level. Where brief is set nothing else is asked of them.
func (p *program) expand(ctx context.Context, t *tree, level []*node, brief bool) error {
	for depth := 0; len(level) > 0; depth++ {
		if len(t.nodes) >= maxNodes {
			t.warn(tooManyWarning())
			return nil
		}
		if depth > maxDepth {
			t.warn(tooDeepWarning())
			return nil
		}
		r := &batch{}
		for _, n := range level {
			p.askForeignParent(r, n)
			if n.listed {
				continue
			}
			p.askCount(r, n)
			if !n.read && !brief {
				p.askSelf(r, n)
			}
			if p.ahead(t, n, len(level), brief) {
				p.askAhead(r, n)
			}
		}
		if err := p.run(ctx, r); err != nil {
			return err
		}
		next, err := p.children(ctx, t, disproved(t.dropUnconfirmedForeign(level)), brief)
		if err != nil {
			return err
		}
		if level = next; len(level) == 0 {
			level = t.neededBars()
		}
	}
	return nil
}

// fewAhead is how many nodes of a level are asked ahead: of many the most have nothing in
// them.
const fewAhead = 8

// ahead reports whether a node is asked what is in it before it has said how much that is,
// a round trip less: an app, which has some windows; what Chromium did not list, as its
// windows in waiting; and what GTK 4 lists, where it did not list that as empty. What is in
// one of those are widgets that are there, however many; all others are never asked for more
// than maxChildren.
func (p *program) ahead(t *tree, n *node, level int, brief bool) bool {
	switch habits := p.currentTraits(); {
	case n == t.root:
		return true
	case brief:
		return habits.windowRelative() && n.count != 0
	default:
		return !n.read && level <= fewAhead && habits.toolkit == chromium
	}
}

// askListed asks all that a lazy app lists, and that it showed when it was last read, what
// is in them, at once and not level by level: it wakes for each round trip. The rest of what
// it lists is left out: to be asked makes such an app list what is in that too.
func (p *program) askListed(ctx context.Context, t *tree) error {
	r := &batch{}
	for at := range t.older.nodes {
		n := t.nodes[at]
		if n == nil {
			continue
		}
		p.askCount(r, n)
		if p.ahead(t, n, len(t.nodes), true) {
			p.askAhead(r, n)
		}
		n.listed = true
	}
	return p.run(ctx, r)
}

// askAhead asks a node what is in it.
func (p *program) askAhead(r *batch, n *node) {
	r.add(p.bus.requests.children, n.ref, func(d *wire.Decoder) {
		n.inside, n.looked = readRefs(d, p.sender), d.Err() == nil
	})
}

// askForeignParent asks an object of another process, which the app says it shows, who its
// parent is.
func (p *program) askForeignParent(r *batch, n *node) {
	if n.parent != nil && n.sender != n.parent.sender {
		n.foreign = true
		p.askParent(r, n.ref, &n.host)
	}
}

// dropUnconfirmedForeign drops those objects of other processes that do not say that they are where
// they were found. An app is not to pass off another's windows as parts of its own.
func (t *tree) dropUnconfirmedForeign(level []*node) []*node {
	return slices.DeleteFunc(level, func(n *node) bool {
		if !n.foreign || n.parent == nil || n.host == n.parent.ref {
			return false
		}
		n.parent.disown(n)
		t.remove(n)
		return true
	})
}

// disproved adds the parents of those nodes that were taken for their children and
// are not there any more.
func disproved(level []*node) []*node {
	for _, n := range slices.Clone(level) {
		if n.assumed && !n.read && !n.parent.childrenUncertain {
			n.parent.childrenUncertain = true
			level = append(level, n.parent)
		}
	}
	return level
}

// children asks for the children of the nodes, and what is still to be known of
// the nodes themselves. It returns those that are new.
func (p *program) children(ctx context.Context, t *tree, level []*node, brief bool) (next []*node, err error) {
	if err := p.findUnseenBars(ctx, t, level); err != nil {
		return nil, err
	}
	r := &batch{}
	var huge []*node
	room := maxNodes - len(t.nodes)
	for _, n := range level {
		if n.read && !brief && n.offers == 0 {
			p.askMore(r, n)
		}
		switch {
		case n.count > maxChildren:
			huge = append(huge, n)
		case n.looked:
			next = append(next, t.adopt(n, n.inside)...)
			n.inside, n.looked = nil, false
		case n.parent != nil && n.parent.bar == barUnseen:
			t.adopt(n, nil)
		case p.assume(t, n):
			next = append(next, n.children...)
		case room <= 0:
			t.warn(tooManyWarning())
		case n.childrenUncertain || n.count != 0 && !n.complete() || n.count == 0 && len(n.children) > 0:
			room -= max(1, n.count-len(n.children))
			r.add(p.bus.requests.children, n.ref, func(d *wire.Decoder) {
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

// assume takes the node's children to be those of the last reading, if it is a view
// of Qt's and has as many. Asked for its children, that makes another object for
// each header, each time, and forgets none. Rows of it that are gone do not answer.
func (p *program) assume(t *tree, n *node) bool {
	if t.older == nil || n.childrenUncertain || len(n.children) > 0 || n.count < 1 || p.currentTraits().toolkit != qt {
		return false
	}
	switch n.role {
	case roleList, roleTable, roleTree, roleTreeTable:
	default:
		return false
	}
	old := t.older.nodes[n.ref]
	if old == nil || old.role != n.role || old.count != n.count || !old.complete() {
		return false
	}
	refs := make([]ref, len(old.children))
	for i, child := range old.children {
		refs[i] = child.ref
	}
	for _, child := range t.adopt(n, refs) {
		child.assumed = true
	}
	return true
}

func (p *program) askCount(r *batch, n *node) {
	r.add(p.bus.requests.childCount, n.ref, func(d *wire.Decoder) {
		if count, ok := readNumber(d); ok {
			n.count = int(count)
		}
	})
}

// askSelf asks what the node is.
func (p *program) askSelf(r *batch, n *node) {
	habits, ask := p.currentTraits(), p.bus.requests
	r.add(ask.name, n.ref, func(d *wire.Decoder) {
		if name, ok := readText(d); ok {
			n.named(name, habits)
		}
	})
	r.add(ask.role, n.ref, func(d *wire.Decoder) { n.role = p.effectiveRole(n.ref, roleNumber(d.U32())) })
	r.add(ask.states, n.ref, func(d *wire.Decoder) {
		if states, ok := readStates(d); ok {
			n.states, n.read = states, true
		}
	})
}

// askMore asks what can be done with the node and what it says of itself. What
// does not show is not asked.
func (p *program) askMore(r *batch, n *node) {
	if !n.states.any(stateShowing | stateVisible) {
		return
	}
	if p.currentTraits().peers && n.isPlain() && p.currentTraits().toolkit != gecko {
		n.offers = offersComponent // as all have that come from ATK's bridge
		if p.currentTraits().toolkit == chromium {
			n.offers |= offersAction
		}
		return
	}
	r.add(p.bus.requests.interfaces, n.ref, func(d *wire.Decoder) {
		d.Array(4, func() { n.offers |= offer(d.Str()) })
	})
	if plainRole(n.role).IsInteractive() {
		habits := p.currentTraits()
		r.add(p.bus.requests.description, n.ref, func(d *wire.Decoder) {
			if about, ok := readText(d); ok {
				n.description = habits.clean(about)
			}
		})
	}
}

// isPlain reports whether nothing can be done with the node, nor asked of it but where
// it is.
func (n *node) isPlain() bool {
	switch n.role {
	case rolePanel, roleFiller, roleSection:
	case roleLabel, roleStatic, roleParagraph, roleHeading:
		if n.name == "" {
			return false
		}
	default:
		return false
	}
	return !n.states.any(stateEditable | stateFocusable | stateSelectable)
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
	habits := p.currentTraits()
	for i := range items {
		if n := t.nodes[items[i].ref]; n != nil && !n.read {
			index, count := n.index, n.count
			n.take(&items[i], habits)
			n.index, n.count = index, count // they were asked for just now
		}
	}
	self, more := &batch{}, &batch{}
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

// tooManyWarning is the warning for an app with more elements than a snapshot holds.
func tooManyWarning() string {
	return fmt.Sprintf("the app has more than %d elements; the rest was not read", maxNodes)
}

// tooDeepWarning is the warning for an app whose elements are in each other without end.
func tooDeepWarning() string {
	return fmt.Sprintf("the app has elements that are in more than %d others; they were not read", maxDepth)
}

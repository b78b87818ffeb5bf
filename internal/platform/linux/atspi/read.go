package atspi

import (
	"context"
	"fmt"
	"slices"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// readStructure reads the structure of the whole app: the nodes, their parents and their basic properties.
// It reports whether the app is lazy: such an app lists only objects that were queried before.
func (p *program) readStructure(ctx context.Context, older *tree) (t *tree, lazy bool, err error) {
	items, err := p.items(ctx)
	if err != nil {
		return nil, false, err
	}
	t = newTree(p.root)
	t.older = older
	t.take(items, p.profile())
	lazy = len(items) > 0 && !p.profile().listsObjects
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
	if lazy { // the list has grown by now
		if err := p.learn(ctx, t); err != nil {
			return nil, false, err
		}
	}
	t.older = nil
	t.updateVisibility(p.profile(), p.offscreen.Load())
	return t, lazy, nil
}

// expand queries the children of the nodes and of their descendants, level by level. With brief it queries
// no other properties.
func (p *program) expand(ctx context.Context, t *tree, level []*node, brief bool) error {
	reads := desktop.ReadsOf(ctx)
	for depth := 0; len(level) > 0; depth++ {
		reads.AddElements(len(t.nodes))
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

// fewAhead is the maximum size of a level that is queried ahead: in larger levels most nodes have
// no children.
const fewAhead = 8

// ahead reports whether the children of a node are queried before their number is known, which saves a
// round trip. It does so for an app, which has few windows; for nodes that Chromium did not list, such as
// waiting windows; and for nodes that GTK 4 did not list as empty. Their children are existing widgets in
// any number; for all other nodes, at most maxChildren are ever requested.
func (p *program) ahead(t *tree, n *node, level int, brief bool) bool {
	switch habits := p.profile(); {
	case n == t.root:
		return true
	case brief:
		return habits.listsEmpty && n.count != 0
	default:
		return !n.read && level <= fewAhead && habits.omitsWaiting
	}
}

// askListed queries at once the children of the nodes that a lazy app lists and that showed in the last
// tree. A single round trip helps because such an app wakes for each. It skips the other listed nodes: a
// query makes the app list their children too.
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

// askAhead queries the children of a node.
func (p *program) askAhead(r *batch, n *node) {
	r.add(p.bus.requests.children, n.ref, func(d *wire.Decoder) {
		n.inside, n.looked = readRefs(d, p.sender), d.Err() == nil
	})
}

// askForeignParent queries the parent of an object of another process that the app exposes as its child.
func (p *program) askForeignParent(r *batch, n *node) {
	if n.parent != nil && n.sender != n.parent.sender {
		n.foreign = true
		p.askParent(r, n.ref, &n.host)
	}
}

// dropUnconfirmedForeign drops objects of other processes that do not confirm their parent. An app must not
// present parts of another app as its own.
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

// disproved adds to the level the parents of assumed children that no longer exist, to query them again.
func disproved(level []*node) []*node {
	for _, n := range slices.Clone(level) {
		if n.assumed && !n.read && !n.parent.childrenUncertain {
			n.parent.childrenUncertain = true
			level = append(level, n.parent)
		}
	}
	return level
}

// children queries the children of the nodes, and the missing properties of the nodes themselves. It
// returns the new nodes.
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

// assume reuses the children of the last tree, and returns true, if the node is a Qt view with the same
// number of children. At each query for children, Qt creates and leaks a new object per header. Deleted
// rows do not answer.
func (p *program) assume(t *tree, n *node) bool {
	if t.older == nil || n.childrenUncertain || len(n.children) > 0 || n.count < 1 || !p.profile().leaksHeaders {
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

// askSelf queries the basic properties of the node.
func (p *program) askSelf(r *batch, n *node) {
	habits, ask := p.profile(), p.bus.requests
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

// askMore queries the node's interfaces and further properties, if it shows.
func (p *program) askMore(r *batch, n *node) {
	if !n.states.any(stateShowing | stateVisible) {
		return
	}
	if plain := p.profile().plainInterfaces; plain != 0 && n.isPlain() {
		n.offers = plain
		return
	}
	r.add(p.bus.requests.interfaces, n.ref, func(d *wire.Decoder) {
		d.Array(4, func() { n.offers |= offer(d.Str()) })
	})
	if plainRole(n.role).IsInteractive() {
		habits := p.profile()
		r.add(p.bus.requests.description, n.ref, func(d *wire.Decoder) {
			if about, ok := readText(d); ok {
				n.description = habits.clean(about)
			}
		})
	}
}

// isPlain reports whether the node has no actions and no properties besides its frame.
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

// learn fills in the nodes that are known by reference only, first from the list, which has grown because
// they were queried.
func (p *program) learn(ctx context.Context, t *tree) error {
	unknown := t.unknown()
	if len(unknown) == 0 {
		return nil
	}
	items, err := p.items(ctx)
	if err != nil {
		return err
	}
	habits := p.profile()
	for i := range items {
		if n := t.nodes[items[i].ref]; n != nil && !n.read {
			index, count := n.index, n.count
			n.take(&items[i], habits)
			n.index, n.count = index, count // these were queried just now
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

// unknown lists the nodes that were not read.
func (t *tree) unknown() (nodes []*node) {
	t.root.walk(func(n *node) bool {
		if !n.read && n != t.root {
			nodes = append(nodes, n)
		}
		return true
	})
	return nodes
}

// tooManyWarning returns the warning for an app with more elements than a snapshot holds.
func tooManyWarning() string {
	return fmt.Sprintf("the app has more than %d elements; the rest was not read", maxNodes)
}

// tooDeepWarning returns the warning for an app with too deeply nested elements.
func tooDeepWarning() string {
	return fmt.Sprintf("the app has elements that are in more than %d others; they were not read", maxDepth)
}

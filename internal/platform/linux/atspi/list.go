package atspi

import (
	"context"
	"sort"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
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

// maxSample is the maximum number of children that are read of a node with too many.
const maxSample = 100

// sample reads the visible children of a node with very many: from its upper left corner to its lower
// right. It returns the new nodes.
func (p *program) sample(ctx context.Context, t *tree, n *node) ([]*node, error) {
	n.unread = n.count
	if !n.states.any(stateShowing) || n.offers&offersComponent == 0 && n.read && n.offers != 0 {
		return t.adopt(n, nil), nil
	}
	refs, seen, err := p.corners(ctx, n)
	if err != nil {
		return nil, err
	}
	wanted, err := p.wanted(ctx, n, seen)
	if refs = append(refs, wanted...); err != nil || len(refs) == 0 {
		return nil, err
	}
	fresh := t.adopt(n, refs)
	n.unread = n.count - len(n.children)
	return fresh, nil
}

// corners returns the children from the node's upper left to its lower right corner, and the table cells
// among them. A corner may hold a heading or a scroll bar, so several points are tried.
func (p *program) corners(ctx context.Context, n *node) ([]ref, rectangle, error) {
	var frame desktop.Rect
	r := &batch{}
	r.add(p.bus.requests.extentsOf(p.profile()), n.ref, func(d *wire.Decoder) {
		if f, ok := readExtents(d); ok {
			frame = sane(f)
		}
	})
	if err := p.run(ctx, r); err != nil || frame.Empty() {
		return nil, rectangle{}, err
	}
	const inside, past = 3, 30 // pixels: inside a border, and past a heading or a scroll bar
	left, top, right, bottom := frame.X, frame.Y, frame.X+frame.W, frame.Y+frame.H
	points := []desktop.Point{
		{X: left + inside, Y: top + inside}, {X: left + inside, Y: top + past}, {X: left + inside, Y: top + 2*past},
		{X: left + past, Y: top + past}, {X: right - inside, Y: bottom - inside}, {X: right - past, Y: bottom - inside},
		{X: right - inside, Y: bottom - past}, {X: right - past, Y: bottom - past}, {X: left + inside, Y: bottom - past},
	}
	found := make([]ref, len(points))
	r = &batch{}
	for i, at := range points {
		if !frame.Contains(at) {
			continue
		}
		q := numbers(componentInterface, "GetAccessibleAtPoint", "iiu", "(so)", int32(at.X), int32(at.Y), 0)
		r.add(q, n.ref, func(d *wire.Decoder) {
			if found[i] = readRef(d, p.sender); d.Err() != nil {
				found[i] = ref{}
			}
		})
	}
	if err := p.run(ctx, r); err != nil {
		return nil, rectangle{}, err
	}
	return p.between(ctx, n, found)
}

// between returns the node's children from the first to the last of those found, and the table cells among
// them.
func (p *program) between(ctx context.Context, n *node, found []ref) ([]ref, rectangle, error) {
	if n.offers&offersTable != 0 && p.profile().isOffice {
		cells, err := p.named(ctx, found)
		if err != nil {
			return nil, cells, err
		}
		if cells.count > 0 {
			refs, err := p.cellsOf(ctx, n, cells)
			return refs, cells, err
		}
	}
	ends := [2]int{-1, -1}
	r := &batch{}
	for _, child := range found {
		if child.none() {
			continue
		}
		r.add(p.bus.requests.index, child, func(d *wire.Decoder) {
			index := int(d.I32())
			if index < 0 || index >= n.count || d.Err() != nil {
				return
			}
			if ends[0] < 0 || index < ends[0] {
				ends[0] = index
			}
			ends[1] = max(ends[1], index)
		})
	}
	if err := p.run(ctx, r); err != nil || ends[0] < 0 {
		return nil, rectangle{}, err
	}
	indexes, seen, err := p.block(ctx, n, ends)
	if err != nil {
		return nil, seen, err
	}
	refs, err := p.at(ctx, n, indexes)
	return refs, seen, err
}

// block lists the indexes of the children between two: those in their rectangle if the node is a table,
// otherwise those in the range. Children before the cells, such as headings, shift all indexes.
func (p *program) block(ctx context.Context, n *node, ends [2]int) (wanted []int, seen rectangle, err error) {
	rows, columns := [2]int{-1, -1}, [2]int{-1, -1}
	r := &batch{}
	if n.offers&offersTable != 0 {
		for i, end := range ends {
			r.add(numbers(tableInterface, "GetRowAtIndex", "i", "i", int32(end)), n.ref, func(d *wire.Decoder) { rows[i] = int(d.I32()) })
			r.add(numbers(tableInterface, "GetColumnAtIndex", "i", "i", int32(end)), n.ref, func(d *wire.Decoder) { columns[i] = int(d.I32()) })
		}
	}
	if err := p.run(ctx, r); err != nil {
		return nil, seen, err
	}
	if rows[0] >= 0 && rows[1] > rows[0] && min(columns[0], columns[1]) >= 0 {
		first := ends[0] - columns[0] // of the row
		if width := (ends[1] - columns[1] - first) / (rows[1] - rows[0]); width > 0 {
			left, right := min(columns[0], columns[1]), max(columns[0], columns[1])
			for row := range rows[1] - rows[0] + 1 {
				for column := left; column <= right && len(wanted) < maxSample; column++ {
					wanted = append(wanted, first+row*width+column)
				}
			}
			return wanted, rectangle{rows[0], left, right - left + 1, len(wanted)}, nil
		}
	}
	for i := ends[0]; i <= ends[1] && len(wanted) < maxSample; i++ {
		wanted = append(wanted, i)
	}
	return wanted, seen, nil
}

// at returns the node's children at the indexes, with an empty ref for each missing child.
func (p *program) at(ctx context.Context, n *node, indexes []int) ([]ref, error) {
	refs := make([]ref, len(indexes))
	r := &batch{}
	for i, index := range indexes {
		r.add(numbers(accessibleInterface, "GetChildAtIndex", "i", "(so)", int32(index)), n.ref, func(d *wire.Decoder) {
			refs[i] = readRef(d, p.sender)
			if d.Err() != nil {
				refs[i] = ref{}
			}
		})
	}
	return refs, p.run(ctx, r)
}

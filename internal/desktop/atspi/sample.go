package atspi

import (
	"context"

	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// maxSample is how many of the children that are too many are read.
const maxSample = 100

// sample reads those children of a node with very many that people can see now:
// from the one in its upper left corner to the one in its lower right. It returns
// those that are new.
func (p *program) sample(ctx context.Context, t *tree, n *node) ([]*node, error) {
	n.unread = n.count
	if !n.states.any(stateShowing) || n.offers&offersComponent == 0 && n.read && n.offers != 0 {
		return t.adopt(n, nil), nil
	}
	refs, err := p.corners(ctx, n)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	fresh := t.adopt(n, refs)
	n.unread = n.count - len(n.children)
	return fresh, nil
}

// corners finds the children from the node's upper left corner to its lower right.
func (p *program) corners(ctx context.Context, n *node) ([]ref, error) {
	var frame desktop.Rect
	r := &round{}
	r.put(p.bus.ask.extentsOf(p.habits()), n.ref, func(d *dbuswire.Decoder) {
		if f, ok := readExtents(d); ok {
			frame = sane(f)
		}
	})
	if err := p.run(ctx, r); err != nil || frame.Empty() {
		return nil, err
	}
	const inside = 3 // pixels, past a border
	var ends [2]ref
	r = &round{}
	for i, at := range []desktop.Point{{X: frame.X + inside, Y: frame.Y + inside}, {X: frame.X + frame.W - inside, Y: frame.Y + frame.H - inside}} {
		q := numbers(componentInterface, "GetAccessibleAtPoint", "iiu", "(so)", int32(at.X), int32(at.Y), 0)
		r.put(q, n.ref, func(d *dbuswire.Decoder) { ends[i] = readRef(d, p.sender) })
	}
	if err := p.run(ctx, r); err != nil {
		return nil, err
	}
	return p.between(ctx, n, ends)
}

// between lists the node's children between two of them.
func (p *program) between(ctx context.Context, n *node, ends [2]ref) ([]ref, error) {
	indexes := [2]int{-1, -1}
	r := &round{}
	for i, end := range ends {
		if !end.none() {
			r.put(p.bus.ask.index, end, func(d *dbuswire.Decoder) { indexes[i] = int(d.I32()) })
		}
	}
	if err := p.run(ctx, r); err != nil {
		return nil, err
	}
	if indexes[0] < 0 {
		return nil, nil
	}
	wanted, err := p.block(ctx, n, indexes)
	if err != nil {
		return nil, err
	}
	return p.at(ctx, n, wanted)
}

// block lists the indexes of the children between two: those in their rectangle, if
// the node is a table, and else those in the row.
func (p *program) block(ctx context.Context, n *node, ends [2]int) ([]int, error) {
	rows, columns := [2]int{-1, -1}, [2]int{-1, -1}
	r := &round{}
	if n.offers&offersTable != 0 {
		for i, end := range ends {
			if end >= 0 {
				r.put(numbers(tableInterface, "GetRowAtIndex", "i", "i", int32(end)), n.ref, func(d *dbuswire.Decoder) { rows[i] = int(d.I32()) })
				r.put(numbers(tableInterface, "GetColumnAtIndex", "i", "i", int32(end)), n.ref, func(d *dbuswire.Decoder) { columns[i] = int(d.I32()) })
			}
		}
	}
	if err := p.run(ctx, r); err != nil {
		return nil, err
	}
	width := 0
	if rows[0] > 0 {
		width = (ends[0] - columns[0]) / rows[0]
	} else if rows[1] > 0 {
		width = (ends[1] - columns[1]) / rows[1]
	}
	var wanted []int
	if width > 0 && columns[0] >= 0 {
		last := [2]int{max(rows[1], rows[0]), max(columns[1], columns[0])}
		for row := rows[0]; row <= last[0]; row++ {
			for column := columns[0]; column <= last[1] && len(wanted) < maxSample; column++ {
				wanted = append(wanted, row*width+column)
			}
		}
		return wanted, nil
	}
	for i := ends[0]; i <= max(ends[0], ends[1]) && len(wanted) < maxSample; i++ {
		wanted = append(wanted, i)
	}
	return wanted, nil
}

// at returns the node's children with the indexes.
func (p *program) at(ctx context.Context, n *node, indexes []int) ([]ref, error) {
	refs := make([]ref, len(indexes))
	r := &round{}
	for i, index := range indexes {
		r.put(numbers(accessibleInterface, "GetChildAtIndex", "i", "(so)", int32(index)), n.ref, func(d *dbuswire.Decoder) {
			refs[i] = readRef(d, p.sender)
			if d.Err() != nil {
				refs[i] = ref{}
			}
		})
	}
	return refs, p.run(ctx, r)
}

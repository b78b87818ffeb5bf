package atspi

import (
	"context"
	"slices"
	"strconv"
	"time"

	"aai"
	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// gatherPatience is how long Firefox may take to gather what its pages say of themselves.
const gatherPatience = 2 * time.Second

// gathers has a program of Gecko gather what its pages say, and reports whether it has done so
// now: what was read of them before is to be asked anew. Gecko holds of each page only the kinds
// of things that somebody asked for since the program started, and answers the first who asks
// for one with nothing, while it gathers that.
func (p *program) gathers(ctx context.Context, t *tree) (now bool, err error) {
	if p.habits().toolkit != gecko || p.gathered.Load() {
		return false, nil
	}
	var parts []*node
	t.root.walk(func(n *node) bool {
		if n.parent != nil && n.parent.role == roleDocumentWeb {
			parts = append(parts, n)
		}
		return true
	})
	if len(parts) == 0 {
		return false, nil
	}
	const enough = 8
	parts = parts[:min(len(parts), enough)]
	if err := p.run(ctx, p.askAll(parts)); err != nil {
		return false, err
	}
	// What was asked for last comes last: all of a page has the attribute of its tag.
	for until := time.Now().Add(gatherPatience); len(parts) > 0 && time.Now().Before(until); {
		told := map[*node]bool{}
		r := &round{}
		for _, part := range parts {
			r.putOr(p.bus.ask.attributes, part.ref, func(d *dbuswire.Decoder) {
				d.Array(8, func() {
					d.Struct()
					_, _ = d.Str(), d.Str()
					told[part] = true
				})
			}, func(*refusal) { told[part] = true })
		}
		if err := p.run(ctx, r); err != nil {
			return false, err
		}
		parts = slices.DeleteFunc(parts, func(part *node) bool { return told[part] })
		if err := aai.Pause(ctx, 10*time.Millisecond); err != nil {
			return false, err
		}
	}
	p.gathered.Store(true)
	return true, nil
}

// askAll asks the nodes for one thing of each kind.
func (p *program) askAll(nodes []*node) *round {
	r := &round{}
	for _, n := range nodes {
		asks := []*question{p.bus.ask.name, p.bus.ask.description, p.bus.ask.states, p.bus.ask.interfaces, p.bus.ask.relations}
		if n.offers&offersComponent != 0 {
			asks = append(asks, p.bus.ask.extents)
		}
		if n.offers&offersText != 0 {
			asks = append(asks, p.bus.ask.characterCount)
		}
		if n.offers&offersValue != 0 {
			asks = append(asks, p.bus.ask.value)
		}
		if n.action() {
			asks = append(asks, p.bus.ask.actions)
		}
		for _, q := range asks {
			r.put(q, n.ref, func(*dbuswire.Decoder) {})
		}
	}
	return r
}

// inGecko mends what Gecko says of the node.
func (n *node) inGecko(window *node, e *desktop.Element) {
	if !window.states.has(stateActive) {
		e.States &^= desktop.Focused // it had that when its window was active
	}
	switch n.role {
	case roleInternalFrame:
		e.States &^= desktop.Focusable // the page in it is
	case roleLabel: // what is written in its field is part of its name
		n.walk(func(c *node) bool {
			if plainRole(c.role).Interactive() {
				e.Name = ""
			}
			return e.Name != ""
		})
	}
}

// askWritten asks for the number as it is written, after the number: Gecko says 0 of the parts
// of a date, whatever they show.
func (p *program) askWritten(r *round, n *node) {
	r.put(numbers(textInterface, "GetText", "ii", "s", 0, -1), n.ref, func(d *dbuswire.Decoder) {
		text := d.Str()
		if number, err := strconv.ParseFloat(text, 64); d.Err() == nil && err == nil {
			n.number, n.numeric = number, true
		} else {
			n.textless = n.number == 0
		}
	})
}

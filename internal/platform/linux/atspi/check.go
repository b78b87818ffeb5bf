package atspi

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// Chromium tells of most that changes in a page, but not of all: that a part has another role,
// that it is required or can be edited now, what stands in it if it is only read, that it was
// moved among its siblings, how far a number goes; that there is another page in the place of
// this one; and of its own frame, as of the button that reloads a page, next to nothing. To read
// all of it anew is six questions for each part of a page. So one question tells what shows in a
// window, in its order, and that is asked what it is.

// collectionInterface finds objects of an app in the app. ATK's bridge has it.
const collectionInterface = "org.a11y.atspi.Collection"

// matches asks an object what of all that is in it has the states, a parent before what is in
// it: a rule (states, attributes, roles, interfaces, all of them), the order, no bound, and that
// it is what is in what it has, too.
func matches(states stateSet) *request {
	const all, canonical, roleWords = 1, 1, 4
	e := wire.Encoder{}
	words := func(words ...uint32) {
		_ = e.Array(4, func() error { // which is short
			for _, word := range words {
				e.U32(word)
			}
			return nil
		})
		e.U32(all)
	}
	e.Struct()
	words(uint32(states), uint32(states>>32))
	_ = e.Array(8, func() error { return nil })
	e.U32(all)
	words(make([]uint32, roleWords)...)
	words()
	e.Bool(false)
	e.U32(canonical)
	e.U32(0)
	e.Bool(true)
	return &request{iface: collectionInterface, member: "GetMatches", signature: "(aiia{ss}iaiiasib)uib", body: e.Bytes(), reply: "a(so)"}
}

// check reads what the app does not tell of, of all that shows or is wanted. It fails with
// [treecache.ErrUnknownChanges] where something is not where it was, or of another kind.
func (p *program) check(ctx context.Context, t *tree) error {
	c := changeCheck{program: p, offscreen: p.offscreen.Load(), asked: make(map[*node]bool), showing: make(map[*node]bool)}
	r := &batch{}
	for _, window := range t.root.children {
		c.look(r, window, false)
		r.addOr(p.bus.requests.showing, window.ref, func(d *wire.Decoder) { c.shows(t, window, readRefs(d, p.sender)) }, func(*refusal) { c.other = true })
	}
	if err := p.run(ctx, r); err != nil {
		return err
	}
	r = &batch{}
	for _, n := range c.late {
		if !c.asked[n] {
			c.askAnew(r, n)
		}
	}
	if err := p.run(ctx, r); err != nil {
		return err
	}
	for _, n := range t.nodes {
		// One that says that it shows and is not among what does is no longer in the window.
		if in := n.parent; c.other || in != nil && in != t.root && n.states.has(stateShowing) && !c.showing[n] {
			return treecache.ErrUnknownChanges
		}
		if n.detailed && (n.wantsNumber() || n.wantsText() || time.Since(n.detailsAt) > detailAge) {
			n.detailed = false
		}
	}
	return nil
}

// A checkup looks after what an app does not tell of.
type changeCheck struct {
	*program
	offscreen bool // what is out of view is wanted
	asked     map[*node]bool
	showing   map[*node]bool // in its window
	late      []*node        // of those, what did not before
	other     bool           // something is of another kind than it was, or elsewhere
}

// shows takes what shows in a window, in its order.
func (c *changeCheck) shows(t *tree, window *node, order []ref) {
	for _, shown := range order {
		if n := t.nodes[shown]; n != nil {
			c.showing[n] = true
			if !n.states.has(stateShowing) {
				c.late = append(c.late, n)
			}
		}
	}
	at := 0
	window.walk(func(n *node) bool {
		if n == window || !c.showing[n] {
			return true
		}
		at++
		return at <= len(order) && order[at-1] == n.ref
	})
	c.other = at != len(order) || c.other
}

// look asks the node and what is in it, as far as it shows.
func (c *changeCheck) look(r *batch, n *node, inPage bool) {
	if n.shown || n.offscreen && c.offscreen {
		c.askAnew(r, n)
		if !inPage {
			c.askWords(r, n)
		}
	}
	for _, child := range n.children {
		c.look(r, child, inPage || n.role == roleDocumentWeb)
	}
}

// askAnew asks a node for what it may have become without telling. Where that is of another
// kind, what it offers is to be asked too.
func (c *changeCheck) askAnew(r *batch, n *node) {
	c.asked[n] = true
	r.add(c.bus.requests.states, n.ref, func(d *wire.Decoder) {
		if states, ok := readStates(d); ok && states != n.states {
			mere := n.isPlain()
			n.states = states
			n.renew()
			c.other = n.isPlain() != mere || c.other
		}
	})
	if n.role == roleStatic {
		return
	}
	r.add(c.bus.requests.role, n.ref, func(d *wire.Decoder) {
		role := c.effectiveRole(n.ref, roleNumber(d.U32()))
		c.other = d.Err() == nil && role != n.role || c.other
	})
}

// askWords asks a node, which is in no page, what it says of itself.
func (c *changeCheck) askWords(r *batch, n *node) {
	habits := c.currentTraits()
	r.add(c.bus.requests.name, n.ref, func(d *wire.Decoder) {
		if name, ok := readText(d); ok && habits.clean(name) != n.name {
			n.named(name, habits)
			n.renew()
		}
	})
	r.add(c.bus.requests.description, n.ref, func(d *wire.Decoder) {
		if about, ok := readText(d); ok {
			n.description = habits.clean(about)
		}
	})
}

// renew says that what was read of the node besides is to be read anew.
func (n *node) renew() { n.detailed, n.detailsAt = false, time.Time{} }

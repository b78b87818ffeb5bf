package atspi

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// Chromium sends no events for some changes in a page: role, required and editable states, text of
// read-only elements, order of siblings, bounds of a number. It sends none for the replacement of the page
// either. For its own frame, such as the reload button, it sends hardly any. Reading everything anew takes
// six queries per element. Therefore one query lists the showing elements of a window in order, and only
// these are queried again.

// collectionInterface searches the objects of an app inside the app. ATK's bridge implements it.
const collectionInterface = "org.a11y.atspi.Collection"

// matches returns a query for all descendants of an object that have the states, parents before children.
// Its arguments are a match rule (states, attributes, roles, interfaces, each "all of"), the sort order, no
// limit, and true for recursion.
func matches(states stateSet) *request {
	const all, canonical, roleWords = 1, 1, 4
	e := wire.Encoder{}
	words := func(words ...uint32) {
		_ = e.Array(4, func() error { // the array is short
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

// check rereads the properties that change without events, of all elements that show or are requested. It
// fails with [treecache.ErrUnknownChanges] if an element has moved or changed its kind.
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
		// A node that has SHOWING but is not in the list is no longer in the window.
		if in := n.parent; c.other || in != nil && in != t.root && n.states.has(stateShowing) && !c.showing[n] {
			return treecache.ErrUnknownChanges
		}
		if n.detailed && (n.wantsNumber() || n.wantsText() || time.Since(n.detailsAt) > detailAge) {
			n.detailed = false
		}
	}
	return nil
}

// A changeCheck checks properties for which an app sends no events.
type changeCheck struct {
	*program
	offscreen bool // off-screen elements are requested
	asked     map[*node]bool
	showing   map[*node]bool // listed in its window
	late      []*node        // listed now, but not showing before
	other     bool           // an element has moved or changed its kind
}

// shows records the showing elements of a window. It sets other if their order differs from the tree's.
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

// look queries the node and its showing descendants.
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

// askAnew queries the properties of a node that may have changed without an event. If its kind has changed,
// its interfaces must be queried too.
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

// askWords queries the name and description of a node outside of a page.
func (c *changeCheck) askWords(r *batch, n *node) {
	habits := c.profile()
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

// renew marks the node's details for rereading.
func (n *node) renew() { n.detailed, n.detailsAt = false, time.Time{} }

// caretPatience is how long to wait for a caret to arrive.
const caretPatience = 500 * time.Millisecond

// refreshText moves the caret of a text away and back. Chromium (156) does not report a text that was
// overwritten by another of the same length until its caret moves.
func (a *actor) refreshText(ctx context.Context) error {
	if !a.n.states.has(stateFocused | stateEditable) {
		return a.refuse("has no caret", "Give the keyboard to a field first.")
	}
	count, caret, err := a.textState(ctx)
	if err != nil {
		return markNotDelivered(a.p.failed(a.app, err))
	}
	if count == 0 || caret < 0 {
		return nil
	}
	aside := 0
	if caret == 0 {
		aside = count
	}
	for _, to := range []int{aside, caret} {
		if err := a.moveCaret(ctx, to); err != nil {
			return err
		}
	}
	return nil
}

// moveCaret moves the caret to a position, and waits until it is there.
func (a *actor) moveCaret(ctx context.Context, to int) error {
	e := wire.Encoder{}
	e.I32(int32(to))
	if err := a.do(ctx, &request{iface: textInterface, member: "SetCaretOffset", signature: "i", body: e.Bytes()}, a.n.ref); err != nil {
		return err
	}
	for end := time.Now().Add(caretPatience); time.Now().Before(end); {
		_, caret, err := a.textState(ctx)
		if err != nil {
			return a.p.failed(a.app, err)
		}
		if caret == to {
			return nil
		}
		if err := aai.Sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

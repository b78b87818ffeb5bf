package atspi

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Forget discards the reading of an app, but keeps its connections.
func Forget(ctx context.Context, b *Bus, app desktop.App) error {
	p, err := b.program(ctx, app)
	if err != nil {
		return err
	}
	return p.cache.Forget(ctx)
}

// AskAll returns a function that sends all queries for an element and its ancestors at once, and ignores
// the answers: the lower bound of every reading. It excludes queries that depend on answers, such as the
// name of each action.
func AskAll(ctx context.Context, b *Bus, app desktop.App, id desktop.ID) (ask func(context.Context) error, err error) {
	p, at, err := b.element(ctx, app, id)
	if err != nil {
		return nil, err
	}
	n, err := p.readOne(ctx, at)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return p.run(ctx, p.all(n)) }, nil
}

// all returns the queries for a known element and its ancestors.
func (p *program) all(n *node) *batch {
	r, known := &batch{}, *n
	known.details = details{}
	p.askSelf(r, &known)
	p.askCount(r, &known)
	p.askEverything(r, &known)
	r.add(p.bus.requests.index, n.ref, nil)
	r.add(p.bus.requests.parent, n.ref, nil)
	if n.parent != nil {
		up := *n.parent
		p.askSelf(r, &up)
		p.askEverything(r, &up)
	}
	second, t := &batch{}, newTree(p.root)
	p.askFrame(r, &known)
	p.askContent(r, second, t, &known, maxText)
	p.askDetails(r, second, t, &known)
	for i := range r.waiters {
		r.waiters[i].take = nil
	}
	return r
}

// LastWhole returns a value that identifies the last complete reading of the app.
func LastWhole(ctx context.Context, b *Bus, app desktop.App) (reading any) {
	p, err := b.program(ctx, app)
	if err == nil {
		err = p.cache.WithReading(ctx, func(t *tree) { reading = t })
	}
	if err != nil {
		return err
	}
	return reading
}

// A Raw holds the properties of one object as read, before any conversion.
type Raw struct {
	Sender, Path, Parent string
	Name, Description    string
	Role                 uint32
	States               uint64
	Showing              bool
	Frame                desktop.Rect
	Component, Numeric   bool
	Number               float64
}

// Raws returns the raw objects of the last snapshot of an app, parents first.
func Raws(ctx context.Context, b *Bus, app desktop.App) ([]Raw, error) {
	p, err := b.program(ctx, app)
	if err != nil {
		return nil, err
	}
	var raws []Raw
	err = p.cache.WithReading(ctx, func(t *tree) {
		t.root.walk(func(n *node) bool {
			if n.parent != nil {
				raws = append(raws, Raw{
					Sender: n.sender, Path: n.path, Parent: n.parent.path, Name: n.name, Description: n.description, Role: uint32(n.role),
					States: uint64(n.states), Showing: n.shown, Frame: n.frame, Component: n.offers&offersComponent != 0,
					Numeric: n.numeric, Number: n.number,
				})
			}
			return true
		})
	})
	return raws, err
}

// Sensitive reports whether an element of the role with these states can be operated, in AT-SPI's numbers.
func Sensitive(role uint32, states uint64) bool {
	return sensitive(&node{role: roleNumber(role), states: stateSet(states)})
}

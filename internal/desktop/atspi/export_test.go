package atspi

import (
	"context"

	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// Forget drops what was read of an app, but not the connections to it.
func Forget(ctx context.Context, b *Bus, app desktop.App) error {
	p, err := b.program(ctx, app)
	if err != nil {
		return err
	}
	return p.mirror.Forget(ctx)
}

// AskName asks one attribute of the app's root as barely as the wire can: the floor
// under every reading.
func AskName(ctx context.Context, b *Bus, app desktop.App) error {
	p, err := b.program(ctx, app)
	if err != nil {
		return err
	}
	r := &round{}
	r.put(b.ask.name, p.root, func(d *dbuswire.Decoder) { _, _ = readText(d) })
	return p.run(ctx, r)
}

// A Raw is what was read of one object, before anything is made of it.
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

// Raws returns what the last snapshot of an app was made of, a parent before what is
// in it.
func Raws(ctx context.Context, b *Bus, app desktop.App) ([]Raw, error) {
	p, err := b.program(ctx, app)
	if err != nil {
		return nil, err
	}
	var raws []Raw
	err = p.mirror.Reading(ctx, func(t *tree) {
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

// Sensitive reports whether people can do something with an element of the role in these
// states, by AT-SPI's numbers.
func Sensitive(role uint32, states uint64) bool {
	return sensitive(&node{role: roleNumber(role), states: stateSet(states)})
}

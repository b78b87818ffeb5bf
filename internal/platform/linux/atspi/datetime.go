package atspi

import (
	"context"
	"strconv"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// mayBeDateTime reports whether the node may be a field for a date or a time, of which Qt says
// that it is a number without bounds and always 0: what it holds is its text.
func (p *program) mayBeDateTime(n *node) bool {
	return p.currentTraits().toolkit == qt && n.role == roleSpinButton && n.offers&offersText != 0
}

// askDateTime asks for the text of a field that has no number, after its number and the bounds
// of that were asked for.
func (p *program) askDateTime(first, second *batch, n *node) {
	first.add(p.bus.requests.characterCount, n.ref, func(d *wire.Decoder) {
		count, ok := readNumber(d)
		if !ok || count < 1 || count > maxDateTime || n.min < n.max {
			return
		}
		second.add(numbers(textInterface, "GetText", "ii", "s", 0, int32(count)), n.ref, func(d *wire.Decoder) {
			text := d.Str()
			if _, err := strconv.ParseFloat(text, 64); d.Err() == nil && err != nil {
				n.text, n.numeric = text, false
			}
		})
	})
}

// maxDateTime is how many characters a date with a time has at most.
const maxDateTime = 200

// isDateTime reports whether the node is a field for a date or a time.
func (n *node) isDateTime() bool { return n.role == roleSpinButton && n.text != "" }

// isDateTime asks whether the element is a field for a date or a time; one that does not answer
// is none.
func (a *actor) isDateTime(ctx context.Context) bool {
	if !a.p.mayBeDateTime(a.n) {
		return false
	}
	first, second := &batch{}, &batch{}
	a.p.askContent(first, second, nil, a.n, maxDateTime)
	return a.p.run(ctx, first) == nil && a.p.run(ctx, second) == nil && a.n.isDateTime()
}

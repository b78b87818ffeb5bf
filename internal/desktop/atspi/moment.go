package atspi

import (
	"context"
	"strconv"

	"aai/internal/dbuswire"
)

// mayBeMoment reports whether the node may be a field for a date or a time, of which Qt says
// that it is a number without bounds and always 0: what it holds is its text.
func (p *program) mayBeMoment(n *node) bool {
	return p.habits().toolkit == qt && n.role == roleSpinButton && n.offers&offersText != 0
}

// askMoment asks for the text of a field that has no number, after its number and the bounds
// of that were asked for.
func (p *program) askMoment(first, second *round, n *node) {
	first.put(p.bus.ask.characterCount, n.ref, func(d *dbuswire.Decoder) {
		count, ok := readNumber(d)
		if !ok || count < 1 || count > maxMoment || n.min < n.max {
			return
		}
		second.put(numbers(textInterface, "GetText", "ii", "s", 0, int32(count)), n.ref, func(d *dbuswire.Decoder) {
			text := d.Str()
			if _, err := strconv.ParseFloat(text, 64); d.Err() == nil && err != nil {
				n.text, n.numeric = text, false
			}
		})
	})
}

// maxMoment is how many characters a date with a time has at most.
const maxMoment = 200

// moment reports whether the node is a field for a date or a time.
func (n *node) moment() bool { return n.role == roleSpinButton && n.text != "" }

// moment asks whether the element is a field for a date or a time; one that does not answer
// is none.
func (a *actor) moment(ctx context.Context) bool {
	if !a.p.mayBeMoment(a.n) {
		return false
	}
	first, second := &round{}, &round{}
	a.p.askContent(first, second, nil, a.n, maxMoment)
	return a.p.run(ctx, first) == nil && a.p.run(ctx, second) == nil && a.n.moment()
}

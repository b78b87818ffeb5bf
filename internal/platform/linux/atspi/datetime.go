package atspi

import (
	"context"
	"strconv"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// mayBeDateTime reports whether the node may be a field for a date or a time. Qt exposes such a field as a
// number without bounds that is always 0; its text is the value.
func (p *program) mayBeDateTime(n *node) bool {
	return p.profile().dateTimeNumbers && n.role == roleSpinButton && n.offers&offersText != 0
}

// askDateTime queries the text of a field without a number, after its number and bounds were queried.
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

// maxDateTime is the maximum length of a date with a time, in characters.
const maxDateTime = 200

// isDateTime reports whether the node is a field for a date or a time.
func (n *node) isDateTime() bool { return n.role == roleSpinButton && n.text != "" }

// isDateTime queries whether the element is a field for a date or a time. It returns false if the app does
// not answer.
func (a *actor) isDateTime(ctx context.Context) bool {
	if !a.p.mayBeDateTime(a.n) {
		return false
	}
	first, second := &batch{}, &batch{}
	a.p.askContent(first, second, nil, a.n, maxDateTime)
	return a.p.run(ctx, first) == nil && a.p.run(ctx, second) == nil && a.n.isDateTime()
}

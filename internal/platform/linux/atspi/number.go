package atspi

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// askNumber queries the node's number and its bounds.
func (p *program) askNumber(r *batch, n *node) {
	r.add(p.bus.requests.value, n.ref, func(d *wire.Decoder) {
		if v, ok := readNumber(d); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			n.number, n.numeric = v, true
			if p.profile().roundsNumbers {
				n.number = shortest(v)
			}
		}
	})
	r.add(p.bus.requests.minimum, n.ref, func(d *wire.Decoder) { n.min, _ = readNumber(d) })
	r.add(p.bus.requests.maximum, n.ref, func(d *wire.Decoder) { n.max, _ = readNumber(d) })
}

// shortest returns the number with the fewest digits that has the same 32-bit value, because Chromium
// reports 32-bit numbers: 19.99, not 19.989999771118164.
func shortest(v float64) float64 {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64); err == nil && float64(float32(v)) == v {
		return short
	}
	return v
}

// askWritten queries the written form of the number, after the number. Gecko reports 0 for the parts of a
// date, and Chromium reports numbers in 32 bits. The text of a Chromium field may be outdated after typing:
// it counts only if its 32-bit value equals the number. In a spin button of a page the text always counts,
// because there the number may be outdated.
func (p *program) askWritten(r *batch, n *node) {
	r.add(numbers(textInterface, "GetText", "ii", "s", 0, -1), n.ref, func(d *wire.Decoder) {
		text := d.Str()
		if d.Err() != nil {
			return
		}
		number, err := strconv.ParseFloat(text, 64)
		switch always := p.profile().writesAll; {
		case n.webRoles == "spinbutton" && text != "":
			n.numeric, n.figures = true, cut(text, desktop.MaxValue)
			if err == nil {
				n.number = number
			}
		case err != nil && always:
			n.textless = n.number == 0
		case err != nil:
			n.textless = text == "" && (n.number == 0 || n.number == n.min)
		case always || float32(number) == float32(n.number):
			n.number, n.numeric = number, true
			if desktop.CountDigits(text) > desktop.MaxExactDigits {
				n.figures = cut(text, desktop.MaxValue)
			}
		}
	})
}

// numberOf sets the element to the number in the text.
func (a *actor) numberOf(ctx context.Context, text string) error {
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case text == "" && a.p.profile().IsBrowser:
		return a.unsupported("cannot be emptied so", nil)
	case err != nil || math.IsNaN(number) || math.IsInf(number, 0):
		return a.refuse(fmt.Sprintf("takes a number, not %q", aai.CleanLabel(text, 60)), "Set a number, or type into it with the keyboard.")
	case desktop.CountDigits(text) > desktop.MaxExactDigits && a.p.profile().IsBrowser:
		return a.unsupported("rounds the number", nil)
	}
	return a.number(ctx, number)
}

// inexact reports whether Chromium would set a different number: it rounds long input to 32 bits. It also
// returns true for a number with too many digits.
func (a *actor) inexact(number float64) bool {
	return a.p.profile().roundsNumbers && a.n.role == roleSpinButton && a.n.states.has(stateEditable) &&
		(float64(float32(number)) != number || desktop.CountDigits(strconv.FormatFloat(number, 'f', -1, 64)) > desktop.MaxExactDigits)
}

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

package gui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// setDateTime sets a date or time, part by part.
func (v *view) setDateTime(ctx context.Context, i int, text string) (*aai.Result, error) {
	parts := v.dateTimeParts(i)
	goal, ok := v.parseDateTime(parts, text)
	if !ok && v.call.Tool == typeName { // typed as the field shows it
		goal, ok = v.inShownOrder(parts, text)
	}
	if text == "" {
		goal, ok = slices.Repeat([]float64{math.NaN()}, len(parts)), true
	}
	if !ok {
		var units []string
		for _, p := range parts {
			if p.Unit != "half" { // the hour determines the half of the day
				units = append(units, p.Unit)
			}
		}
		e := aai.Errorf(aai.InvalidParams, "%s: expected a date or time with %s for %s", v.textParam(), strings.Join(units, ", "), desktop.Describe(&v.snapshot.Elements[i]))
		e.Delivery, e.Hint = aai.NotDelivered, "Write it as 2026-03-04, 13:45, 2026-03-04T13:45, 2026-03 or 2026-W10."
		return nil, e
	}
	for n, part := range parts {
		e := &v.snapshot.Elements[part.Index]
		if part.Unit != "half" && (goal[n] < e.Min || goal[n] > e.Max) {
			e := aai.Errorf(aai.InvalidParams, "%s: expected a %s from %v to %v for %s", v.textParam(), part.Unit, e.Min, e.Max, desktop.Describe(&v.snapshot.Elements[i]))
			e.Delivery = aai.NotDelivered
			return nil, e
		}
	}
	if _, so := v.verifyDateTime(ctx, parts, goal); so {
		return v.alreadySetResult(i), nil
	}
	a := action{view: v, index: i, doneText: "Set"}
	a.techniques = []technique{v.byKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if text == "" { // the last part first: an empty part is wider and moves the later ones
			slices.Reverse(parts)
		}
		for n, part := range parts {
			if err := v.setPart(ctx, part, goal[n], input, seat, w); err != nil {
				return err
			}
		}
		return nil
	})}
	a.verify = func(ctx context.Context) (string, bool) { return v.verifyDateTime(ctx, parts, goal) }
	return a.execute(ctx)
}

// unknownParts returns the error for a field with unknown units of its parts: one typed text would
// spread over them.
func (v *view) unknownParts(i int) error {
	var parts []string
	for _, part := range v.spins(i) {
		parts = append(parts, fmt.Sprintf("%s from %v to %v", desktop.Describe(part), part.Min, part.Max))
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s has several parts, and their bounds do not identify them: %s", desktop.Describe(&v.snapshot.Elements[i]), strings.Join(parts, ", "))
	e.Delivery, e.Hint = aai.NotDelivered, "Set each of them by ax_set_value."
	return e
}

// isDateTimeText reports whether the element is a date or time field with a single text, as in Qt.
func isDateTimeText(e *desktop.Element) bool {
	return e.Role == desktop.Spinbutton && fieldtext.IsNonNumeric(e.Value)
}

// setDateTimeText sets a date or time field with a single text. The field would show a text in
// another format, too, but keep its old date.
func (v *view) setDateTimeText(ctx context.Context, i int, value string) (*aai.Result, error) {
	e := &v.snapshot.Elements[i]
	text, ok := fieldtext.FormatLike(e.Value, value)
	if !ok {
		err := aai.Errorf(aai.InvalidParams, "value: expected a date or time written as %s shows it: %s", desktop.Describe(e), aai.CleanLabel(e.Value, 60))
		err.Delivery, err.Hint = aai.NotDelivered, "Write it with the same numbers in the same order, and the same signs between them."
		return nil, err
	}
	return v.setText(ctx, i, text)
}

// partValues reads the value of each part.
func (v *view) partValues(ctx context.Context, parts []dateTimePart) ([]string, error) {
	held := make([]string, len(parts))
	for n, part := range parts {
		now, err := v.read(ctx, part.ID)
		if err != nil {
			return nil, err
		}
		held[n] = now.Value
	}
	return held, nil
}

// dateTimeValue returns the value of a date or time field, "" for an empty one; known is false if
// only some parts are filled.
func (v *view) dateTimeValue(ctx context.Context, parts []dateTimePart) (text string, known bool) {
	held, err := v.partValues(ctx, parts)
	if err != nil {
		return "", false
	}
	text = v.formatDateTime(parts, held)
	filled := false
	for n, part := range parts {
		filled = filled || !v.emptied(part, held[n])
	}
	return text, text != "" || !filled
}

// emptied reports whether a part with this value is empty. An empty part with minimum 0 reads as 0.
func (v *view) emptied(part dateTimePart, held string) bool {
	return held == "" || part.Fixed || v.snapshot.Elements[part.Index].Min == 0 && fieldtext.SameNumber(held, 0)
}

// verifyDateTime reports whether the parts have their values, or describes a wrong one.
func (v *view) verifyDateTime(ctx context.Context, parts []dateTimePart, goal []float64) (string, bool) {
	for n, part := range parts {
		now, err := v.backend.Tree.Read(ctx, v.app, part.ID)
		if err != nil {
			return "", false
		}
		switch {
		case math.IsNaN(goal[n]) && !v.emptied(part, now.Value):
			return fmt.Sprintf("its %s is %q and not empty", part.Unit, aai.CleanLabel(now.Value, 40)), false
		case !math.IsNaN(goal[n]) && !fieldtext.SameNumber(now.Value, goal[n]):
			return fmt.Sprintf("its %s is %q and not %v", part.Unit, aai.CleanLabel(now.Value, 40), goal[n]), false
		}
	}
	return "", true
}

// setPart focuses a part and types its number, empties it, or uses the arrow keys if it shows a
// word.
func (v *view) setPart(ctx context.Context, part dateTimePart, goal float64, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := v.snapshot.Elements[part.Index]
	if part.Fixed && (math.IsNaN(goal) || fieldtext.SameNumber(e.Value, goal)) {
		return nil // it takes no keys then
	}
	reach := func() error { return v.clickOrTabTo(ctx, part.Index, e.Frame.Center(), input, seat, w) }
	if err := reach(); err != nil {
		return err
	}
	if math.IsNaN(goal) {
		return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "delete"})
	}
	n, shows := numberEdit{v, e, goal, strconv.Itoa(int(goal))}, false
	for tries := 0; part.Unit != "half" && tries < 2; tries++ {
		if err := input.Type(ctx, seat, w.ID, fmt.Sprintf("%02d", int(goal))); err != nil {
			return err
		}
		now, err := n.awaitValue(ctx, e.Value, watch.PollInterval)
		if err != nil || fieldtext.SameNumber(now.Value, goal) {
			return err
		}
		shows = shows || now.Value != e.Value
		v.snapshot.Elements[part.Index].States &^= desktop.Focused // the digits may have moved the focus to the next part
		if err := reach(); err != nil {
			return err
		}
	}
	if v.app.IsBrowser && part.Unit != "half" && !shows {
		return nil // the field accepts digits without showing them while covered; an arrow would change them
	}
	return n.steps(ctx, input, seat, w, 3)
}

// A date or time field consists of parts, each a separate spin button, in the order of the user's
// language. Their bounds reveal their units.

// dateTimePart is one part of a date or time field.
type dateTimePart struct {
	Index int
	ID    desktop.ID
	Unit  string // such as "year"
	Fixed bool   // it has only one possible number
}

// dateTimeParts returns the parts of a date or time field; none for any other.
func (v *view) dateTimeParts(i int) (parts []dateTimePart) {
	spins := v.spins(i)
	for n, unit := range fieldtext.DateTimeUnits(spins) {
		e := spins[n]
		parts = append(parts, dateTimePart{v.snapshot.Index(e.ID), e.ID, unit, e.Min == e.Max})
	}
	return parts
}

// spins returns the spin buttons within a text field; nil if there are fewer than two.
func (v *view) spins(i int) (parts []*desktop.Element) {
	e := &v.snapshot.Elements[i]
	if e.Role != desktop.Textbox || e.States.Has(desktop.Editable) {
		return nil
	}
	for c := i + 1; c < e.End; c++ {
		if part := &v.snapshot.Elements[c]; part.Role == desktop.Spinbutton {
			parts = append(parts, part)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// halved reports whether one of the parts is "am" or "pm".
func halved(parts []dateTimePart) bool {
	return slices.ContainsFunc(parts, func(p dateTimePart) bool { return p.Unit == "half" })
}

// wrapsAt24 reports whether the field calls midnight 24.
func wrapsAt24(e *desktop.Element) bool { return e.Min == 1 && e.Max == 24 }

// parseDateTime returns the number that each part needs for the text; ok is false if the text does not fit the parts.
func (v *view) parseDateTime(parts []dateTimePart, text string) (goal []float64, ok bool) {
	units := fieldtext.ParseDateTime(text)
	hour, halves := units["hour"], halved(parts)
	for _, part := range parts {
		e := &v.snapshot.Elements[part.Index]
		n, known := units[part.Unit]
		switch {
		case part.Unit == "half":
			n, known = e.Min, units != nil
			if hour >= 12 {
				n = e.Max
			}
		case part.Unit != "hour":
		case halves:
			if n = math.Mod(n, 12); n == 0 && e.Max >= 12 {
				n = 12
			}
		case wrapsAt24(e) && n == 0:
			n = 24
		}
		if !known {
			return nil, false
		}
		goal = append(goal, n)
		delete(units, part.Unit)
	}
	delete(units, "second") // the field may lack these
	delete(units, "millisecond")
	delete(units, "hour")
	return goal, len(units) == 0
}

// inShownOrder returns the number that each part needs for a text with one number for each part, in the order in which
// the field shows them, such as 12/24/2026; ok is false for any other text.
func (v *view) inShownOrder(parts []dateTimePart, text string) (goal []float64, ok bool) {
	numbers := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if len(numbers) != len(parts) || halved(parts) || strings.ContainsFunc(text, unicode.IsLetter) {
		return nil, false
	}
	for n, part := range parts {
		number := fieldtext.ParseNumber(numbers[n], math.NaN())
		if part.Unit == "year" && len(numbers[n]) != 4 || math.IsNaN(number) {
			return nil, false
		}
		goal = append(goal, number)
	}
	return goal, v.formatDateTime(parts, numbers) != ""
}

// formatDateTime returns the value of a date or time field from the values of its parts, in the
// format of parseDateTime; "" if one is empty, or for a day that does not exist, such as February 31, which a page does
// not accept.
func (v *view) formatDateTime(parts []dateTimePart, held []string) string {
	units := make(map[string]float64, len(parts))
	halves := halved(parts)
	for n, part := range parts {
		number := fieldtext.ParseNumber(held[n], -1)
		if number < 0 {
			return ""
		}
		units[part.Unit] = number
		if e := &v.snapshot.Elements[part.Index]; part.Unit == "half" {
			units[part.Unit] = number - e.Min
		} else if part.Unit == "hour" && (halves && number == 12 || wrapsAt24(e) && number == 24) {
			units[part.Unit] = 0
		}
	}
	if units["half"] > 0 {
		units["hour"] += 12
	}
	text := fieldtext.FormatDateTime(units)
	if fieldtext.ParseDateTime(text) == nil {
		return ""
	}
	return text
}

package gui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// setDateTime sets a date or time, part by part.
func (v *view) setDateTime(ctx context.Context, i int, text string) (*aai.Result, error) {
	parts := v.DateTimeParts(i)
	goal, ok := v.ParseDateTime(parts, text)
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
		e := aai.Errorf(aai.InvalidParams, "value: expected a date or time with %s for %s", strings.Join(units, ", "), desktop.Describe(&v.Snapshot.Elements[i]))
		e.Delivery, e.Hint = aai.NotDelivered, "Write it as 2026-03-04, 13:45, 2026-03-04T13:45, 2026-03 or 2026-W10."
		return nil, e
	}
	for n, part := range parts {
		e := &v.Snapshot.Elements[part.Index]
		if part.Unit != "half" && (goal[n] < e.Min || goal[n] > e.Max) {
			e := aai.Errorf(aai.InvalidParams, "value: expected a %s from %v to %v for %s", part.Unit, e.Min, e.Max, desktop.Describe(&v.Snapshot.Elements[i]))
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
	for _, part := range v.Spins(i) {
		parts = append(parts, fmt.Sprintf("%s from %v to %v", desktop.Describe(part), part.Min, part.Max))
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s has several parts, and their bounds do not identify them: %s", desktop.Describe(&v.Snapshot.Elements[i]), strings.Join(parts, ", "))
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
	e := &v.Snapshot.Elements[i]
	text, ok := fieldtext.FormatLike(e.Value, value)
	if !ok {
		err := aai.Errorf(aai.InvalidParams, "value: expected a date or time written as %s shows it: %s", desktop.Describe(e), aai.CleanLabel(e.Value, 60))
		err.Delivery, err.Hint = aai.NotDelivered, "Write it with the same numbers in the same order, and the same signs between them."
		return nil, err
	}
	return v.setText(ctx, i, text)
}

// partValues reads the value of each part.
func (v *view) partValues(ctx context.Context, parts []snapview.DateTimePart) ([]string, error) {
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
func (v *view) dateTimeValue(ctx context.Context, parts []snapview.DateTimePart) (text string, known bool) {
	held, err := v.partValues(ctx, parts)
	if err != nil {
		return "", false
	}
	text = v.FormatDateTime(parts, held)
	filled := false
	for n, part := range parts {
		filled = filled || !v.emptied(part, held[n])
	}
	return text, text != "" || !filled
}

// emptied reports whether a part with this value is empty. An empty part with minimum 0 reads as 0.
func (v *view) emptied(part snapview.DateTimePart, held string) bool {
	return held == "" || part.Fixed || v.Snapshot.Elements[part.Index].Min == 0 && fieldtext.SameNumber(held, 0)
}

// verifyDateTime reports whether the parts have their values, or describes a wrong one.
func (v *view) verifyDateTime(ctx context.Context, parts []snapview.DateTimePart, goal []float64) (string, bool) {
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
func (v *view) setPart(ctx context.Context, part snapview.DateTimePart, goal float64, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := v.Snapshot.Elements[part.Index]
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
		v.Snapshot.Elements[part.Index].States &^= desktop.Focused // the digits may have moved the focus to the next part
		if err := reach(); err != nil {
			return err
		}
	}
	if v.app.IsBrowser && part.Unit != "half" && !shows {
		return nil // the field accepts digits without showing them while covered; an arrow would change them
	}
	return n.steps(ctx, input, seat, w, 3)
}

package ax

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aai"
	"aai/internal/ax/operate"
	"aai/internal/ax/scene"
	"aai/internal/ax/values"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
)

// setMoment sets a date or a time, part by part.
func (v *view) setMoment(ctx context.Context, i int, text string) (*aai.Result, error) {
	parts := v.MomentParts(i)
	goal, ok := v.MomentGoal(parts, text)
	if text == "" {
		goal, ok = slices.Repeat([]float64{math.NaN()}, len(parts)), true
	}
	if !ok {
		var units []string
		for _, p := range parts {
			if p.Unit != "half" { // of the day, which the hour says
				units = append(units, p.Unit)
			}
		}
		e := aai.Errorf(aai.InvalidParams, "value: expected a date or time with %s for %s", strings.Join(units, ", "), desktop.Describe(&v.Shot.Elements[i]))
		e.Delivery, e.Hint = aai.NotDelivered, "Write it as 2026-03-04, 13:45, 2026-03-04T13:45, 2026-03 or 2026-W10."
		return nil, e
	}
	for n, part := range parts {
		e := &v.Shot.Elements[part.Index]
		if part.Unit != "half" && (goal[n] < e.Min || goal[n] > e.Max) {
			e := aai.Errorf(aai.InvalidParams, "value: expected a %s from %v to %v for %s", part.Unit, e.Min, e.Max, desktop.Describe(&v.Shot.Elements[i]))
			e.Delivery = aai.NotDelivered
			return nil, e
		}
	}
	if _, so := v.momentIs(ctx, parts, goal); so {
		return v.already(i), nil
	}
	a := operate.Deed{View: v.View, Index: i, Done: "Set"}
	a.Ways = []operate.Way{v.ByKeys(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if text == "" { // the last one first: an empty part is wider, and those after it stand elsewhere
			slices.Reverse(parts)
		}
		for n, part := range parts {
			if err := v.setPart(ctx, part, goal[n], input, seat, w); err != nil {
				return err
			}
		}
		return nil
	})}
	a.Verify = func(ctx context.Context) (string, bool) { return v.momentIs(ctx, parts, goal) }
	return a.Perform(ctx)
}

// unknownParts is the error of a field of which nobody knows what its parts count: what is typed
// into it as one text would be spread over them.
func (v *view) unknownParts(i int) error {
	var parts []string
	for _, part := range v.Spins(i) {
		parts = append(parts, fmt.Sprintf("%s from %v to %v", desktop.Describe(part), part.Min, part.Max))
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s is made of parts, and their bounds do not say what they count: %s", desktop.Describe(&v.Shot.Elements[i]), strings.Join(parts, ", "))
	e.Delivery, e.Hint = aai.NotDelivered, "Set each of them by ax_set_value."
	return e
}

// written reports whether the element is a field for a date or a time that shows it as one
// text, as Qt's do.
func written(e *desktop.Element) bool {
	return e.Role == desktop.Spinbutton && values.Worded(e.Value)
}

// setWritten sets a date or a time that is one text. The field would show any other too, and
// keep the date that it has.
func (v *view) setWritten(ctx context.Context, i int, value string) (*aai.Result, error) {
	e := &v.Shot.Elements[i]
	text, ok := values.AsWritten(e.Value, value)
	if !ok {
		err := aai.Errorf(aai.InvalidParams, "value: expected a date or time written as %s shows it: %s", desktop.Describe(e), aai.CleanLabel(e.Value, 60))
		err.Delivery, err.Hint = aai.NotDelivered, "Write it with the same numbers in the same order, and the same signs between them."
		return nil, err
	}
	return v.setText(ctx, i, text)
}

// heldByParts reads what each of the parts holds.
func (v *view) heldByParts(ctx context.Context, parts []scene.MomentPart) ([]string, error) {
	held := make([]string, len(parts))
	for n, part := range parts {
		now, err := v.Read(ctx, part.ID)
		if err != nil {
			return nil, err
		}
		held[n] = now.Value
	}
	return held, nil
}

// moment is what a field for a date or a time holds, "" for nothing; it is not known of one
// of which only some parts are filled.
func (v *view) moment(ctx context.Context, parts []scene.MomentPart) (text string, known bool) {
	held, err := v.heldByParts(ctx, parts)
	if err != nil {
		return "", false
	}
	text = v.MomentText(parts, held)
	filled := false
	for n, part := range parts {
		filled = filled || !v.emptied(part, held[n])
	}
	return text, text != "" || !filled
}

// emptied reports whether nothing is in a part that holds this. One whose least number is 0
// says 0 then.
func (v *view) emptied(part scene.MomentPart, held string) bool {
	return held == "" || part.Fixed || v.Shot.Elements[part.Index].Min == 0 && values.SameNumber(held, 0)
}

// momentIs reports whether the parts are what they are to be, or says which is not.
func (v *view) momentIs(ctx context.Context, parts []scene.MomentPart, goal []float64) (string, bool) {
	for n, part := range parts {
		now, err := v.Backend.Tree.Read(ctx, v.App, part.ID)
		if err != nil {
			return "", false
		}
		switch {
		case math.IsNaN(goal[n]) && !v.emptied(part, now.Value):
			return fmt.Sprintf("its %s is %q and not empty", part.Unit, aai.CleanLabel(now.Value, 40)), false
		case !math.IsNaN(goal[n]) && !values.SameNumber(now.Value, goal[n]):
			return fmt.Sprintf("its %s is %q and not %v", part.Unit, aai.CleanLabel(now.Value, 40), goal[n]), false
		}
	}
	return "", true
}

// setPart clicks a part and types its number, empties it, or goes there by the arrow keys where it
// shows a word.
func (v *view) setPart(ctx context.Context, part scene.MomentPart, goal float64, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := v.Shot.Elements[part.Index]
	if part.Fixed && (math.IsNaN(goal) || values.SameNumber(e.Value, goal)) {
		return nil // it takes no keys then
	}
	reach := func() error { return v.Reach(ctx, part.Index, e.Frame.Center(), input, seat, w) }
	if err := reach(); err != nil {
		return err
	}
	if math.IsNaN(goal) {
		return input.Key(ctx, seat, w.ID, desktop.Chord{Key: "delete"})
	}
	n, shows := numbering{v, e, goal, strconv.Itoa(int(goal))}, false
	for tries := 0; part.Unit != "half" && tries < 2; tries++ {
		if err := input.Type(ctx, seat, w.ID, fmt.Sprintf("%02d", int(goal))); err != nil {
			return err
		}
		now, err := n.settles(ctx, e.Value, watch.LookAgain)
		if err != nil || values.SameNumber(now.Value, goal) {
			return err
		}
		shows = shows || now.Value != e.Value
		v.Shot.Elements[part.Index].States &^= desktop.Focused // the digits may have led on to the next part
		if err := reach(); err != nil {
			return err
		}
	}
	if v.App.Browser && part.Unit != "half" && !shows {
		return nil // it takes digits, and shows nothing while it is covered; an arrow would spoil what it took
	}
	return n.steps(ctx, input, seat, w, 3)
}

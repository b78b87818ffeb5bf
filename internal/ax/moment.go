package ax

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
)

// A field for a date or a time is made of parts, each a spin button of its own, in the
// person's order and language. What they are is told by their bounds.

// A momentPart is one of them.
type momentPart struct {
	index int
	id    desktop.ID
	unit  string // such as "year"
}

// momentParts are the parts of a field for a date or a time; none of any other.
func (v *view) momentParts(i int) (parts []momentPart) {
	e := &v.shot.Elements[i]
	if e.Role != desktop.Textbox || e.States.Has(desktop.Editable) {
		return nil
	}
	seen := make(map[string]bool)
	for c := i + 1; c < e.End; c++ {
		part := &v.shot.Elements[c]
		if part.Role != desktop.Spinbutton {
			continue
		}
		unit := unitOf(part, seen)
		if unit == "" || seen[unit] {
			return nil
		}
		seen[unit] = true
		parts = append(parts, momentPart{c, part.ID, unit})
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// unitOf says what a part counts, by its greatest number and what stands before it.
func unitOf(e *desktop.Element, before map[string]bool) string {
	switch {
	case e.Max >= 9999:
		return "year"
	case e.Max == 999:
		return "millisecond"
	case e.Max == 59 && before["minute"]:
		return "second"
	case e.Max == 59:
		return "minute"
	case e.Max == 52, e.Max == 53:
		return "week"
	case e.Max >= 28 && e.Max <= 31:
		return "day"
	case e.Max == 23, e.Max == 24, e.Max == 11, e.Max == 12 && (before["year"] || before["month"]):
		return "hour"
	case e.Max == 12:
		return "month" // or the hour of a time, which has no year
	case e.Max == 2, e.Max == 1:
		return "half"
	}
	return ""
}

// momentLayouts are the ways to write a moment, as HTML has them.
func momentLayouts() []string {
	return []string{"2006-01-02", "15:04", "15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01"}
}

// readMoment returns the numbers of the units that a text names.
func readMoment(text string) map[string]float64 {
	text = strings.TrimSpace(text)
	var year, week int
	if n, err := fmt.Sscanf(text, "%d-W%d", &year, &week); n == 2 && err == nil {
		return map[string]float64{"year": float64(year), "week": float64(week)}
	}
	for _, layout := range momentLayouts() {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		units := make(map[string]float64)
		if strings.Contains(layout, "2006") {
			units["year"], units["month"] = float64(t.Year()), float64(t.Month())
		}
		if strings.Contains(layout, "02") {
			units["day"] = float64(t.Day())
		}
		if strings.Contains(layout, "15") {
			units["hour"], units["minute"], units["second"], units["millisecond"] = float64(t.Hour()), float64(t.Minute()), float64(t.Second()), 0
		}
		return units
	}
	return nil
}

// momentGoal says what each of the parts is to be.
func (v *view) momentGoal(parts []momentPart, text string) (goal []float64, ok bool) {
	units := readMoment(text)
	_, hasDay := units["year"]
	hour := units["hour"]
	for i := range parts {
		e := &v.shot.Elements[parts[i].index]
		if parts[i].unit == "month" && !hasDay && units != nil {
			parts[i].unit = "hour"
		}
		n, known := units[parts[i].unit]
		switch {
		case parts[i].unit == "half":
			n, known = e.Min, units != nil
			if hour >= 12 {
				n = e.Max
			}
		case parts[i].unit == "hour" && e.Max == 12 && e.Min == 1:
			n = math.Mod(n+11, 12) + 1
		case parts[i].unit == "hour" && e.Max == 11:
			n = math.Mod(n, 12)
		case parts[i].unit == "hour" && e.Max == 24 && n == 0:
			n = 24
		}
		if !known {
			return nil, false
		}
		goal = append(goal, n)
		delete(units, parts[i].unit)
	}
	delete(units, "second") // it may be without them
	delete(units, "millisecond")
	delete(units, "hour")
	return goal, len(units) == 0
}

// setMoment sets a date or a time, part by part.
func (v *view) setMoment(ctx context.Context, i int, text string) (*aai.Result, error) {
	parts := v.momentParts(i)
	goal, ok := v.momentGoal(parts, text)
	if !ok {
		var units []string
		for _, p := range parts {
			units = append(units, p.unit)
		}
		e := aai.Errorf(aai.InvalidParams, "value: expected a date or time with %s for %s", strings.Join(units, ", "), desktop.Describe(&v.shot.Elements[i]))
		e.Delivery, e.Hint = aai.NotDelivered, "Write it as 2026-03-04, 13:45, 2026-03-04T13:45, 2026-03 or 2026-W10."
		return nil, e
	}
	if _, so := v.momentIs(ctx, parts, goal); so {
		return v.already(i), nil
	}
	a := deed{view: v, index: i, done: "Set"}
	a.ways = []way{v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		for n, part := range parts {
			if err := v.setPart(ctx, part, goal[n], input, seat, w); err != nil {
				return err
			}
		}
		return nil
	})}
	a.verify = func(ctx context.Context) (string, bool) { return v.momentIs(ctx, parts, goal) }
	return a.perform(ctx)
}

// momentIs reports whether the parts are what they are to be, or says which is not.
func (v *view) momentIs(ctx context.Context, parts []momentPart, goal []float64) (string, bool) {
	for n, part := range parts {
		now, err := v.backend.Tree.Read(ctx, v.app, part.id)
		if err != nil {
			return "", false
		}
		if !sameNumber(now.Value, goal[n]) {
			return fmt.Sprintf("its %s is %q and not %v", part.unit, aai.CleanLabel(now.Value, 40), goal[n]), false
		}
	}
	return "", true
}

// setPart clicks a part and types its number, or goes there by the arrow keys where it
// shows a word.
func (v *view) setPart(ctx context.Context, part momentPart, goal float64, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
	e := v.shot.Elements[part.index]
	if err := v.reach(ctx, part.index, e.Frame.Center(), input, seat, w); err != nil {
		return err
	}
	n := numbering{v, e, goal}
	if part.unit != "half" {
		if err := input.Type(ctx, seat, w.ID, fmt.Sprintf("%02d", int(goal))); err != nil {
			return err
		}
		if now, err := n.settles(ctx, e.Value, lookAgain); err != nil || sameNumber(now.Value, goal) {
			return err
		}
	}
	return n.steps(ctx, input, seat, w)
}

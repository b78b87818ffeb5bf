package scene

import (
	"math"
	"slices"

	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// A field for a date or a time is made of parts, each a spin button of its own, in the
// person's order and language. What they are is told by their bounds.

// A MomentPart is one of them.
type MomentPart struct {
	Index int
	ID    desktop.ID
	Unit  string // such as "year"
	Fixed bool   // it has but one number
}

// MomentParts are the parts of a field for a date or a time; none of any other.
func (s *Scene) MomentParts(i int) (parts []MomentPart) {
	spins := s.Spins(i)
	for n, unit := range values.Units(spins) {
		e := spins[n]
		parts = append(parts, MomentPart{s.Shot.Index(e.ID), e.ID, unit, e.Min == e.Max})
	}
	return parts
}

// Spins are the spin buttons that are the parts of a text field; nil where it has none, or one.
func (s *Scene) Spins(i int) (parts []*desktop.Element) {
	e := &s.Shot.Elements[i]
	if e.Role != desktop.Textbox || e.States.Has(desktop.Editable) {
		return nil
	}
	for c := i + 1; c < e.End; c++ {
		if part := &s.Shot.Elements[c]; part.Role == desktop.Spinbutton {
			parts = append(parts, part)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// halved reports whether one of the parts is the half of the day.
func halved(parts []MomentPart) bool {
	return slices.ContainsFunc(parts, func(p MomentPart) bool { return p.Unit == "half" })
}

// wrapsAt24 reports whether midnight is 24 there.
func wrapsAt24(e *desktop.Element) bool { return e.Min == 1 && e.Max == 24 }

// MomentGoal says what each of the parts is to be.
func (s *Scene) MomentGoal(parts []MomentPart, text string) (goal []float64, ok bool) {
	units := values.Moment(text)
	hour, halves := units["hour"], halved(parts)
	for _, part := range parts {
		e := &s.Shot.Elements[part.Index]
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
	delete(units, "second") // it may be without them
	delete(units, "millisecond")
	delete(units, "hour")
	return goal, len(units) == 0
}

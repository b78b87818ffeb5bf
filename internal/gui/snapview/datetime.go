package snapview

import (
	"math"
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// A field for a date or a time is made of parts, each a spin button of its own, in the
// person's order and language. What they are is told by their bounds.

// A MomentPart is one of them.
type DateTimePart struct {
	Index int
	ID    desktop.ID
	Unit  string // such as "year"
	Fixed bool   // it has but one number
}

// DateTimeParts are the parts of a field for a date or a time; none of any other.
func (s *RefSnapshot) DateTimeParts(i int) (parts []DateTimePart) {
	spins := s.Spins(i)
	for n, unit := range fieldtext.DateTimeUnits(spins) {
		e := spins[n]
		parts = append(parts, DateTimePart{s.Snapshot.Index(e.ID), e.ID, unit, e.Min == e.Max})
	}
	return parts
}

// Spins are the spin buttons that are the parts of a text field; nil where it has none, or one.
func (s *RefSnapshot) Spins(i int) (parts []*desktop.Element) {
	e := &s.Snapshot.Elements[i]
	if e.Role != desktop.Textbox || e.States.Has(desktop.Editable) {
		return nil
	}
	for c := i + 1; c < e.End; c++ {
		if part := &s.Snapshot.Elements[c]; part.Role == desktop.Spinbutton {
			parts = append(parts, part)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// halved reports whether one of the parts is the half of the day.
func halved(parts []DateTimePart) bool {
	return slices.ContainsFunc(parts, func(p DateTimePart) bool { return p.Unit == "half" })
}

// wrapsAt24 reports whether midnight is 24 there.
func wrapsAt24(e *desktop.Element) bool { return e.Min == 1 && e.Max == 24 }

// ParseDateTime says what each of the parts is to be.
func (s *RefSnapshot) ParseDateTime(parts []DateTimePart, text string) (goal []float64, ok bool) {
	units := fieldtext.ParseDateTime(text)
	hour, halves := units["hour"], halved(parts)
	for _, part := range parts {
		e := &s.Snapshot.Elements[part.Index]
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

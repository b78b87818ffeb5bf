package snapview

import (
	"math"
	"slices"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// A date or time field consists of parts, each a separate spin button, in the order of the user's
// language. Their bounds reveal their units.

// DateTimePart is one part of a date or time field.
type DateTimePart struct {
	Index int
	ID    desktop.ID
	Unit  string // such as "year"
	Fixed bool   // it has only one possible number
}

// DateTimeParts returns the parts of a date or time field; none for any other.
func (s *RefSnapshot) DateTimeParts(i int) (parts []DateTimePart) {
	spins := s.Spins(i)
	for n, unit := range fieldtext.DateTimeUnits(spins) {
		e := spins[n]
		parts = append(parts, DateTimePart{s.Snapshot.Index(e.ID), e.ID, unit, e.Min == e.Max})
	}
	return parts
}

// Spins returns the spin buttons within a text field; nil if there are fewer than two.
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

// halved reports whether one of the parts is "am" or "pm".
func halved(parts []DateTimePart) bool {
	return slices.ContainsFunc(parts, func(p DateTimePart) bool { return p.Unit == "half" })
}

// wrapsAt24 reports whether the field calls midnight 24.
func wrapsAt24(e *desktop.Element) bool { return e.Min == 1 && e.Max == 24 }

// ParseDateTime returns the number that each part needs for the text; ok is false if the text does not fit the parts.
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
	delete(units, "second") // the field may lack these
	delete(units, "millisecond")
	delete(units, "hour")
	return goal, len(units) == 0
}

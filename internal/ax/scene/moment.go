package scene

import (
	"math"

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
}

// MomentParts are the parts of a field for a date or a time; none of any other.
func (s *Scene) MomentParts(i int) (parts []MomentPart) {
	e := &s.Shot.Elements[i]
	if e.Role != desktop.Textbox || e.States.Has(desktop.Editable) {
		return nil
	}
	seen := make(map[string]bool)
	for c := i + 1; c < e.End; c++ {
		part := &s.Shot.Elements[c]
		if part.Role != desktop.Spinbutton {
			continue
		}
		unit := values.Unit(part, seen)
		if unit == "" || seen[unit] {
			return nil
		}
		seen[unit] = true
		parts = append(parts, MomentPart{c, part.ID, unit})
	}
	if len(parts) < 2 {
		return nil
	}
	for n := range parts {
		if parts[n].Unit == "month" && !seen["year"] && !seen["day"] {
			parts[n].Unit = "hour" // of a clock of twelve
		}
	}
	return parts
}

// MomentGoal says what each of the parts is to be.
func (s *Scene) MomentGoal(parts []MomentPart, text string) (goal []float64, ok bool) {
	units := values.Moment(text)
	hour := units["hour"]
	for i := range parts {
		e := &s.Shot.Elements[parts[i].Index]
		n, known := units[parts[i].Unit]
		switch {
		case parts[i].Unit == "half":
			n, known = e.Min, units != nil
			if hour >= 12 {
				n = e.Max
			}
		case parts[i].Unit == "hour" && e.Max == 12 && e.Min == 1:
			n = math.Mod(n+11, 12) + 1
		case parts[i].Unit == "hour" && e.Max == 11:
			n = math.Mod(n, 12)
		case parts[i].Unit == "hour" && e.Max == 24 && n == 0:
			n = 24
		}
		if !known {
			return nil, false
		}
		goal = append(goal, n)
		delete(units, parts[i].Unit)
	}
	delete(units, "second") // it may be without them
	delete(units, "millisecond")
	delete(units, "hour")
	return goal, len(units) == 0
}

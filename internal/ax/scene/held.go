package scene

import (
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// Held is what an element holds, of some by what is in them: the parts of a date, and what
// stands in a list that a page makes itself.
func (s *Scene) Held(i int) string {
	e := &s.Shot.Elements[i]
	if e.Value != "" || e.States.Has(desktop.Protected) {
		return values.Held(e)
	}
	if parts := s.MomentParts(i); len(parts) > 0 {
		held := make([]string, len(parts))
		for n, part := range parts {
			held[n] = s.Shot.Elements[part.Index].Value
		}
		return s.MomentText(parts, held)
	}
	if e.Role == desktop.Combobox && !e.States.Has(desktop.Editable) {
		return s.StandsIn(i)
	}
	return values.Held(e)
}

// StandsIn is the name of the option that is selected in the combo box, or else the first
// words in it that are no option; "" where there are none.
func (s *Scene) StandsIn(box int) (words string) {
	within := s.Shot.Elements[box].End
	for i, options := box+1, 0; i < within; i++ {
		switch e := &s.Shot.Elements[i]; {
		case e.States.Has(desktop.Protected):
		case e.Role.InSet() && e.States.Has(desktop.Selected) && !desktop.Blank(e.Name):
			return e.Name
		case e.Role.InSet() || e.Role.Holds():
			options = max(options, e.End)
		case i < options || words != "":
		case e.Role.Wordy() || e.Role == desktop.Textbox || e.Role == desktop.Searchbox:
			if words = values.Held(e); words == "" && e.Role.Wordy() {
				words = e.Name
			}
		}
	}
	return words
}

// MomentText is what a field for a date or a time holds, as MomentGoal reads it, by what its
// parts hold; "" where one of them is empty.
func (s *Scene) MomentText(parts []MomentPart, held []string) string {
	units := make(map[string]float64, len(parts))
	halves := halved(parts)
	for n, part := range parts {
		number := values.NumberOr(held[n], -1)
		if number < 0 {
			return ""
		}
		units[part.Unit] = number
		if e := &s.Shot.Elements[part.Index]; part.Unit == "half" {
			units[part.Unit] = number - e.Min
		} else if part.Unit == "hour" && (halves && number == 12 || wrapsAt24(e) && number == 24) {
			units[part.Unit] = 0
		}
	}
	if units["half"] > 0 {
		units["hour"] += 12
	}
	return values.MomentText(units)
}

package snapview

import (
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// ValueOf returns the value of an element. For some it combines their children: the parts of a
// date, and the content of a list that a page builds itself.
func (s *RefSnapshot) ValueOf(i int) string {
	e := &s.Snapshot.Elements[i]
	if e.Value != "" || e.States.Has(desktop.Protected) {
		return fieldtext.Value(e)
	}
	if parts := s.DateTimeParts(i); len(parts) > 0 {
		held := make([]string, len(parts))
		for n, part := range parts {
			held[n] = s.Snapshot.Elements[part.Index].Value
		}
		return s.FormatDateTime(parts, held)
	}
	if e.Role == desktop.Combobox && !e.States.Has(desktop.Editable) {
		return s.ComboValue(i)
	}
	return fieldtext.Value(e)
}

// ComboValue returns the name of the combo box's selected option, or else the first text in it that
// is no option; "" if there is none.
func (s *RefSnapshot) ComboValue(box int) (words string) {
	within := s.Snapshot.Elements[box].End
	for i, options := box+1, 0; i < within; i++ {
		switch e := &s.Snapshot.Elements[i]; {
		case e.States.Has(desktop.Protected):
		case e.Role.IsSetMember() && e.States.Has(desktop.Selected) && !desktop.IsBlank(e.Name):
			return e.Name
		case e.Role.IsSetMember() || e.Role.IsRefContainer():
			options = max(options, e.End)
		case i < options || words != "":
		case e.Role.IsTextual() || e.Role == desktop.Textbox || e.Role == desktop.Searchbox:
			if words = fieldtext.Value(e); words == "" && e.Role.IsTextual() {
				words = e.Name
			}
		}
	}
	return words
}

// FormatDateTime returns the value of a date or time field from the values of its parts, in the
// format of ParseDateTime; "" if one is empty.
func (s *RefSnapshot) FormatDateTime(parts []DateTimePart, held []string) string {
	units := make(map[string]float64, len(parts))
	halves := halved(parts)
	for n, part := range parts {
		number := fieldtext.ParseNumber(held[n], -1)
		if number < 0 {
			return ""
		}
		units[part.Unit] = number
		if e := &s.Snapshot.Elements[part.Index]; part.Unit == "half" {
			units[part.Unit] = number - e.Min
		} else if part.Unit == "hour" && (halves && number == 12 || wrapsAt24(e) && number == 24) {
			units[part.Unit] = 0
		}
	}
	if units["half"] > 0 {
		units["hour"] += 12
	}
	return fieldtext.FormatDateTime(units)
}

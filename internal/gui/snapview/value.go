package snapview

import (
	"math"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// Option returns the index of the option called name in element i: a group of radio buttons, a list or a combo box.
// It returns -1 if there is none, or if text can be typed into i.
func (s *RefSnapshot) Option(i int, name string) int {
	if i < 0 {
		return -1
	}
	for _, r := range s.Radios(i) {
		if fieldtext.SameChoice(s.Snapshot.Elements[r].Name, name) {
			return r
		}
	}
	if s.Snapshot.Elements[i].States.Has(desktop.Editable) {
		return -1
	}
	switch s.Snapshot.Elements[i].Role {
	case desktop.Combobox, desktop.Listbox, desktop.List, desktop.Tablist:
		if same := s.Options(i, name); len(same) > 0 {
			return same[0]
		}
	}
	return -1
}

// Options returns the indexes of the options called name in a list, regardless of case. Of several, it prefers those
// spelled exactly so.
func (s *RefSnapshot) Options(list int, name string) (same []int) {
	spelled := func(c int) bool { return strings.TrimSpace(s.Snapshot.Elements[c].Name) == strings.TrimSpace(name) }
	for c := list + 1; c < s.Snapshot.Elements[list].End; c++ {
		if o := &s.Snapshot.Elements[c]; o.Role.IsSetMember() && fieldtext.SameChoice(o.Name, name) {
			same = append(same, c)
		}
	}
	if len(same) > 1 && slices.ContainsFunc(same, spelled) {
		same = slices.DeleteFunc(same, func(c int) bool { return !spelled(c) })
	}
	return same
}

// Radios returns the indexes of the radio buttons in a group; nil if the element is no group.
func (s *RefSnapshot) Radios(group int) (found []int) {
	e := &s.Snapshot.Elements[group]
	if e.Role != desktop.Group && e.Role != desktop.Radiogroup {
		return nil
	}
	for c := group + 1; c < e.End; c++ {
		if s.Snapshot.Elements[c].Role == desktop.Radio {
			found = append(found, c)
		}
	}
	return found
}

// ToolbarField returns the field of a tool bar box, given the field or the box; -1 for others.
// LibreOffice's boxes for fonts and styles are a named group with an unnamed field and button.
func (s *RefSnapshot) ToolbarField(i int) int {
	if e := &s.Snapshot.Elements[i]; e.Role == desktop.Textbox {
		i = s.nonLayoutAncestor(e.Parent)
	}
	if i < 0 || s.Snapshot.Elements[i].Role != desktop.Group || desktop.IsBlank(s.Snapshot.Elements[i].Name) {
		return -1
	}
	if bar := s.nonLayoutAncestor(s.Snapshot.Elements[i].Parent); bar < 0 || s.Snapshot.Elements[bar].Role != desktop.Toolbar {
		return -1
	}
	field := -1
	for c := i + 1; c < s.Snapshot.Elements[i].End; c++ {
		switch e := &s.Snapshot.Elements[c]; {
		case !e.States.Has(desktop.Showing): // the list that opens
		case e.Role == desktop.Textbox && field < 0 && desktop.IsBlank(e.Name) && e.States.Has(desktop.Editable) && e.IsActionable(""):
			field = c
		case e.Role.IsInteractive() && (e.Role != desktop.Button || !desktop.IsBlank(e.Name)):
			return -1
		}
	}
	return field
}

// nonLayoutAncestor returns i or its nearest ancestor that is more than layout; -1 for none.
func (s *RefSnapshot) nonLayoutAncestor(i int) int {
	for i >= 0 && desktop.IsBlank(s.Snapshot.Elements[i].Name) && (s.Snapshot.Elements[i].Role == desktop.Generic || s.Snapshot.Elements[i].Role == desktop.Group) {
		i = s.Snapshot.Elements[i].Parent
	}
	return i
}

// IsOnlySelected reports whether the option is the only selected one in its list.
func (s *RefSnapshot) IsOnlySelected(list, option int) bool {
	for i := list + 1; i < s.Snapshot.Elements[list].End; i++ {
		if e := &s.Snapshot.Elements[i]; e.Role.IsSetMember() && e.States.Has(desktop.Selected) != (i == option) {
			return false
		}
	}
	return true
}

// maxValueBefore is the maximum of bytes in a reply about a field's old value.
const maxValueBefore = 200

// ValueBefore returns the present value of element i before its change to value, for a reply; nil for a password
// field.
func (s *RefSnapshot) ValueBefore(i int, value string) *string {
	e := &s.Snapshot.Elements[i]
	if e.States.Has(desktop.Protected) {
		return nil
	}
	text := s.ValueOf(i)
	for _, r := range s.Radios(i) {
		if s.Snapshot.Elements[r].States.Has(desktop.Checked) {
			text = s.Snapshot.Elements[r].Name
		}
	}
	if b, is := fieldtext.ParseBlock(e, value); is {
		text = s.blockText(b, i)
	}
	text = aai.CleanText(text, maxValueBefore)
	return &text
}

// maxRange limits how many elements one call selects.
const maxRange = 500

// OtherSelected returns the indexes of the other selected elements in the list of element i.
func (s *RefSnapshot) OtherSelected(i int) (had []int) {
	for _, c := range s.Snapshot.Children(s.Snapshot.Elements[i].Parent) {
		if s.Snapshot.Elements[c].States.Has(desktop.Selected) && c != i {
			had = append(had, c)
		}
	}
	return had
}

// SelectionRange returns the elements from i to the nearest of had, the selected ones, without that one. It fails if
// had is empty or the range exceeds maxRange.
func (s *RefSnapshot) SelectionRange(i int, had []int) (want []int, err error) {
	from, near := -1, 0
	for _, h := range had {
		if away := max(h-i, i-h); from < 0 || away < near {
			from, near = h, away
		}
	}
	if from < 0 {
		e := guierr.Failed(aai.NotDelivered, "a range needs a selected element beside %s to begin at", s.Name(i))
		aai.AsError(e).Hint = "Click the first element of the range first."
		return nil, e
	}
	first, last := min(i, from), max(i, from)
	for _, c := range s.Snapshot.Children(s.Snapshot.Elements[i].Parent) {
		if e := &s.Snapshot.Elements[c]; c >= first && c <= last && c != from && e.Role == s.Snapshot.Elements[i].Role {
			want = append(want, c)
		}
	}
	if len(want) > maxRange {
		e := aai.Errorf(aai.InvalidParams, "select: expected a range of at most %d, got %d", maxRange, len(want))
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	return want, nil
}

// IsTypedText reports whether the element's value is typed text, which may be a secret. The name of
// an option, a number and a check mark are not.
func (s *RefSnapshot) IsTypedText(i int) bool {
	e := &s.Snapshot.Elements[i]
	switch e.Role {
	case desktop.Checkbox, desktop.Switch, desktop.Radio, desktop.Slider, desktop.Spinbutton, desktop.Scrollbar, desktop.Listbox, desktop.List, desktop.Tablist:
		return false
	case desktop.Combobox:
		return e.States.Has(desktop.Editable)
	}
	return len(s.DateTimeParts(i)) == 0 && len(s.Radios(i)) == 0
}

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

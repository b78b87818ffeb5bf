package snapview

import (
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

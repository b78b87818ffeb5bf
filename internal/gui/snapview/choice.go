package snapview

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// Option is the choice of that name in a list that is no field, or -1.
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

// Options are the choices of that name in a list, of several the ones that are spelled so.
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

// Radios are the buttons of a group of which one is chosen; none of what is no group.
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

// ToolbarField is the field of a box in a tool bar, given that or the box: LibreOffice's, for a font
// or a style, is a group of the name, with a field and a button that have none. -1 for others.
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

// nonLayoutAncestor is the element, or the first around it that is more than layout; -1 for none.
func (s *RefSnapshot) nonLayoutAncestor(i int) int {
	for i >= 0 && desktop.IsBlank(s.Snapshot.Elements[i].Name) && (s.Snapshot.Elements[i].Role == desktop.Generic || s.Snapshot.Elements[i].Role == desktop.Group) {
		i = s.Snapshot.Elements[i].Parent
	}
	return i
}

// SoleChoice reports whether the option is the one that is selected in its list.
func (s *RefSnapshot) SoleChoice(list, option int) bool {
	for i := list + 1; i < s.Snapshot.Elements[list].End; i++ {
		if e := &s.Snapshot.Elements[i]; e.Role.IsSetMember() && e.States.Has(desktop.Selected) != (i == option) {
			return false
		}
	}
	return true
}

// maxValueBefore is how many bytes are told of what a field held before.
const maxValueBefore = 200

// ValueBefore is what an element holds before it is set to the value; nil where nobody may know.
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

// maxRange is how many elements are selected at once.
const maxRange = 500

// SelectedWith are the elements of the same list that are selected.
func (s *RefSnapshot) SelectedWith(i int) (had []int) {
	for _, c := range s.Snapshot.Children(s.Snapshot.Elements[i].Parent) {
		if s.Snapshot.Elements[c].States.Has(desktop.Selected) && c != i {
			had = append(had, c)
		}
	}
	return had
}

// SelectionRange are the elements from the nearest that is selected to this one.
func (s *RefSnapshot) SelectionRange(i int, had []int) (want []int, err error) {
	from, near := -1, 0
	for _, h := range had {
		if away := max(h-i, i-h); from < 0 || away < near {
			from, near = h, away
		}
	}
	if from < 0 {
		e := guierr.Failed(aai.NotDelivered, "nothing is selected beside %s that a range could begin at", s.Name(i))
		aai.AsError(e).Hint = "Click its first element before."
		return nil, e
	}
	first, last := min(i, from), max(i, from)
	for _, c := range s.Snapshot.Children(s.Snapshot.Elements[i].Parent) {
		if e := &s.Snapshot.Elements[c]; c >= first && c <= last && c != from && e.Role == s.Snapshot.Elements[i].Role {
			want = append(want, c)
		}
	}
	if len(want) > maxRange {
		e := aai.Errorf(aai.InvalidParams, "select: expected a range of at most %d, which has %d", maxRange, len(want))
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	return want, nil
}

// IsTypedText reports whether what the element holds is what somebody typed, which may be a
// secret: an option's name, a number and a tick are none.
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

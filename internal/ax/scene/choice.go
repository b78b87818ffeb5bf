package scene

import (
	"slices"
	"strings"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// Option is the choice of that name in a list that is no field, or -1.
func (s *Scene) Option(i int, name string) int {
	if i < 0 {
		return -1
	}
	for _, r := range s.Radios(i) {
		if values.SameChoice(s.Shot.Elements[r].Name, name) {
			return r
		}
	}
	if s.Shot.Elements[i].States.Has(desktop.Editable) {
		return -1
	}
	switch s.Shot.Elements[i].Role {
	case desktop.Combobox, desktop.Listbox, desktop.List, desktop.Tablist:
		if same := s.Options(i, name); len(same) > 0 {
			return same[0]
		}
	}
	return -1
}

// Options are the choices of that name in a list, of several the ones that are spelled so.
func (s *Scene) Options(list int, name string) (same []int) {
	spelled := func(c int) bool { return strings.TrimSpace(s.Shot.Elements[c].Name) == strings.TrimSpace(name) }
	for c := list + 1; c < s.Shot.Elements[list].End; c++ {
		if o := &s.Shot.Elements[c]; o.Role.InSet() && values.SameChoice(o.Name, name) {
			same = append(same, c)
		}
	}
	if len(same) > 1 && slices.ContainsFunc(same, spelled) {
		same = slices.DeleteFunc(same, func(c int) bool { return !spelled(c) })
	}
	return same
}

// Radios are the buttons of a group of which one is chosen; none of what is no group.
func (s *Scene) Radios(group int) (found []int) {
	e := &s.Shot.Elements[group]
	if e.Role != desktop.Group && e.Role != desktop.Radiogroup {
		return nil
	}
	for c := group + 1; c < e.End; c++ {
		if s.Shot.Elements[c].Role == desktop.Radio {
			found = append(found, c)
		}
	}
	return found
}

// BarBox is the field of a box in a tool bar, given that or the box: LibreOffice's, for a font
// or a style, is a group of the name, with a field and a button that have none. -1 for others.
func (s *Scene) BarBox(i int) int {
	if e := &s.Shot.Elements[i]; e.Role == desktop.Textbox {
		i = s.outside(e.Parent)
	}
	if i < 0 || s.Shot.Elements[i].Role != desktop.Group || desktop.Blank(s.Shot.Elements[i].Name) {
		return -1
	}
	if bar := s.outside(s.Shot.Elements[i].Parent); bar < 0 || s.Shot.Elements[bar].Role != desktop.Toolbar {
		return -1
	}
	field := -1
	for c := i + 1; c < s.Shot.Elements[i].End; c++ {
		switch e := &s.Shot.Elements[c]; {
		case !e.States.Has(desktop.Showing): // the list that opens
		case e.Role == desktop.Textbox && field < 0 && desktop.Blank(e.Name) && e.States.Has(desktop.Editable) && e.Acts(""):
			field = c
		case e.Role.Interactive() && (e.Role != desktop.Button || !desktop.Blank(e.Name)):
			return -1
		}
	}
	return field
}

// outside is the element, or the first around it that is more than layout; -1 for none.
func (s *Scene) outside(i int) int {
	for i >= 0 && desktop.Blank(s.Shot.Elements[i].Name) && (s.Shot.Elements[i].Role == desktop.Generic || s.Shot.Elements[i].Role == desktop.Group) {
		i = s.Shot.Elements[i].Parent
	}
	return i
}

// SoleChoice reports whether the option is the one that is selected in its list.
func (s *Scene) SoleChoice(list, option int) bool {
	for i := list + 1; i < s.Shot.Elements[list].End; i++ {
		if e := &s.Shot.Elements[i]; e.Role.InSet() && e.States.Has(desktop.Selected) != (i == option) {
			return false
		}
	}
	return true
}

// maxWas is how many bytes are told of what a field held before.
const maxWas = 200

// Was is what an element holds before it is set to the value; nil where nobody may know.
func (s *Scene) Was(i int, value string) *string {
	e := &s.Shot.Elements[i]
	if e.States.Has(desktop.Protected) {
		return nil
	}
	text := s.Held(i)
	for _, r := range s.Radios(i) {
		if s.Shot.Elements[r].States.Has(desktop.Checked) {
			text = s.Shot.Elements[r].Name
		}
	}
	if b, is := values.BlockAt(e, value); is {
		text = s.blockText(b, i)
	}
	text = aai.CleanText(text, maxWas)
	return &text
}

// maxRange is how many elements are selected at once.
const maxRange = 500

// SelectedWith are the elements of the same list that are selected.
func (s *Scene) SelectedWith(i int) (had []int) {
	for _, c := range s.Shot.Children(s.Shot.Elements[i].Parent) {
		if s.Shot.Elements[c].States.Has(desktop.Selected) && c != i {
			had = append(had, c)
		}
	}
	return had
}

// UpTo are the elements from the nearest that is selected to this one.
func (s *Scene) UpTo(i int, had []int) (want []int, err error) {
	from, near := -1, 0
	for _, h := range had {
		if away := max(h-i, i-h); from < 0 || away < near {
			from, near = h, away
		}
	}
	if from < 0 {
		e := fault.Failed(aai.NotDelivered, "nothing is selected beside %s that a range could begin at", s.Name(i))
		aai.AsError(e).Hint = "Click its first element before."
		return nil, e
	}
	first, last := min(i, from), max(i, from)
	for _, c := range s.Shot.Children(s.Shot.Elements[i].Parent) {
		if e := &s.Shot.Elements[c]; c >= first && c <= last && c != from && e.Role == s.Shot.Elements[i].Role {
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

// TypedIn reports whether what the element holds is what somebody typed, which may be a
// secret: an option's name, a number and a tick are none.
func (s *Scene) TypedIn(i int) bool {
	e := &s.Shot.Elements[i]
	switch e.Role {
	case desktop.Checkbox, desktop.Switch, desktop.Radio, desktop.Slider, desktop.Spinbutton, desktop.Scrollbar, desktop.Listbox, desktop.List, desktop.Tablist:
		return false
	case desktop.Combobox:
		return e.States.Has(desktop.Editable)
	}
	return len(s.MomentParts(i)) == 0 && len(s.Radios(i)) == 0
}

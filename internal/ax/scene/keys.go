package scene

import (
	"slices"
	"strings"
	"unicode/utf8"

	"aai/internal/ax/asked"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// Unselected reports whether a row could be selected and is not. In a sheet a click moves
// the cursor, and where that is the toolkit does not call selected. Of a cell in a cell GTK 3
// tells of the outer one.
func Unselected(shot *desktop.Snapshot, i int) bool {
	e := &shot.Elements[i]
	if e.Parent >= 0 && e.Role == desktop.Cell {
		if outer := &shot.Elements[e.Parent]; outer.Role == desktop.Cell && outer.States.Has(desktop.Selected) {
			return false
		}
	}
	return rolls(e.Role) && !values.SheetCell(e) && e.States.Has(desktop.Selectable) && !e.States.Has(desktop.Selected)
}

// Reached is what is to be read on what the chord may press by a letter of its name: the
// entries of an open menu, and buttons where the letter is not written. Return and space
// press whichever entry of an open menu is chosen, which not every toolkit tells.
func (s *Scene) Reached(c desktop.Chord, focused int) (says []string) {
	letter := strings.ToLower(c.Key)
	if focused >= 0 && (s.Shot.Elements[focused].Role == desktop.Combobox || s.Shot.Elements[focused].Role == desktop.Listbox) {
		for i := focused + 1; i < s.Shot.Elements[focused].End; i++ { // arrows and letters choose
			if e := &s.Shot.Elements[i]; e.Role.InSet() {
				says = append(says, e.Name)
			}
		}
	}
	chooses := asked.IsReturn(c.Key) || asked.IsSpace(c.Key)
	if !chooses && utf8.RuneCountInString(letter) != 1 || slices.Contains(c.Modifiers, "ctrl") || slices.Contains(c.Modifiers, "meta") {
		return says
	}
	writes := focused >= 0 && TakesText(&s.Shot.Elements[focused])
	buttons := !chooses && (slices.Contains(c.Modifiers, "alt") || focused >= 0 && !writes)
	for i := range s.Shot.Elements {
		e := &s.Shot.Elements[i]
		entry := e.Role.MenuEntry() && e.Parent >= 0 && s.Shot.Elements[e.Parent].Role == desktop.Menu
		if (entry || buttons && e.Role.Fires()) && (chooses || strings.Contains(strings.ToLower(e.Name), letter)) && s.Shot.Visible(i) {
			says = append(says, e.Name)
		}
	}
	return says
}

// Asks is the form or the dialog that the element is in, or -1.
func (s *Scene) Asks(i int) int {
	for ; i >= 0; i = s.Shot.Elements[i].Parent {
		if e := &s.Shot.Elements[i]; e.Role == desktop.Form || IsDialog(e) {
			return i
		}
	}
	return -1
}

// IsDialog reports whether the element asks, and is to be answered.
func IsDialog(e *desktop.Element) bool {
	return e.Role == desktop.Dialog || e.Role == desktop.AlertDialog || e.States.Has(desktop.Modal)
}

// Buttons are those that show in the element (-1: in none); with byDefault, those that
// return is for, and soon, those that are not enabled yet.
func (s *Scene) Buttons(within int, byDefault, soon bool) []int {
	if within < 0 {
		return nil
	}
	var found []int
	for i := within; i < s.Shot.Elements[within].End; i++ {
		e := &s.Shot.Elements[i]
		if e.Role == desktop.Button && (soon || e.States.Has(desktop.Enabled)) && (!byDefault || e.States.Has(desktop.Default)) && s.Shot.Visible(i) {
			found = append(found, i)
		}
	}
	return found
}

// TakesText reports whether text can be typed into the element. To press another,
// as one does to give it the keyboard, would do something else.
func TakesText(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Textbox, desktop.Searchbox, desktop.Spinbutton, desktop.Terminal, desktop.Document, desktop.Canvas:
		return true
	}
	return e.States.Has(desktop.Editable)
}

// KeepsTab reports whether tab is a character in the element, or goes on in it, and does not
// lead to the next.
func KeepsTab(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Terminal:
		return true
	case desktop.Document, desktop.Paragraph, desktop.Heading, desktop.Grid, desktop.Cell:
		return e.States.Has(desktop.Editable)
	}
	return e.States.Has(desktop.Editable | desktop.Multiline)
}

package snapview

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// IsUnselected reports whether a row is selectable and not selected. A cell of a sheet does not count, because a
// click only moves the cursor there. Nor does a cell within a selected cell: GTK 3 reports only the outer one.
func IsUnselected(shot *desktop.Snapshot, i int) bool {
	e := &shot.Elements[i]
	if e.Parent >= 0 && e.Role == desktop.Cell {
		if outer := &shot.Elements[e.Parent]; outer.Role == desktop.Cell && outer.States.Has(desktop.Selected) {
			return false
		}
	}
	return isRowRole(e.Role) && !fieldtext.IsSheetCell(e) && e.States.Has(desktop.Selectable) && !e.States.Has(desktop.Selected)
}

// TextsPressedBy returns the texts of elements that the chord may press by a letter of their name.
// These are entries of an open menu, and buttons if the letter is not typed. Return and space press
// the chosen entry of an open menu, which not every toolkit reports.
func (s *RefSnapshot) TextsPressedBy(c desktop.Chord, focused int) (says []string) {
	letter := strings.ToLower(c.Key)
	if focused >= 0 && (s.Snapshot.Elements[focused].Role == desktop.Combobox || s.Snapshot.Elements[focused].Role == desktop.Listbox) {
		for i := focused + 1; i < s.Snapshot.Elements[focused].End; i++ { // arrow keys and letters can choose any option
			if e := &s.Snapshot.Elements[i]; e.Role.IsSetMember() {
				says = append(says, e.Name)
			}
		}
	}
	chooses := params.IsReturn(c.Key) || params.IsSpace(c.Key)
	if !chooses && utf8.RuneCountInString(letter) != 1 || slices.Contains(c.Modifiers, "ctrl") || slices.Contains(c.Modifiers, "meta") {
		return says
	}
	writes := focused >= 0 && TakesText(&s.Snapshot.Elements[focused])
	buttons := !chooses && (slices.Contains(c.Modifiers, "alt") || focused >= 0 && !writes)
	for i := range s.Snapshot.Elements {
		e := &s.Snapshot.Elements[i]
		entry := e.Role.IsMenuItem() && e.Parent >= 0 && s.Snapshot.Elements[e.Parent].Role == desktop.Menu
		if (entry || buttons && e.Role.IsPressable()) && (chooses || strings.Contains(strings.ToLower(e.Name), letter)) && s.Snapshot.IsVisible(i) {
			says = append(says, e.Name)
		}
	}
	return says
}

// FormOrDialogOf returns the form or dialog that contains the element, or -1.
func (s *RefSnapshot) FormOrDialogOf(i int) int {
	for ; i >= 0; i = s.Snapshot.Elements[i].Parent {
		if e := &s.Snapshot.Elements[i]; e.Role == desktop.Form || IsDialog(e) {
			return i
		}
	}
	return -1
}

// IsDialog reports whether the element is a dialog or modal, so that it must be answered.
func IsDialog(e *desktop.Element) bool {
	return e.Role == desktop.Dialog || e.Role == desktop.AlertDialog || e.States.Has(desktop.Modal)
}

// Buttons returns the indexes of the visible buttons in the element (-1: none). byDefault limits them to default
// buttons. soon includes disabled ones, which typed text may enable.
func (s *RefSnapshot) Buttons(within int, byDefault, soon bool) []int {
	if within < 0 {
		return nil
	}
	var found []int
	for i := within; i < s.Snapshot.Elements[within].End; i++ {
		e := &s.Snapshot.Elements[i]
		if e.Role == desktop.Button && (soon || e.States.Has(desktop.Enabled)) && (!byDefault || e.States.Has(desktop.Default)) && s.Snapshot.IsVisible(i) {
			found = append(found, i)
		}
	}
	return found
}

// TakesText reports whether text can be typed into the element. Pressing another element to focus
// it would have another effect.
func TakesText(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Textbox, desktop.Searchbox, desktop.Spinbutton, desktop.Terminal, desktop.Document, desktop.Canvas:
		return true
	}
	return e.States.Has(desktop.Editable)
}

// KeepsTab reports whether tab is a character in the element or moves within it, instead of leaving
// it.
func KeepsTab(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Terminal:
		return true
	case desktop.Document, desktop.Paragraph, desktop.Heading, desktop.Grid, desktop.Cell:
		return e.States.Has(desktop.Editable)
	}
	return e.States.Has(desktop.Editable | desktop.Multiline)
}

package snapview

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// PressableRank returns 1 for a pressable element, and else 0, as a sort key.
func (s *RefSnapshot) PressableRank(i int) int {
	if i >= 0 && s.Snapshot.Elements[i].Role.IsPressable() {
		return 1
	}
	return 0
}

// DropTexts returns the texts of drop targets with the prefix "onto": a drop on "Trash" differs
// from opening it.
func (s *RefSnapshot) DropTexts(onto []int) (says []string) {
	for _, i := range onto {
		if i < 0 {
			continue
		}
		for _, text := range s.ReadableTexts(i) {
			if text = strings.TrimSpace(text); text != "" {
				says = append(says, "onto "+text)
			}
		}
	}
	return says
}

// maxRead limits how many descendants of an element are read.
const maxRead = 12

// isTrashIcon reports whether an icon class or image file, in place of a label, is a trash can. A
// text label may also name the trash folder.
func isTrashIcon(sign string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(sign), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "bin", "dustbin", "garbage", "rubbish", "wastebasket":
			return true
		}
		if strings.Contains(word, "trash") { // trashcan, TrashIcon
			return true
		}
	}
	return false
}

// ReadableTexts returns the readable texts on the element and its containers.
func (s *RefSnapshot) ReadableTexts(i int) []string {
	e := &s.Snapshot.Elements[i]
	says := []string{e.Name, e.Description}
	if e.Name == "" && isTrashIcon(e.Description) {
		says = append(says, "delete")
	}
	if desktop.IsBlank(e.Name) && e.Role.IsPressable() {
		says = append(says, e.Identifier)
	}
	if TakesText(e) || e.Parent < 0 {
		return says
	}
	for c := i + 1; c < min(e.End, i+1+maxRead); c++ {
		says = append(says, s.Snapshot.Elements[c].Name)
		if desktop.IsBlank(e.Name) {
			says = append(says, s.Snapshot.Elements[c].Description)
		}
	}
	if e.Role.IsPressable() && lexicon.IsAffirmative(e.Name) {
		says = append(says, s.promptText(i)...)
	}
	for up := e.Parent; up >= 0 && s.Snapshot.Elements[up].Parent >= 0 && !s.Snapshot.Elements[up].Role.IsRefContainer(); up = s.Snapshot.Elements[up].Parent {
		says = append(says, s.containerName(up, i), s.Snapshot.Elements[up].Description)
	}
	return says
}

// containerName returns the name of a container of the element. If its name consists of its
// content, the names of other pressable elements are removed: "Place order" beside "Save draft".
func (s *RefSnapshot) containerName(up, i int) string {
	outer := &s.Snapshot.Elements[up]
	if !outer.Role.IsTextual() && !outer.Role.IsSetMember() {
		return outer.Name
	}
	name := outer.Name
	for c := up + 1; c < min(outer.End, up+1+8*maxRead) && name != ""; c++ {
		if e := &s.Snapshot.Elements[c]; (e.End <= i || c >= s.Snapshot.Elements[i].End) && e.Role.IsPressable() && e.Name != "" {
			name = strings.Replace(name, e.Name, "·", 1)
		}
	}
	return name
}

// promptText returns the text of the dialog or form that the element answers: name, headings and
// sentences, or all text if it has no fields. Labels of fields do not count: "Format" may be a
// paper's. Outside of both it returns the sentence before the element.
func (s *RefSnapshot) promptText(i int) (says []string) {
	within := s.FormOrDialogOf(i)
	if within < 0 {
		return s.sentenceBefore(i)
	}
	asks := &s.Snapshot.Elements[within]
	says = []string{asks.Name, asks.Description}
	bare := !s.hasFields(within)
	for c := within + 1; c < min(asks.End, within+1+4*maxRead); c++ {
		e := &s.Snapshot.Elements[c]
		for _, text := range []string{e.Name, e.Value} {
			if e.Role.IsTextual() && (bare || e.Role == desktop.Heading || sentence(text)) {
				says = append(says, text)
			}
		}
		if TakesText(e) && (sentence(e.Name) || len(strings.Fields(e.Name)) > 3) { // the question of a page's prompt is the name of its field
			says = append(says, e.Name)
		}
	}
	return says
}

// hasFields reports whether the element contains something to fill in or choose. A single check box
// does not count: it means "do not ask again".
func (s *RefSnapshot) hasFields(within int) bool {
	boxes := 0
	for i := within + 1; i < s.Snapshot.Elements[within].End; i++ {
		switch e := &s.Snapshot.Elements[i]; {
		case e.Role == desktop.Checkbox || e.Role == desktop.Radio || e.Role == desktop.Switch:
			boxes++
		case e.Role == desktop.Listbox || e.Role.IsInputOrItem() && e.Role != desktop.Link:
			return true
		}
	}
	return boxes > 1
}

// sentenceBefore returns the nearest sentence before the element, with at most other buttons
// between them.
func (s *RefSnapshot) sentenceBefore(i int) []string {
	const near = 8
	for c := i - 1; c >= max(0, i-near); c-- {
		e := &s.Snapshot.Elements[c]
		switch {
		case e.Role.IsTextual() && sentence(e.Name) && !s.fires(c):
			return []string{e.Name}
		case e.Role.IsInteractive() && !e.Role.IsPressable():
			return nil
		}
	}
	return nil
}

// fires reports whether the element is pressable, or inside a pressable one.
func (s *RefSnapshot) fires(i int) bool {
	for ; i >= 0; i = s.Snapshot.Elements[i].Parent {
		if s.Snapshot.Elements[i].Role.IsPressable() {
			return true
		}
	}
	return false
}

// sentence reports whether a text ends like a sentence.
func sentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \u00a0\n\"'”’»)"))
	return strings.ContainsRune(".!?…。！？؟।", last)
}

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

// Limits for the row text in a reply about an element.
const (
	maxRow     = 240 // bytes of all words
	maxRowWord = 60  // bytes of one word
	maxCard    = 40  // maximum of elements in a container that is no row but shown as one
)

// Row returns the texts beside the element in its row, card or list item, interactive ones with
// their ref: "37", "30.11 EUR", button "Buy" [e42]. It returns "" if there is no row, or nothing
// else in it.
func (s *RefSnapshot) Row(i int) string {
	all := s.Snapshot.Elements
	for p := i; p >= 0; p = all[p].Parent {
		e := &all[p]
		line := e.Role == desktop.Row || e.Role == desktop.ListItem || e.Role == desktop.Option || e.Role == desktop.TreeItem || e.Role == desktop.Article
		switch {
		case p == i && !line:
			continue
		case !line && (e.Role.IsTextual() || e.Role.IsRefContainer() || e.End-p > maxCard || e.Parent < 0):
			return ""
		}
		if words := s.rowWords(p, i); words != "" || line {
			return words
		}
	}
	return ""
}

// rowWords returns the texts in a row, without the element itself.
func (s *RefSnapshot) rowWords(row, but int) string {
	var told, texts []string
	length := 0
	s.eachText(row, but, func(j int, text string) bool {
		if slices.Contains(texts, text) {
			return true
		}
		e := &s.Snapshot.Elements[j]
		word := desktop.Quote(text, maxRowWord)
		if e.Role.IsInteractive() || e.States.Has(desktop.Editable) {
			word = string(e.Role) + " " + word + " [" + s.Ref(j) + "]"
		}
		if length += len(word); length > maxRow {
			told = append(told, "…")
			return false
		}
		told, texts = append(told, word), append(texts, text)
		return true
	})
	return strings.Join(told, ", ")
}

// eachText calls f for each visible text in the element, without the element but, until f returns
// false. If a container has the text of a child, as a cell of its button, only the child counts.
func (s *RefSnapshot) eachText(of, but int, f func(i int, text string) bool) {
	all := s.Snapshot.Elements
	seen := s.Snapshot.IsVisible(of)
	for j := of + 1; j < all[of].End; j++ {
		e := &all[j]
		if j == but {
			j = e.End - 1
			continue
		}
		text := strings.TrimSpace(cmp.Or(e.Name, e.Value))
		if e.States.Has(desktop.Protected) || seen && !e.States.Has(desktop.Showing) || text == "" || j < but && but < e.End {
			continue
		}
		if j+1 < e.End && slices.ContainsFunc(all[j+1:e.End], func(in desktop.Element) bool { return strings.TrimSpace(in.Name) == text }) {
			continue
		}
		if !f(j, text) {
			return
		}
	}
}

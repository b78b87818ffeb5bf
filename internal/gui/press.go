package gui

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// keyTarget returns the focused element of the window that receives keys, or -1.
func (v *view) keyTarget(ctx context.Context) int {
	top := v.frontTopLevel(ctx)
	if top < 0 {
		if m, err := v.focused(); err == nil {
			return m.index
		}
		return -1
	}
	return v.keyboardWithin(top+1, v.snapshot.Elements[top].End)
}

// keyboardWithin returns the element in the range with the keyboard focus, or -1. A browser's
// hidden pages report the focus too. So an element in a page takes precedence over another page,
// and a larger page over a smaller one.
func (v *view) keyboardWithin(begin, end int) int {
	found, all := -1, v.snapshot.Elements
	for i := begin; i < end; i++ {
		e := &all[i]
		if !e.States.Has(desktop.Focused|desktop.Showing) || e.Role == desktop.Window || !v.snapshot.IsVisible(i) || v.isRemembered(i) {
			continue
		}
		if other := found >= 0 && i >= all[found].End; other && e.Role == desktop.Document {
			was := &all[found]
			if was.Role != desktop.Document || was.Frame.W*was.Frame.H > e.Frame.W*e.Frame.H {
				continue
			}
		}
		found = i
	}
	return found
}

// pressedBy returns the indexes of the elements that the Return key may press, or the Space key if space
// is set: buttons of dialogs in front, the element with index focused (-1: unknown), and default buttons.
// In a dialog without a known default, any button counts. soon adds disabled buttons, which typed text
// may enable before.
func (v *view) pressedBy(ctx context.Context, space bool, focused int, soon bool) []int {
	return append(v.pressedBefore(ctx, space, focused, soon), v.pressedAt(ctx, space, focused, soon)...)
}

// pressedBefore returns the elements that return or space may press in dialogs in front of the
// focus, if known. In the background Chromium reports the page as focused, and not its question.
func (v *view) pressedBefore(ctx context.Context, space bool, focused int, soon bool) (pressed []int) {
	var before []int
	tops := []int{v.frontTopLevel(ctx)}
	switch {
	case focused >= 0:
		tops[0] = v.snapshot.WindowOf(focused)
	case tops[0] < 0: // it may be any window
		tops = v.snapshot.Children(-1)
		before = slices.DeleteFunc(v.snapshot.Children(-1), func(top int) bool { return !v.snapshot.Elements[top].IsDialog() || !v.snapshot.IsVisible(top) })
	}
	for _, top := range tops {
		before = append(before, v.dialogsOutsidePage(top, focused)...)
		if modal := v.modal(ctx, top); modal >= 0 && !slices.Contains(before, modal) {
			before = append(before, modal)
		}
	}
	for _, dialog := range before {
		pressed = append(pressed, v.pressedIn(ctx, dialog, space, soon)...)
	}
	return pressed
}

// pressedIn returns the elements that return or space may press in a dialog. These are those of its
// focused element, else its buttons, or the dialog itself if it has none.
func (v *view) pressedIn(ctx context.Context, dialog int, space, soon bool) []int {
	if i := v.keyboardWithin(dialog+1, v.snapshot.Elements[dialog].End); i >= 0 {
		return v.pressedAt(ctx, space, i, soon)
	}
	if answers := v.dialogButtons(dialog, soon); len(answers) > 0 {
		return answers
	}
	return []int{dialog}
}

// dialogButtons returns the buttons of the dialog, default buttons first: after a tab another one
// may have the focus.
func (v *view) dialogButtons(dialog int, soon bool) []int {
	answers := v.buttons(dialog, false, soon)
	slices.SortStableFunc(answers, func(a, b int) int { return v.byDefault(b) - v.byDefault(a) })
	return answers
}

// byDefault returns 1 for a default button, else 0.
func (v *view) byDefault(i int) int {
	if v.snapshot.Elements[i].States.Has(desktop.Default) {
		return 1
	}
	return 0
}

// pressedAt is pressedBy without the dialogs in front.
func (v *view) pressedAt(ctx context.Context, space bool, focused int, soon bool) []int {
	role, writes := desktop.Generic, false
	if focused >= 0 {
		e := &v.snapshot.Elements[focused]
		role, writes = e.Role, e.States.Has(desktop.Multiline) || e.Role == desktop.Terminal
	}
	var pressed []int
	switch {
	case role == desktop.Button || role.IsMenuItem() || space && role.IsPressable():
		return []int{focused}
	case writes, space && focused >= 0 && takesText(&v.snapshot.Elements[focused]):
		return nil // the text goes there
	case focused >= 0 && !takesText(&v.snapshot.Elements[focused]):
		if pressed = []int{focused}; space {
			return pressed
		}
	}
	within := v.formOrDialogOf(focused)
	if within < 0 && focused < 0 {
		if top := v.frontTopLevel(ctx); top >= 0 && v.snapshot.Elements[top].IsDialog() {
			within = top
		}
	}
	if space || focused < 0 && within >= 0 {
		return v.dialogButtons(within, soon)
	}
	top := v.frontTopLevel(ctx)
	if focused >= 0 {
		top = v.snapshot.WindowOf(focused)
	}
	byDefault := v.buttons(top, true, soon)
	if focused >= 0 { // a browser's own field presses nothing of a page, nor does one page press a button of another
		byDefault = slices.DeleteFunc(byDefault, func(i int) bool { return v.document(i) != v.document(focused) })
	}
	if len(byDefault) > 0 {
		return append(pressed, byDefault...)
	}
	return append(pressed, v.buttons(within, false, soon)...)
}

// pressedByTyping returns the elements that the call's text may press when typed into the element.
// A line end in a single-line field acts as return; after a tab it may press any button.
func (v *view) pressedByTyping(ctx context.Context, i int) []int {
	text := v.inputText()
	if params.Bool(v.call, "submit") {
		text += "\n"
	}
	if i < 0 {
		return nil
	}
	var pressed []int
	if strings.ContainsAny(text, " \n\r\t") {
		pressed = v.pressedBefore(ctx, !strings.ContainsAny(text, "\n\r"), i, true)
	}
	return append(pressed, v.pressedByText(ctx, text, i)...)
}

// pressedByText returns the elements that a text may press when typed into the element.
func (v *view) pressedByText(ctx context.Context, text string, i int) []int {
	if takesKeys(&v.snapshot.Elements[i]) && strings.ContainsAny(text, " \n\r") {
		return v.pressedAt(ctx, !strings.ContainsAny(text, "\n\r"), i, true)
	}
	if !strings.ContainsAny(text, "\n\r\t") || !v.app.IsBrowser && fieldtext.IsSheetCell(&v.snapshot.Elements[i]) { // they lead to other cells
		return nil
	}
	if _, after, tab := strings.Cut(text, "\t"); tab && strings.ContainsAny(after, " \n\r") {
		return v.buttons(v.snapshot.WindowOf(i), false, true) // in some multiline fields a tab leads out, too
	}
	if !strings.ContainsAny(text, "\n\r") || !takesText(&v.snapshot.Elements[i]) || v.snapshot.Elements[i].States.Has(desktop.Multiline) && !params.Bool(v.call, "submit") {
		return nil
	}
	if v.snapshot.Elements[i].States.Has(desktop.Multiline) { // return sends a message
		return v.nearbyButtons(i)
	}
	return v.pressedAt(ctx, false, i, true)
}

// nearbyButtons returns the buttons of the smallest part of the window that contains the element
// and a button; of a whole page, the nearest ones.
func (v *view) nearbyButtons(i int) []int {
	for up := v.snapshot.Elements[i].Parent; up >= 0; up = v.snapshot.Elements[up].Parent {
		found := v.buttons(up, false, true)
		if v.snapshot.Elements[up].Role == desktop.Document {
			after, _ := slices.BinarySearch(found, i)
			return found[max(0, after-nextButtons):min(len(found), after+nextButtons)]
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// nextButtons is how many buttons before a page's field, and after it, may send its content.
const nextButtons = 3

// document returns the document that contains the element, or -1.
func (v *view) document(i int) int {
	for i = v.snapshot.Elements[i].Parent; i >= 0 && v.snapshot.Elements[i].Role != desktop.Document; {
		i = v.snapshot.Elements[i].Parent
	}
	return i
}

// textsPressedBy returns the texts of elements that the chord may press by a letter of their name.
// These are entries of an open menu, and buttons if the letter is not typed. Return and space press
// the chosen entry of an open menu, which not every toolkit reports.
func (v *view) textsPressedBy(c desktop.Chord, focused int) (says []string) {
	letter := strings.ToLower(c.Key)
	if focused >= 0 && (v.snapshot.Elements[focused].Role == desktop.Combobox || v.snapshot.Elements[focused].Role == desktop.Listbox) {
		for i := focused + 1; i < v.snapshot.Elements[focused].End; i++ { // arrow keys and letters can choose any option
			if e := &v.snapshot.Elements[i]; e.Role.IsSetMember() {
				says = append(says, e.Name)
			}
		}
	}
	chooses := params.IsReturn(c.Key) || params.IsSpace(c.Key)
	if !chooses && utf8.RuneCountInString(letter) != 1 || slices.Contains(c.Modifiers, "ctrl") || slices.Contains(c.Modifiers, "meta") {
		return says
	}
	writes := focused >= 0 && takesText(&v.snapshot.Elements[focused])
	buttons := !chooses && (slices.Contains(c.Modifiers, "alt") || focused >= 0 && !writes)
	for i := range v.snapshot.Elements {
		e := &v.snapshot.Elements[i]
		entry := e.Role.IsMenuItem() && e.Parent >= 0 && v.snapshot.Elements[e.Parent].Role == desktop.Menu
		if (entry || buttons && e.Role.IsPressable()) && (chooses || strings.Contains(strings.ToLower(e.Name), letter)) && v.snapshot.IsVisible(i) {
			says = append(says, e.Name)
		}
	}
	return says
}

// formOrDialogOf returns the form or dialog that contains the element, or -1.
func (v *view) formOrDialogOf(i int) int {
	for ; i >= 0; i = v.snapshot.Elements[i].Parent {
		if e := &v.snapshot.Elements[i]; e.Role == desktop.Form || e.IsDialog() {
			return i
		}
	}
	return -1
}

// buttons returns the indexes of the visible buttons in the element (-1: none). byDefault limits them to default
// buttons. soon includes disabled ones, which typed text may enable.
func (v *view) buttons(within int, byDefault, soon bool) []int {
	if within < 0 {
		return nil
	}
	var found []int
	for i := within; i < v.snapshot.Elements[within].End; i++ {
		e := &v.snapshot.Elements[i]
		if e.Role == desktop.Button && (soon || e.States.Has(desktop.Enabled)) && (!byDefault || e.States.Has(desktop.Default)) && v.snapshot.IsVisible(i) {
			found = append(found, i)
		}
	}
	return found
}

// takesText reports whether text can be typed into the element. Pressing another element to focus
// it would have another effect.
func takesText(e *desktop.Element) bool {
	switch e.Role {
	case desktop.Textbox, desktop.Searchbox, desktop.Spinbutton, desktop.Terminal, desktop.Document, desktop.Canvas:
		return true
	}
	return e.States.Has(desktop.Editable)
}

// keepsTab reports whether tab is a character in the element or moves within it, instead of leaving
// it.
func (v *view) keepsTab(i int) bool {
	e := &v.snapshot.Elements[i]
	switch e.Role {
	case desktop.Terminal, desktop.Canvas:
		return true
	case desktop.Grid, desktop.Table, desktop.Cell:
		return v.app.TabsThroughCells || e.States.Has(desktop.Editable)
	case desktop.Document, desktop.Paragraph, desktop.Heading:
		return e.States.Has(desktop.Editable)
	}
	return e.States.Has(desktop.Editable | desktop.Multiline)
}

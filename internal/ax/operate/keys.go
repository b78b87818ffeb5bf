package operate

import (
	"context"
	"slices"
	"strings"

	"aai/internal/ax/asked"
	"aai/internal/ax/scene"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// keyed is what has the keyboard of the window that keys go to, or -1.
func (v *View) keyed(ctx context.Context) int {
	top := v.FrontTop(ctx)
	if top < 0 {
		if m, err := v.Focused(); err == nil {
			return m.Index
		}
		return -1
	}
	return v.KeyboardWithin(top+1, v.Shot.Elements[top].End)
}

// PressedBy is what return or space may press: what the dialogs before it have for them, what
// has the keyboard (-1: nobody knows what), the button that the window has for return, or any
// button of a dialog that does not tell which that is. Soon says that what is typed before may
// enable some.
func (v *View) PressedBy(ctx context.Context, space bool, focused int, soon bool) []int {
	return append(v.pressedBefore(ctx, space, focused, soon), v.pressedAt(ctx, space, focused, soon)...)
}

// pressedBefore is what return or space may press in the dialogs before what has the keyboard, as
// far as is told: in the background Chromium says that a page has it whose question has it.
func (v *View) pressedBefore(ctx context.Context, space bool, focused int, soon bool) (pressed []int) {
	var before []int
	tops := []int{v.FrontTop(ctx)}
	switch {
	case focused >= 0:
		tops[0] = v.Shot.Window(focused)
	case tops[0] < 0: // it may be any
		tops = v.Shot.Children(-1)
		before = slices.DeleteFunc(v.Shot.Children(-1), func(top int) bool { return !scene.IsDialog(&v.Shot.Elements[top]) || !v.Shot.Visible(top) })
	}
	for _, top := range tops {
		before = append(before, v.DialogsBefore(top, focused)...)
		if modal := v.modal(ctx, top); modal >= 0 && !slices.Contains(before, modal) {
			before = append(before, modal)
		}
	}
	for _, dialog := range before {
		pressed = append(pressed, v.pressedIn(ctx, dialog, space, soon)...)
	}
	return pressed
}

// pressedIn is what return or space may press in a dialog: at what has its keyboard, else any
// of its answers, or the dialog itself where it has none.
func (v *View) pressedIn(ctx context.Context, dialog int, space, soon bool) []int {
	if i := v.KeyboardWithin(dialog+1, v.Shot.Elements[dialog].End); i >= 0 {
		return v.pressedAt(ctx, space, i, soon)
	}
	if answers := v.answers(dialog, soon); len(answers) > 0 {
		return answers
	}
	return []int{dialog}
}

// answers are the buttons of the dialog, those that it has for return first: another may have its
// keyboard, after a tab.
func (v *View) answers(dialog int, soon bool) []int {
	answers := v.Buttons(dialog, false, soon)
	slices.SortStableFunc(answers, func(a, b int) int { return v.byDefault(b) - v.byDefault(a) })
	return answers
}

// byDefault is 1 for what return is for, and 0 for what it is not.
func (v *View) byDefault(i int) int {
	if v.Shot.Elements[i].States.Has(desktop.Default) {
		return 1
	}
	return 0
}

// pressedAt is PressedBy without the dialogs before it.
func (v *View) pressedAt(ctx context.Context, space bool, focused int, soon bool) []int {
	role, writes := desktop.Generic, false
	if focused >= 0 {
		e := &v.Shot.Elements[focused]
		role, writes = e.Role, e.States.Has(desktop.Multiline) || e.Role == desktop.Terminal
	}
	var pressed []int
	switch {
	case role == desktop.Button || role.MenuEntry() || space && role.Fires():
		return []int{focused}
	case writes, space && focused >= 0 && scene.TakesText(&v.Shot.Elements[focused]):
		return nil // it is written there
	case focused >= 0 && !scene.TakesText(&v.Shot.Elements[focused]):
		if pressed = []int{focused}; space {
			return pressed
		}
	}
	within := v.Asks(focused)
	if within < 0 && focused < 0 {
		if top := v.FrontTop(ctx); top >= 0 && scene.IsDialog(&v.Shot.Elements[top]) {
			within = top
		}
	}
	if space || focused < 0 && within >= 0 {
		return v.answers(within, soon)
	}
	top := v.FrontTop(ctx)
	if focused >= 0 {
		top = v.Shot.Window(focused)
	}
	byDefault := v.Buttons(top, true, soon)
	if focused >= 0 { // a browser's own field presses nothing of the page, nor a page's of another
		byDefault = slices.DeleteFunc(byDefault, func(i int) bool { return v.document(i) != v.document(focused) })
	}
	if len(byDefault) > 0 {
		return append(pressed, byDefault...)
	}
	return append(pressed, v.Buttons(within, false, soon)...)
}

// pressedByTyping is what the text that the call gives the element may press: the end of
// a line in a field of one line is return, and after a tab it is any button.
func (v *View) pressedByTyping(ctx context.Context, i int) []int {
	text := v.Gives()
	if asked.Flag(v.Call, "submit") {
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

// pressedByText is what a text may press that is typed into the element.
func (v *View) pressedByText(ctx context.Context, text string, i int) []int {
	if !strings.ContainsAny(text, "\n\r\t") || !v.App.Browser && values.SheetCell(&v.Shot.Elements[i]) { // they lead to other cells
		return nil
	}
	if _, after, tab := strings.Cut(text, "\t"); tab && strings.ContainsAny(after, " \n\r") {
		return v.Buttons(v.Shot.Window(i), false, true) // in some fields of many lines a tab leads out, too
	}
	if !strings.ContainsAny(text, "\n\r") || !scene.TakesText(&v.Shot.Elements[i]) || v.Shot.Elements[i].States.Has(desktop.Multiline) && !asked.Flag(v.Call, "submit") {
		return nil
	}
	if v.Shot.Elements[i].States.Has(desktop.Multiline) { // a message, which is sent by return
		return v.beside(i)
	}
	return v.pressedAt(ctx, false, i, true)
}

// beside are the buttons of the smallest part of the window that has the element and any; of
// a whole page the next ones.
func (v *View) beside(i int) []int {
	for up := v.Shot.Elements[i].Parent; up >= 0; up = v.Shot.Elements[up].Parent {
		found := v.Buttons(up, false, true)
		if v.Shot.Elements[up].Role == desktop.Document {
			after, _ := slices.BinarySearch(found, i)
			return found[max(0, after-nextButtons):min(len(found), after+nextButtons)]
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// nextButtons is how many buttons before a field of a page, and after it, may send what is in it.
const nextButtons = 3

// document is the document that the element is in, or -1.
func (v *View) document(i int) int {
	for i = v.Shot.Elements[i].Parent; i >= 0 && v.Shot.Elements[i].Role != desktop.Document; {
		i = v.Shot.Elements[i].Parent
	}
	return i
}

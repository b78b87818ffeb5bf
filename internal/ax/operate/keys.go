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

// PressedBy is what return or space may press: what has the keyboard (-1: nobody knows
// what), the button that the window has for return, or any button of a dialog that does
// not tell which that is. Soon says that what is typed before may enable some.
func (v *View) PressedBy(ctx context.Context, space bool, focused int, soon bool) []int {
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
	if space {
		return v.Buttons(within, false, soon)
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
	if i < 0 || !strings.ContainsAny(text, "\n\r\t") || !v.App.Browser && values.SheetCell(&v.Shot.Elements[i]) { // they lead to other cells
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
	return v.PressedBy(ctx, false, i, true)
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

package ax

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"aai"
	"aai/internal/desktop"
)

// chordOf is what a call that presses a key presses.
func chordOf(call *aai.Call) (chord desktop.Chord, is bool) {
	chord.Key, is = call.Args["key"].(string)
	pressed, _ := call.Args["modifiers"].([]any)
	for _, m := range pressed {
		word, _ := m.(string)
		chord.Modifiers = append(chord.Modifiers, modifier(word))
	}
	return chord, is
}

// chordText is a chord as people write it: ctrl+w.
func chordText(c desktop.Chord) string {
	return strings.Join(append(slices.Clone(c.Modifiers), strings.ToLower(c.Key)), "+")
}

// destroys reports whether the chord closes or deletes, whatever it is pressed at.
func destroys(c desktop.Chord) bool {
	has := func(name string) bool { return slices.Contains(c.Modifiers, name) }
	switch strings.ToLower(c.Key) {
	case "delete", "del", "kp_delete":
		return true
	case "w", "q":
		return has("ctrl") || has("meta")
	case "f4":
		return has("alt") || has("ctrl")
	}
	return isReturn(c.Key) && (has("ctrl") || has("meta")) // sends, in what is written
}

func isReturn(key string) bool {
	return slices.Contains([]string{"return", "enter", "kp_enter", "\n", "\r"}, strings.ToLower(key))
}

func isSpace(key string) bool { return key == " " || strings.EqualFold(key, "space") }

// keyed is what has the keyboard of the window that keys go to, or -1.
func (v *view) keyed(ctx context.Context) int {
	top := v.frontTop(ctx)
	if top < 0 {
		if m, err := v.focused(); err == nil {
			return m.index
		}
		return -1
	}
	return v.keyboardWithin(top+1, v.shot.Elements[top].End)
}

// pressedBy is what return or space may press: what has the keyboard (-1: nobody knows
// what), the button that the window has for return, or any button of a dialog that does
// not tell which that is. Soon says that what is typed before may enable some.
func (v *view) pressedBy(ctx context.Context, space bool, focused int, soon bool) []int {
	role, writes := desktop.Generic, false
	if focused >= 0 {
		e := &v.shot.Elements[focused]
		role, writes = e.Role, e.States.Has(desktop.Multiline) || e.Role == desktop.Terminal
	}
	var pressed []int
	switch {
	case role == desktop.Button || role.MenuEntry() || space && role.Fires():
		return []int{focused}
	case writes, space && focused >= 0 && takesText(&v.shot.Elements[focused]):
		return nil // it is written there
	case focused >= 0 && !takesText(&v.shot.Elements[focused]):
		if pressed = []int{focused}; space {
			return pressed
		}
	}
	within := v.asks(focused)
	if within < 0 && focused < 0 {
		if top := v.frontTop(ctx); top >= 0 && isDialog(&v.shot.Elements[top]) {
			within = top
		}
	}
	if space {
		return v.buttons(within, false, soon)
	}
	top := v.frontTop(ctx)
	if focused >= 0 {
		top = v.shot.Window(focused)
	}
	if byDefault := v.buttons(top, true, soon); len(byDefault) > 0 {
		return append(pressed, byDefault...)
	}
	return append(pressed, v.buttons(within, false, soon)...)
}

// reached is what is to be read on what the chord may press by a letter of its name: the
// entries of an open menu, and buttons where the letter is not written. Return and space
// press whichever entry of an open menu is chosen, which not every toolkit tells.
func (v *view) reached(c desktop.Chord, focused int) (says []string) {
	letter := strings.ToLower(c.Key)
	chooses := isReturn(c.Key) || isSpace(c.Key)
	if !chooses && utf8.RuneCountInString(letter) != 1 || slices.Contains(c.Modifiers, "ctrl") || slices.Contains(c.Modifiers, "meta") {
		return nil
	}
	writes := focused >= 0 && takesText(&v.shot.Elements[focused])
	buttons := !chooses && (slices.Contains(c.Modifiers, "alt") || focused >= 0 && !writes)
	for i := range v.shot.Elements {
		e := &v.shot.Elements[i]
		entry := e.Role.MenuEntry() && e.Parent >= 0 && v.shot.Elements[e.Parent].Role == desktop.Menu
		if (entry || buttons && e.Role.Fires()) && (chooses || strings.Contains(strings.ToLower(e.Name), letter)) && v.shot.Visible(i) {
			says = append(says, e.Name)
		}
	}
	return says
}

// pressedByTyping is what the text that the call gives the element may press: the end of
// a line in a field of one line is return, and after a tab it is any button.
func (v *view) pressedByTyping(ctx context.Context, i int) []int {
	text := v.gives()
	if flagArg(v.call, "submit") {
		text += "\n"
	}
	if i < 0 || !strings.ContainsAny(text, "\n\r\t") {
		return nil
	}
	if _, after, tab := strings.Cut(text, "\t"); tab && strings.ContainsAny(after, " \n\r") {
		return v.buttons(v.shot.Window(i), false, true) // in some fields of many lines a tab leads out, too
	}
	if !strings.ContainsAny(text, "\n\r") || !takesText(&v.shot.Elements[i]) || v.shot.Elements[i].States.Has(desktop.Multiline) && !flagArg(v.call, "submit") {
		return nil
	}
	return v.pressedBy(ctx, false, i, true)
}

// asks is the form or the dialog that the element is in, or -1.
func (v *view) asks(i int) int {
	for ; i >= 0; i = v.shot.Elements[i].Parent {
		if e := &v.shot.Elements[i]; e.Role == desktop.Form || isDialog(e) {
			return i
		}
	}
	return -1
}

func isDialog(e *desktop.Element) bool {
	return e.Role == desktop.Dialog || e.Role == desktop.AlertDialog || e.States.Has(desktop.Modal)
}

// buttons are those that show in the element (-1: in none); with byDefault, those that
// return is for, and soon, those that are not enabled yet.
func (v *view) buttons(within int, byDefault, soon bool) []int {
	if within < 0 {
		return nil
	}
	var found []int
	for i := within; i < v.shot.Elements[within].End; i++ {
		e := &v.shot.Elements[i]
		if e.Role == desktop.Button && (soon || e.States.Has(desktop.Enabled)) && (!byDefault || e.States.Has(desktop.Default)) && v.shot.Visible(i) {
			found = append(found, i)
		}
	}
	return found
}

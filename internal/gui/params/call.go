package params

import (
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
)

// Queries are all queries of the call.
func Queries(call *aai.Call) (queries []string) {
	for _, name := range []string{"query", "from_query", "to_query"} {
		if text := String(call, name); text != "" {
			queries = append(queries, text)
		}
	}
	for _, f := range FieldValues(call) {
		queries = append(queries, f.Query)
	}
	if submit := Submit(call); submit != "" {
		queries = append(queries, submit)
	}
	return queries
}

// TargetElement is what the call itself says of what it will hit.
func TargetElement(call *aai.Call) aai.TargetElement {
	var says []string
	for _, text := range Queries(call) {
		if !refs.Is(text) {
			says = append(says, text)
		}
	}
	hit := aai.TargetElement{AllText: strings.TrimSpace(strings.Join(says, " "))}
	if chord, is := Chord(call); is && isDestructive(chord) {
		hit.Key, hit.Irreversible = FormatChord(chord), true
	}
	return hit
}

// Windows without a tree are operated by points of their pictures and by keys, and what is
// drawn in one that has a tree is judged by its picture, too.

// IsByPoint reports whether the call names no element, so that it can do without a tree.
func IsByPoint(call *aai.Call) bool {
	if len(Queries(call)) > 0 {
		return false
	}
	for _, name := range []string{"x", "from_x", "key", "text", "direction"} {
		if Has(call, name) {
			return true
		}
	}
	return false
}

// Click is the button and how often it is pressed, 0 to move the pointer there, and what
// has been done then, in words.
func Click(call *aai.Call) (button desktop.MouseButton, count int, done string) {
	switch String(call, "click_type") {
	case "double":
		return desktop.LeftButton, 2, "Double-clicked"
	case "right":
		return desktop.RightButton, 1, "Right-clicked"
	case "hover":
		return desktop.LeftButton, 0, "Moved the pointer to"
	}
	return desktop.LeftButton, 1, "Clicked"
}

// A Pair is a field as a call says it: what it is, and what it is to hold.
type FieldValue struct{ Query, Value string }

// FieldValues are the fields that the call names, in its order.
func FieldValues(call *aai.Call) (pairs []FieldValue) {
	rows, _ := call.Args["fields"].([]any)
	for _, row := range rows {
		of, _ := row.(map[string]any)
		var p FieldValue
		p.Query, _ = of["query"].(string)
		p.Value, _ = of["value"].(string)
		pairs = append(pairs, p)
	}
	return pairs
}

// Submit is what the call presses when all is filled, or "".
func Submit(call *aai.Call) string {
	submit := String(call, "submit")
	if IsReturn(submit) {
		return ""
	}
	return submit
}

// Launches reports whether the call is to start a program, if it does not run or
// is to be started with arguments.
func Launches(call *aai.Call) bool { return Bool(call, "launch") }

// WindowTool is the name of the tool that manages windows.
const WindowTool = "ax_window"

// Activate is what that tool is told to bring a window to the front.
const Activate = "activate"

// activates reports whether the call is to give a window the person's keyboard.
func activates(call *aai.Call) bool {
	return call.Tool == WindowTool && String(call, "action") == Activate
}

// PressesViaAccessibility reports whether a click may be the program's own action, which reaches
// into closed menus.
func PressesViaAccessibility(call *aai.Call) bool {
	button, count, _ := Click(call)
	return call.Tool == "ax_click" && button == desktop.LeftButton && count == 1 && !TakesFocus(call)
}

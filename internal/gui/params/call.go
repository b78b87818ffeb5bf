package params

import (
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
)

// Queries returns the queries of all elements that the call names.
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

// TargetElement describes the call's target as far as its arguments tell.
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

// Windows without a tree are operated by points of their screenshots and by keys. A canvas in a
// window with a tree is also verified by screenshots.

// IsByPoint reports whether the call names no element, so that it works without a tree.
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

// Click returns the button, the number of clicks (0 only moves the pointer), and a past-tense description.
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

// FieldValue is one entry of the argument fields of a call: the query of a field and its new value.
type FieldValue struct{ Query, Value string }

// FieldValues returns the fields of the call, in its order.
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

// Submit returns the query of the element to press after filling; "" if there is none, or the key return submits.
func Submit(call *aai.Call) string {
	submit := String(call, "submit")
	if IsReturn(submit) {
		return ""
	}
	return submit
}

// Launches reports whether the call may start a program: if it does not run, or if the call has
// arguments for it.
func Launches(call *aai.Call) bool { return Bool(call, "launch") }

// WindowTool is the name of the tool that manages windows.
const WindowTool = "ax_window"

// ActivateAction is the action of WindowTool that brings a window to the front.
const ActivateAction = "activate"

// activates reports whether the call gives a window the person's keyboard.
func activates(call *aai.Call) bool {
	return call.Tool == WindowTool && String(call, "action") == ActivateAction
}

// PressesViaAccessibility reports whether a click may use the accessibility action, which reaches
// into closed menus.
func PressesViaAccessibility(call *aai.Call) bool {
	button, count, _ := Click(call)
	return call.Tool == "ax_click" && button == desktop.LeftButton && count == 1 && !TakesFocus(call)
}

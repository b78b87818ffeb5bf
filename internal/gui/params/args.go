// Package params decodes the arguments of desktop tool calls. It reads only the arguments, and no
// program.
package params

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
)

// Arguments are validated against the tool's schema before; an argument of another type counts as
// absent.

// String returns a string argument, or "".
func String(call *aai.Call, name string) string {
	s, _ := call.Args[name].(string)
	return s
}

// Has reports whether the call has the argument.
func Has(call *aai.Call, name string) bool {
	_, ok := call.Args[name]
	return ok
}

// Bool returns a boolean argument, or false.
func Bool(call *aai.Call, name string) bool {
	b, _ := call.Args[name].(bool)
	return b
}

// Int returns an integer argument; otherwise is the result if it is absent.
func Int(call *aai.Call, name string, otherwise int) int {
	return ToInt(call.Args[name], otherwise)
}

// ToInt returns a whole number, clamped to 32 bits; otherwise is the result for other values.
func ToInt(v any, otherwise int) int {
	if n, ok := aai.WholeNumber(v); ok {
		return max(math.MinInt32, min(math.MaxInt32, n))
	}
	return otherwise
}

// Float returns a numeric argument; otherwise is the result if it is absent.
func Float(call *aai.Call, name string, otherwise float64) float64 {
	switch v := call.Args[name].(type) {
	case float64:
		return v
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return otherwise
}

// TakesFocus reports whether the call may take the focus and pointer of the person: by mode, or to activate a window.
func TakesFocus(call *aai.Call) bool { return String(call, "mode") == "focus" || activates(call) }

// AppParam is the parameter that names the program.
const AppParam = "app"

// Region returns the part of the screen in the argument region; false without one.
func Region(call *aai.Call) (desktop.Rect, bool) {
	region, ok := call.Args["region"].(map[string]any)
	if !ok {
		return desktop.Rect{}, false
	}
	n := func(name string) int { return ToInt(region[name], 0) }
	return desktop.Rect{X: n("x"), Y: n("y"), W: n("w"), H: n("h")}, true
}

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

// CheckText returns an error for a text that no field accepts: with a control character other than
// a line end or tab, or invalid UTF-8.
func CheckText(call *aai.Call) error {
	for _, name := range []string{"text", "value"} {
		if err := checkText(name, String(call, name)); err != nil {
			return err
		}
	}
	for n, p := range FieldValues(call) {
		if err := checkText(fmt.Sprintf("fields[%d].value", n), p.Value); err != nil {
			return err
		}
	}
	return nil
}

func checkText(name, text string) error {
	at := 0
	for i, r := range text {
		at++
		got := fmt.Sprintf("%U", r)
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			got = "a byte that is not valid UTF-8"
		} else if r >= ' ' && r != 0x7f || strings.ContainsRune("\n\r\t", r) {
			continue
		}
		e := aai.Errorf(aai.InvalidParams, "%s: expected no control characters but line breaks and tabs, got %s as character %d", name, got, at)
		e.Delivery, e.Hint = aai.NotDelivered, "Leave it out. Other keys than characters are pressed by ax_key_press."
		return e
	}
	return nil
}

// Chord returns the key and modifiers of a call; is reports whether it presses a key.
func Chord(call *aai.Call) (chord desktop.Chord, is bool) {
	chord.Key, is = call.Args["key"].(string)
	pressed, _ := call.Args["modifiers"].([]any)
	for _, m := range pressed {
		word, _ := m.(string)
		chord.Modifiers = append(chord.Modifiers, modifier(word))
	}
	return chord, is
}

// FormatChord formats a chord for people: ctrl+w.
func FormatChord(c desktop.Chord) string {
	return strings.Join(append(slices.Clone(c.Modifiers), strings.ToLower(c.Key)), "+")
}

// isDestructive reports whether the chord closes or deletes something, regardless of its target.
func isDestructive(c desktop.Chord) bool {
	has := func(name string) bool { return slices.Contains(c.Modifiers, name) }
	switch strings.ToLower(c.Key) {
	case "delete", "del", "kp_delete":
		return true
	case "w", "q":
		return has("ctrl") || has("meta")
	case "f4":
		return has("alt") || has("ctrl")
	}
	return IsReturn(c.Key) && (has("ctrl") || has("meta")) // sends the text in many programs
}

// IsReloadChord reports whether the chord reloads the content of a window, as in browsers.
func IsReloadChord(c desktop.Chord) bool {
	held := slices.Contains(c.Modifiers, "ctrl") || slices.Contains(c.Modifiers, "meta")
	return strings.EqualFold(c.Key, "f5") || strings.EqualFold(c.Key, "r") && held
}

// IsReturn reports whether the key is return, in any of its spellings.
func IsReturn(key string) bool {
	return slices.Contains([]string{"return", "enter", "kp_enter", "\n", "\r"}, strings.ToLower(key))
}

// IsSpace reports whether the key is space.
func IsSpace(key string) bool { return key == " " || strings.EqualFold(key, "space") }

// IsShortcut reports whether the modifiers among the arguments make a key a shortcut instead of a character.
func IsShortcut(args map[string]any) bool {
	held, _ := args["modifiers"].([]any)
	return slices.ContainsFunc(held, func(m any) bool { return m != "shift" && m != "opt" })
}

// CheckKeys returns an error for a key that contains modifiers, and in the background for a shortcut of the desktop.
func CheckKeys(_ context.Context, call *aai.Call) error {
	chord, _ := Chord(call)
	if err := combinedKeyError(chord); err != nil {
		return err
	}
	if TakesFocus(call) || !isDesktopShortcut(chord) {
		return nil
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s is a key of the desktop, not of the program: it would disturb the person", strings.Join(append(chord.Modifiers, chord.Key), "+"))
	e.Delivery = aai.NotDelivered
	e.Hint = "Act on an element of the program instead."
	return e
}

// combinedKeyError returns the error for a key that contains its modifiers: ctrl+s.
func combinedKeyError(c desktop.Chord) error {
	words := strings.Split(c.Key, "+")
	if len(words) < 2 || utf8.RuneCountInString(c.Key) == 1 {
		return nil
	}
	key, held := words[len(words)-1], slices.Clone(c.Modifiers)
	if strings.HasSuffix(c.Key, "++") {
		key, words = "+", words[:len(words)-1]
	}
	for _, word := range words[:len(words)-1] {
		is := modifierName(strings.ToLower(strings.TrimSpace(word)))
		if is == "" {
			return nil
		}
		held = append(held, is)
	}
	e := aai.Errorf(aai.InvalidParams, "key: expected one key, got %s", desktop.Quote(c.Key, 32))
	e.Delivery = aai.NotDelivered
	modifiers := strings.Join(held, `", "`)
	e.Hint = fmt.Sprintf(`Give modifiers ["%s"] with the key %s.`, modifiers, desktop.Quote(strings.TrimSpace(key), 32))
	return e
}

// modifierName returns the modifier with that spelling, or "".
func modifierName(word string) string {
	switch word {
	case "ctrl", "shift", "alt", "meta":
		return word
	case "control", "strg":
		return "ctrl"
	case "super", "win", "windows":
		return "meta"
	case "option":
		return "alt"
	}
	if is := modifier(word); is != word {
		return is
	}
	return ""
}

// isDesktopShortcut reports whether window managers intercept the chord, from any keyboard.
func isDesktopShortcut(c desktop.Chord) bool {
	has := func(name string) bool { return slices.Contains(c.Modifiers, name) }
	key := strings.ToLower(c.Key)
	switch {
	case has("meta"), has("ctrl") && has("alt"):
		return true
	case !has("alt"):
		return key == "print"
	}
	return slices.Contains([]string{"tab", "escape", "esc", "space", "print"}, key) || len(key) > 1 && key[0] == 'f' && key[1] >= '0' && key[1] <= '9'
}

// modifier translates a Mac modifier to the platform: ctrl has the role of cmd.
func modifier(word string) string {
	switch word {
	case "cmd":
		return "ctrl"
	case "opt":
		return "alt"
	}
	return word
}

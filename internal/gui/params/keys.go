package params

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

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

// Package keysym names the meanings of keys, as X11 and Wayland number them.
package keysym

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// A Sym is the meaning of a key; X11 protocol, appendix A.
type Sym = uint32

// The keysyms of line breaks and tabs.
const (
	Return Sym = 0xff0d
	Tab    Sym = 0xff09
)

// Of returns the keysym of a character. Latin-1 characters are their own keysyms;
// all others add an offset to the code point.
func Of(r rune) (Sym, bool) {
	const unicodeOffset = 0x01000000
	switch {
	case r == '\n':
		return Return, true
	case r == '\t':
		return Tab, true
	case unicode.IsControl(r) || r > unicode.MaxRune || 0xd800 <= r && r < 0xe000 || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef:
		return 0, false // no character: control codes, surrogates, noncharacters
	case r <= 0xff:
		return Sym(r), true
	}
	return unicodeOffset + Sym(r), true
}

// OfText returns the keys to press for a text.
func OfText(text string) ([]Sym, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	if !utf8.ValidString(text) {
		return nil, refused("the text is not valid UTF-8")
	}
	var syms []Sym
	for i, r := range text {
		sym, ok := Of(r)
		if !ok {
			e := refused("the text has the character %U at byte %d, which cannot be typed", r, i)
			e.Hint = "Leave it out; other keys than characters, line breaks and tabs are pressed by name."
			return nil, e
		}
		syms = append(syms, sym)
	}
	return syms, nil
}

// keyNames returns the keysyms of named keys; X.Org's keysymdef.h.
func keyNames() map[string]Sym {
	names := map[string]Sym{
		"return": Return, "enter": Return, "tab": Tab, "escape": 0xff1b, "esc": 0xff1b, "space": ' ',
		"backspace": 0xff08, "delete": 0xffff, "insert": 0xff63, "home": 0xff50, "end": 0xff57,
		"page_up": 0xff55, "pageup": 0xff55, "page_down": 0xff56, "pagedown": 0xff56,
		"left": 0xff51, "up": 0xff52, "right": 0xff53, "down": 0xff54,
		"menu": 0xff67, "print": 0xff61, "pause": 0xff13, "help": 0xff6a,
		"caps_lock": 0xffe5, "num_lock": 0xff7f, "scroll_lock": 0xff14,
	}
	const f1 Sym = 0xffbe
	for i, digits := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24") {
		names["f"+digits] = f1 + Sym(i)
	}
	return names
}

// modifierNames returns the keysyms of the modifiers.
func modifierNames() map[string]Sym {
	const shift, control, alt, super Sym = 0xffe1, 0xffe3, 0xffe9, 0xffeb
	return map[string]Sym{
		"shift": shift, "ctrl": control, "control": control, "alt": alt, "option": alt,
		"meta": super, "super": super, "cmd": super, "command": super, "win": super,
	}
}

// Key returns the keysym of a key: a character, or a name in any case.
func Key(name string) (Sym, error) {
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && size > 0 {
		if sym, ok := Of(r); ok {
			return sym, nil
		}
	}
	return find("key", name, keyNames())
}

func find(what, name string, known map[string]Sym) (Sym, error) {
	if sym, ok := known[strings.ToLower(name)]; ok {
		return sym, nil
	}
	names := slices.Sorted(maps.Keys(known))
	e := refused("there is no %s %q", what, aai.CleanLabel(name, 80))
	e.Candidates = aai.Nearest(name, names, 5)
	e.Hint = "They are: " + strings.Join(names, ", ") + "."
	if what == "key" {
		e.Hint = "A key is one character or one of: " + strings.Join(names, ", ") + "."
	}
	return 0, e
}

// Modifier returns the keysym of a modifier: ctrl, shift, alt, meta or another name of one. The error is INVALID_PARAMS
// with the nearest names.
func Modifier(name string) (Sym, error) { return find("modifier", name, modifierNames()) }

// Shift is the modifier Shift.
const Shift Sym = 0xffe1

// refused returns an error of a request that was not delivered.
func refused(format string, args ...any) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, format, args...)
	e.Delivery = aai.NotDelivered
	return e
}

// NameOf returns the name by which Key finds a key that types no character; "" if it has none.
func NameOf(sym Sym) string {
	const keypadEnter Sym = 0xff8d
	if sym == keypadEnter {
		sym = Return
	}
	known := keyNames()
	for _, shorter := range []string{"enter", "esc", "pageup", "pagedown"} {
		delete(known, shorter)
	}
	for name, of := range known {
		if of == sym {
			return name
		}
	}
	return ""
}

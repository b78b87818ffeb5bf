package x11

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// A keysym is the meaning of a key; X11 protocol, appendix A.
type keysym = uint32

const (
	keyReturn keysym = 0xff0d
	keyTab    keysym = 0xff09
)

// keysymOf returns the keysym of a character. Latin-1 characters are their own keysyms;
// all others add an offset to the code point.
func keysymOf(r rune) (keysym, bool) {
	const unicodeKeysym = 0x01000000
	switch {
	case r == '\n':
		return keyReturn, true
	case r == '\t':
		return keyTab, true
	case unicode.IsControl(r) || r > unicode.MaxRune || 0xd800 <= r && r < 0xe000 || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef:
		return 0, false // no character: control codes, surrogates, noncharacters
	case r <= 0xff:
		return keysym(r), true
	}
	return unicodeKeysym + keysym(r), true
}

// keysymsOf returns the keys to press for a text.
func keysymsOf(text string) ([]keysym, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	if !utf8.ValidString(text) {
		return nil, notDeliveredError(aai.InvalidParams, "the text is not valid UTF-8")
	}
	var syms []keysym
	for i, r := range text {
		sym, ok := keysymOf(r)
		if !ok {
			e := notDeliveredError(aai.InvalidParams, "the text has the character %U at byte %d, which cannot be typed", r, i)
			e.Hint = "Leave it out; other keys than characters, line breaks and tabs are pressed by name."
			return nil, e
		}
		syms = append(syms, sym)
	}
	return syms, nil
}

// keyNames returns the keysyms of named keys; X.Org's keysymdef.h.
func keyNames() map[string]keysym {
	names := map[string]keysym{
		"return": keyReturn, "enter": keyReturn, "tab": keyTab, "escape": 0xff1b, "esc": 0xff1b, "space": ' ',
		"backspace": 0xff08, "delete": 0xffff, "insert": 0xff63, "home": 0xff50, "end": 0xff57,
		"page_up": 0xff55, "pageup": 0xff55, "page_down": 0xff56, "pagedown": 0xff56,
		"left": 0xff51, "up": 0xff52, "right": 0xff53, "down": 0xff54,
		"menu": 0xff67, "print": 0xff61, "pause": 0xff13, "help": 0xff6a,
		"caps_lock": 0xffe5, "num_lock": 0xff7f, "scroll_lock": 0xff14,
	}
	const f1 keysym = 0xffbe
	for i, digits := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24") {
		names["f"+digits] = f1 + keysym(i)
	}
	return names
}

// modifierNames returns the keysyms of the modifiers.
func modifierNames() map[string]keysym {
	const shift, control, alt, super keysym = 0xffe1, 0xffe3, 0xffe9, 0xffeb
	return map[string]keysym{
		"shift": shift, "ctrl": control, "control": control, "alt": alt, "option": alt,
		"meta": super, "super": super, "cmd": super, "command": super, "win": super,
	}
}

// keyOf returns the keysym of a key: a character, or a name in any case.
func keyOf(name string) (keysym, error) {
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && size > 0 {
		if sym, ok := keysymOf(r); ok {
			return sym, nil
		}
	}
	return named("key", name, keyNames())
}

func named(what, name string, known map[string]keysym) (keysym, error) {
	if sym, ok := known[strings.ToLower(name)]; ok {
		return sym, nil
	}
	names := slices.Sorted(maps.Keys(known))
	e := notDeliveredError(aai.InvalidParams, "there is no %s %q", what, aai.CleanLabel(name, 80))
	e.Candidates = aai.Nearest(name, names, 5)
	e.Hint = "They are: " + strings.Join(names, ", ") + "."
	if what == "key" {
		e.Hint = "A key is one character or one of: " + strings.Join(names, ", ") + "."
	}
	return 0, e
}

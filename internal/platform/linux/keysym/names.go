package keysym

import (
	"embed"
	"strconv"
	"strings"
	"unicode/utf8"
)

// files has names.txt, the names of X.Org's keysymdef.h, with a keysym as Of returns it for a character. Names of dead keys and of
// the keypad's characters are absent: nothing types with them.
//
//go:embed names.txt
var files embed.FS

// A Table finds keysyms by their names in a keymap, such as adiaeresis.
type Table map[string]Sym

// NewTable returns the table.
func NewTable() Table {
	t := make(Table, 2000)
	names, _ := files.ReadFile("names.txt") // always there
	for field := range strings.FieldsSeq(string(names)) {
		name, hex, _ := strings.Cut(field, "=")
		if sym, err := strconv.ParseUint(hex, 16, 32); err == nil {
			t[name] = Sym(sym)
		}
	}
	return t
}

// Find returns the keysym of a name; false if no key can type it.
func (t Table) Find(name string) (Sym, bool) {
	if sym, ok := t[name]; ok {
		return sym, true
	}
	if len(name) == 1 {
		return Sym(name[0]), true
	}
	if hex, ok := strings.CutPrefix(name, "U"); ok && len(hex) >= 4 {
		if r, err := strconv.ParseUint(hex, 16, 32); err == nil && r <= utf8.MaxRune {
			return Of(rune(r))
		}
	}
	if hex, ok := strings.CutPrefix(name, "0x"); ok {
		sym, err := strconv.ParseUint(hex, 16, 32)
		return Sym(sym), err == nil
	}
	return 0, false
}

// Chord returns the keysyms of a key and its modifiers by their names.
func Chord(name string, modifierNames []string) (key Sym, modifiers []Sym, err error) {
	if key, err = Key(name); err != nil {
		return 0, nil, err
	}
	for _, name := range modifierNames {
		m, err := Modifier(name)
		if err != nil {
			return 0, nil, err
		}
		modifiers = append(modifiers, m)
	}
	return key, modifiers, nil
}

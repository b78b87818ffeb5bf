package ei

import (
	"errors"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// Keysyms of the keys that choose a level, and of modifiers.
const (
	levelThree keysym.Sym = 0xfe03 // AltGr
	levelFive  keysym.Sym = 0xfe11
)

// Locked modifiers, as the bits of a keyboard's state.
const (
	lockBit    = 1 << 1 // Caps Lock
	numLockBit = 1 << 4 // Mod2
)

// evdevOffset is the difference between the key codes of a keymap and those of Linux input events.
const evdevOffset = 8

// A modifierSet has modifiers by their names in the types of a keymap.
type modifierSet uint8

const (
	withShift modifierSet = 1 << iota
	withLock
	withNumLock
	withLevelThree
	withLevelFive
	withOther // a modifier that no text needs
)

// A keyType says which level of a key the modifiers choose.
type keyType struct {
	modifiers modifierSet
	levels    map[modifierSet]int // counted from 0
}

// level returns the level that the modifiers choose.
func (t keyType) level(held modifierSet) int { return t.levels[held&t.modifiers] }

// A key has the keysyms of each group (layout) and level; 0 is none that can be typed.
type key struct {
	code   uint32 // of Linux input events
	types  map[int]string
	groups [][]keysym.Sym
}

// A Keymap is the keymap of a keyboard.
type Keymap struct {
	names keysym.Table
	codes map[string]uint32
	types map[string]keyType
	keys  []*key
}

// ParseKeymap reads a keymap in the format of XKB, as compositors write it.
func ParseKeymap(text string) (*Keymap, error) {
	k := &Keymap{names: keysym.NewTable(), codes: make(map[string]uint32), types: make(map[string]keyType)}
	s := &scanner{rest: text}
	s.expect("xkb_keymap")
	s.statements(func(section string) {
		if strings.HasPrefix(s.peek(), `"`) {
			s.next()
		}
		switch section {
		case "xkb_keycodes":
			s.statements(func(first string) { k.readCode(s, first) })
		case "xkb_types":
			s.statements(func(first string) { k.readType(s, first) })
		case "xkb_symbols":
			s.statements(func(first string) { k.readKey(s, first) })
		}
	})
	if s.err == nil && len(k.keys) == 0 {
		s.err = errors.New("the keymap has no keys")
	}
	return k, s.err
}

// readCode reads <NAME> = code, or alias <NAME> = <NAME>.
func (k *Keymap) readCode(s *scanner, first string) {
	switch {
	case strings.HasPrefix(first, "<"):
		s.expect("=")
		k.codes[first] = uint32(s.number(""))
	case first == "alias":
		name := s.next()
		s.expect("=")
		if code, ok := k.codes[s.next()]; ok {
			k.codes[name] = code
		}
	}
}

// readType reads type "NAME" { modifiers = A+B; map[A] = Level2; … }.
func (k *Keymap) readType(s *scanner, first string) {
	if first != "type" {
		return
	}
	name := s.next()
	t := keyType{levels: make(map[modifierSet]int)}
	s.statements(func(first string) {
		switch first {
		case "modifiers":
			s.expect("=")
			t.modifiers = readModifiers(s)
		case "map":
			s.expect("[")
			held := readModifiers(s)
			s.expect("]")
			s.expect("=")
			if level := s.number("level") - 1; held&withOther == 0 {
				t.levels[held] = level
			}
		}
	})
	k.types[name] = t
}

func readModifiers(s *scanner) (set modifierSet) {
	bits := map[string]modifierSet{
		"none": 0, "Shift": withShift, "Lock": withLock, "NumLock": withNumLock, "LevelThree": withLevelThree, "LevelFive": withLevelFive,
	}
	for {
		bit, ok := bits[s.next()]
		if !ok {
			bit = withOther
		}
		set |= bit
		if !s.accept("+") {
			return set
		}
	}
}

// readKey reads key <NAME> { type= "X", symbols[1]= [ a, A ], … }.
func (k *Keymap) readKey(s *scanner, first string) {
	if first != "key" {
		return
	}
	code, known := k.codes[s.next()]
	key := &key{code: code - evdevOffset, types: make(map[int]string)}
	s.expect("{")
	for s.err == nil && !s.accept("}") {
		k.readPart(s, key)
		s.skipTo(",}")
		s.accept(",")
	}
	if known && code >= evdevOffset {
		k.keys = append(k.keys, key)
	}
}

// allGroups is the place of a type that holds for all groups.
const allGroups = -1

// readPart reads one part of a key.
func (k *Keymap) readPart(s *scanner, key *key) {
	if s.peek() == "[" {
		key.groups = append(key.groups, k.readSymbols(s))
		return
	}
	what, group := s.next(), allGroups
	if s.accept("[") {
		group = s.number("group") - 1
		s.expect("]")
	}
	if !s.accept("=") {
		return
	}
	const maxGroups = 32
	switch {
	case what == "type":
		key.types[group] = s.next()
	case what == "symbols" && group >= 0 && group < maxGroups:
		for len(key.groups) <= group {
			key.groups = append(key.groups, nil)
		}
		key.groups[group] = k.readSymbols(s)
	}
}

// readSymbols reads the keysyms of a group. A level with several has none that can be typed.
func (k *Keymap) readSymbols(s *scanner) (syms []keysym.Sym) {
	s.expect("[")
	for s.err == nil && s.peek() != "]" {
		sym, _ := k.names.Find(s.peek())
		if s.peek() == "{" {
			sym = 0
		}
		syms = append(syms, sym)
		s.skipTo(",]")
		s.accept(",")
	}
	s.next()
	return syms
}

// typeOf returns the type of a group of a key. Keys without a written type have the one that their keysyms imply.
func (k *Keymap) typeOf(key *key, group int) keyType {
	name, ok := key.types[group]
	if !ok {
		name, ok = key.types[allGroups]
	}
	if !ok {
		name = impliedType(key.groups[group])
	}
	return k.types[name]
}

// impliedType returns the type of keysyms without a written one.
func impliedType(syms []keysym.Sym) string {
	isCased := func(i int) bool {
		lower, upper := runeOf(syms[i]), runeOf(syms[i+1])
		return unicode.IsLower(lower) && unicode.IsUpper(upper)
	}
	switch n := len(syms); {
	case n <= 1:
		return `"ONE_LEVEL"`
	case n == 2 && isCased(0):
		return `"ALPHABETIC"`
	case n == 2:
		return `"TWO_LEVEL"`
	case n > 4 || !isCased(0):
		return `"FOUR_LEVEL"`
	case n == 4 && isCased(2):
		return `"FOUR_LEVEL_ALPHABETIC"`
	}
	return `"FOUR_LEVEL_SEMIALPHABETIC"`
}

// runeOf returns the character of a keysym that keysym.Of returned.
func runeOf(sym keysym.Sym) rune {
	const offset = 0x01000000
	if sym >= offset {
		sym -= offset
	}
	return rune(sym)
}

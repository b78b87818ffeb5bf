package wayland

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// Key codes of Linux input events; a keymap counts them from 8.
const xkbOffset = 8

// Modifiers, as the bits of a keymap of the gateway.
const (
	shiftBit   = 1 << 0
	controlBit = 1 << 2
	altBit     = 1 << 3
	metaBit    = 1 << 6
)

// printingKeys returns the codes of the keys that print something, in the order of usPrints. Chromium knows keys by
// their position, so a character on another key would not arrive.
func printingKeys() []uint32 {
	var codes []uint32
	for _, row := range [][2]uint32{{41, 41}, {2, 13}, {16, 27}, {43, 43}, {30, 40}, {44, 53}, {57, 57}} {
		for code := row[0]; code <= row[1]; code++ {
			codes = append(codes, code)
		}
	}
	return codes
}

// usPrints has the characters that the printing keys have on a US keyboard, without Shift.
const usPrints = "`1234567890-=qwertyuiop[]\\asdfghjkl;'zxcvbnm,./ "

// namedKeys returns the codes of the keys without a character, by keysym.
func namedKeys() map[keysym.Sym]uint32 {
	keys := map[keysym.Sym]uint32{
		keysym.Return: 28, keysym.Tab: 15, 0xff1b: 1, 0xff08: 14, 0xffff: 111, 0xff63: 110, 0xff50: 102, 0xff57: 107,
		0xff55: 104, 0xff56: 109, 0xff51: 105, 0xff52: 103, 0xff53: 106, 0xff54: 108, 0xff67: 127, 0xff61: 99, 0xff13: 119,
		0xff6a: 138, 0xffe5: 58, 0xff7f: 69, 0xff14: 70, keysym.Shift: 42, 0xffe3: 29, 0xffe9: 56, 0xffeb: 125,
	}
	const f1 keysym.Sym = 0xffbe
	for i := range uint32(24) {
		code := 59 + i // F1 to F10
		switch {
		case i >= 12:
			code = 183 + i - 12
		case i >= 10:
			code = 87 + i - 10
		}
		keys[f1+i] = code
	}
	return keys
}

// A keymap assigns characters to the printing keys.
type keymap struct {
	codes map[keysym.Sym]uint32
	text  string // in the format of XKB
}

// newKeymap returns a keymap for the first of the keysyms, and how many of them it has. A character of the US keyboard
// stays on its key.
func newKeymap(syms []keysym.Sym) (k keymap, has int) {
	positions, named := printingKeys(), namedKeys()
	own := make(map[keysym.Sym]uint32, len(positions))
	for i, r := range usPrints {
		own[keysym.Sym(r)] = positions[i]
	}
	k.codes = make(map[keysym.Sym]uint32)
	taken := make(map[uint32]bool)
	for has < len(syms) {
		sym := syms[has]
		if _, known := k.codes[sym]; !known {
			code, ok := named[sym]
			if !ok {
				code, ok = freeKey(own[sym], positions, taken)
			}
			if !ok {
				break
			}
			k.codes[sym], taken[code] = code, true
		}
		has++
	}
	for sym, code := range own { // shortcuts need the letters at their places
		if _, known := k.codes[sym]; !known && !taken[code] {
			k.codes[sym], taken[code] = code, true
		}
	}
	for sym, code := range named {
		k.codes[sym] = code
	}
	k.text = k.format()
	return k, has
}

// freeKey returns a key that is not taken, the wanted one if it can.
func freeKey(wanted uint32, positions []uint32, taken map[uint32]bool) (uint32, bool) {
	if wanted != 0 && !taken[wanted] {
		return wanted, true
	}
	for i := len(positions) - 2; i >= 0; i-- { // from the end, where US characters are rarer; the last is the space bar
		if !taken[positions[i]] {
			return positions[i], true
		}
	}
	return 0, false
}

// format returns the keymap in the format of XKB. Each key has one character, without Shift.
func (k *keymap) format() string {
	var codes, symbols strings.Builder
	for _, sym := range slices.Sorted(maps.Keys(k.codes)) { // the same keys give the same text
		code := k.codes[sym]
		fmt.Fprintf(&codes, "<K%d> = %d;\n", code, code+xkbOffset)
		fmt.Fprintf(&symbols, "key <K%d> { [ 0x%x ] };\n", code, sym)
	}
	named := namedKeys()
	for _, m := range []struct {
		name string
		sym  keysym.Sym
	}{{"Shift", keysym.Shift}, {"Control", 0xffe3}, {"Mod1", 0xffe9}, {"Mod4", 0xffeb}} {
		fmt.Fprintf(&symbols, "modifier_map %s { <K%d> };\n", m.name, named[m.sym])
	}
	return "xkb_keymap {\nxkb_keycodes \"aai\" {\nminimum = 8;\nmaximum = 255;\n" + codes.String() + "};\n" +
		"xkb_types \"aai\" { include \"complete\" };\nxkb_compatibility \"aai\" { include \"complete\" };\n" +
		"xkb_symbols \"aai\" {\n" + symbols.String() + "};\n};\n"
}

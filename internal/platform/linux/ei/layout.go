package ei

import (
	"math/bits"
	"unicode"

	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// A Stroke is a way to type a keysym: a key, while the keys of modifiers are held.
type Stroke struct {
	Modifiers []uint32 // codes of Linux input events
	Code      uint32
}

// A Layout has the strokes of a keymap while a group and the locks are as they are.
type Layout struct{ strokes map[keysym.Sym]Stroke }

// Layout returns the strokes of a group, with locked modifiers as the bits of a keyboard's state.
func (k *Keymap) Layout(group int, locked uint32) *Layout {
	l := &Layout{strokes: make(map[keysym.Sym]Stroke)}
	var always modifierSet
	if locked&lockBit != 0 {
		always |= withLock
	}
	if locked&numLockBit != 0 {
		always |= withNumLock
	}
	held := map[modifierSet]uint32{}
	for modifier, sym := range map[modifierSet]keysym.Sym{withShift: keysym.Shift, withLevelThree: levelThree, withLevelFive: levelFive} {
		if code, ok := k.modifierKey(sym, group); ok {
			held[modifier] = code
		}
	}
	for _, set := range []modifierSet{
		0, withShift, withLevelThree, withShift | withLevelThree, withLevelFive, withShift | withLevelFive,
		withLevelThree | withLevelFive, withShift | withLevelThree | withLevelFive,
	} {
		if codes, ok := codesOf(set, held); ok {
			k.add(l, group, set|always, codes)
		}
	}
	return l
}

// codesOf returns the keys of modifiers; false if one has no key.
func codesOf(set modifierSet, keys map[modifierSet]uint32) (codes []uint32, ok bool) {
	for modifier := withShift; modifier <= withLevelFive; modifier <<= 1 {
		if set&modifier == 0 {
			continue
		}
		code, ok := keys[modifier]
		if !ok {
			return nil, false
		}
		codes = append(codes, code)
	}
	return codes, len(codes) == bits.OnesCount8(uint8(set))
}

// modifierKey returns the key whose first keysym is a modifier.
func (k *Keymap) modifierKey(sym keysym.Sym, group int) (uint32, bool) {
	for _, key := range k.keys {
		if syms := key.symbols(group); len(syms) > 0 && syms[0] == sym {
			return key.code, true
		}
	}
	return 0, false
}

// inGroup returns the group that the key uses while a group is locked.
func (k *key) inGroup(group int) int {
	if group < 0 || len(k.groups) == 0 {
		return 0
	}
	return group % len(k.groups)
}

// symbols returns the keysyms of a group.
func (k *key) symbols(group int) []keysym.Sym {
	if len(k.groups) == 0 {
		return nil
	}
	return k.groups[k.inGroup(group)]
}

// add adds the keysyms that the keys have with the modifiers. Earlier strokes stay: they have fewer modifiers.
func (k *Keymap) add(l *Layout, group int, held modifierSet, modifiers []uint32) {
	for _, key := range k.keys {
		syms := key.symbols(group)
		if len(syms) == 0 {
			continue
		}
		kind := k.typeOf(key, key.inGroup(group))
		level := kind.level(held)
		if level < 0 || level >= len(syms) || syms[level] == 0 {
			continue
		}
		r := runeOf(syms[level])
		if held&withLock != 0 && level == kind.level(held&^withLock) && unicode.ToUpper(r) != r { // programs apply Caps Lock
			continue
		}
		if old, known := l.strokes[syms[level]]; !known || len(old.Modifiers) == len(modifiers) && key.code < old.Code {
			l.strokes[syms[level]] = Stroke{Modifiers: modifiers, Code: key.code}
		}
	}
}

// Stroke returns the way to type a keysym; false if the layout has none.
func (l *Layout) Stroke(sym keysym.Sym) (Stroke, bool) {
	s, ok := l.strokes[sym]
	return s, ok
}

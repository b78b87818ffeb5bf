package x11

import (
	"context"
	"maps"
	"slices"
)

// remap assigns keys one keysym each, independent of modifiers, or none for 0.
//
// Programs and window managers read the whole keyboard again after each request that
// changes it; after twenty requests that may take seconds. So remap changes all keys in
// one request: the keys between the first and the last keep their current keysyms.
func (s *server) remap(ctx context.Context, keys map[byte]keysym) error {
	if len(keys) == 0 {
		return nil
	}
	if s.xkb != 0 {
		change, err := s.xkbRemap(ctx, keys)
		if err != nil {
			return err
		}
		if change != nil {
			return s.must(ctx, change)
		}
	}
	return s.must(ctx, coreRemap(keys)...)
}

// xkbRemap returns the SetMap request of XKB; XKBproto, section 16.3.5. It returns nil if
// the keyboard's description has an unexpected form.
func (s *server) xkbRemap(ctx context.Context, keys map[byte]keysym) (*call, error) {
	const getMap, setMap, keySyms = 8, 9, 1 << 1
	codes := slices.Sorted(maps.Keys(keys))
	first, n := codes[0], codes[len(codes)-1]-codes[0]+1
	get := query(s.xkb, getMap, uint16(useCoreKeyboard), uint16(0), uint16(keySyms), pad(2), first, n, pad(14))
	if err := s.must(ctx, get); err != nil {
		return nil, err
	}
	r := from(get.reply, 10)
	lowest, highest, present := r.u8(), r.u8(), r.u16()
	r.take(3)
	if gotFirst := r.u8(); gotFirst != first || present&keySyms == 0 {
		return nil, nil
	}
	if r.take(2); r.u8() != n {
		return nil, nil
	}
	r = from(get.reply, 40)
	var description []byte
	total := 0
	for i := range int(n) {
		head := r.take(8) // four types, the groups, the width, and the number of keysyms
		if head == nil {
			return nil, nil
		}
		count := int(from(head, 6).u16())
		syms := r.take(4 * count)
		if syms == nil && count > 0 {
			return nil, nil
		}
		if sym, ok := keys[first+byte(i)]; ok {
			description, count = appendKey(description, sym)
		} else {
			description = append(append(description, head...), syms...)
		}
		total += count
	}
	return command(s.xkb, setMap, uint16(useCoreKeyboard), uint16(keySyms), uint16(0), lowest, highest, pad(2),
		first, n, uint16(total), pad(18), description), nil
}

// appendKey appends a key of one group and the type ONE_LEVEL, which is always the first,
// or a key without a group.
func appendKey(description []byte, sym keysym) (extended []byte, syms int) {
	if sym == 0 {
		return append(description, make([]byte, 8)...), 0
	}
	for _, field := range []any{pad(4), byte(1), byte(1), uint16(1), sym} {
		description = appendField(description, field)
	}
	return description, 1
}

// coreRemap returns the requests for remap without XKB, as few as possible.
func coreRemap(keys map[byte]keysym) []*call {
	const per = 4
	codes := slices.Sorted(maps.Keys(keys))
	var calls []*call
	for i := 0; i < len(codes); {
		first := codes[i]
		var meanings []keysym
		for ; i < len(codes) && int(codes[i]) == int(first)+len(meanings)/per; i++ {
			sym := keys[codes[i]]
			meanings = append(meanings, sym, sym, sym, sym)
		}
		calls = append(calls, changeKeyboardMapping(first, per, meanings))
	}
	return calls
}

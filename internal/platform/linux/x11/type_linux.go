package x11

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// maxStrokes is the number of keys that are pressed between two checks of the focus.
const maxStrokes = 40

// Type types the text into the widget that has the window's keyboard focus. A line break
// is the key Return, a tab is Tab; other control characters fail with INVALID_PARAMS.
// Characters that the layout lacks are mapped to spare keys, which are restored some
// seconds later. A program that does not read its keys meanwhile results in a TIMEOUT.
//
// With PersonSeat the window must have the person's keyboard; otherwise Type fails with
// AUTOMATION_FAILED and not_delivered. If the window loses it on the way, typing ends.
// Typing pauses while a question to the person is open, and continues afterwards if there
// is time and the window has the keyboard again. With OwnSeat the window gets the
// gateway's keyboard, and its focused widget the text. GTK 4 has no focused widget in the
// background.
func (d *Display) Type(ctx context.Context, which desktop.Seat, id desktop.WindowID, text string) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	syms, err := keysym.OfText(text)
	if err != nil || len(syms) == 0 {
		return err
	}
	t, err := d.typist(ctx, which, id, window)
	if err != nil {
		return err
	}
	defer t.restore(ctx)
	return t.text(ctx, syms)
}

// text types the keysyms.
func (t *typist) text(ctx context.Context, syms []keysym.Sym) error {
	t.begun = false
	for typed := 0; typed < len(syms); {
		n, err := t.write(ctx, syms[typed:])
		if err != nil {
			return t.stopped(err, typed, len(syms))
		}
		typed += n
	}
	return nil
}

// Key presses the chord. A key is a character or one of: return (enter), tab, escape
// (esc), space, backspace, delete, insert, home, end, page_up, page_down, left, up, right,
// down, menu, print, pause, help, caps_lock, num_lock, scroll_lock, f1 to f24. Modifiers
// are ctrl, shift, alt and meta. Others fail with INVALID_PARAMS and the nearest names.
// Seats work as in Type.
func (d *Display) Key(ctx context.Context, which desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	sym, modifiers, err := keysym.Chord(chord.Key, chord.Modifiers)
	if err != nil {
		return err
	}
	t, err := d.typist(ctx, which, id, window)
	if err != nil {
		return err
	}
	defer t.restore(ctx)
	return t.key(ctx, sym, modifiers)
}

// key presses a key while the modifiers are held.
func (t *typist) key(ctx context.Context, sym keysym.Sym, modifiers []keysym.Sym) error {
	if t.hands.own == nil && t.display.isStopChord(sym, modifiers) {
		e := notDeliveredError(aai.PermissionDenied, "this key stops all agents, so only the person presses it")
		e.Hint = "Press it in the background mode, or choose another key; the person can change the setting desktop.stopKey."
		return e
	}
	t.begun = false
	for {
		if pressed, err := t.chord(ctx, sym, slices.Clone(modifiers)); pressed || err != nil {
			return t.stopped(err, 0, 1)
		}
	}
}

// write types the next batch of the keysyms and returns their number.
func (t *typist) write(ctx context.Context, syms []keysym.Sym) (int, error) {
	if err := t.readLayout(ctx); err != nil {
		return 0, err
	}
	strokes, n, err := t.plan(ctx, syms)
	if err != nil || n == 0 {
		return 0, err
	}
	shift, _ := t.layout.find(keysym.Shift, 1)
	done, err := t.withInputLock(ctx, func(g *inputlock.Lease) error {
		if err := t.ensureFocus(ctx, g); err != nil {
			return err
		}
		var calls []*call
		for _, s := range strokes {
			if s.shift {
				calls = append(calls, t.press(g, keyPress, shift.code))
			}
			calls = append(calls, t.press(g, keyPress, s.code), t.press(g, keyRelease, s.code))
			if s.shift {
				calls = append(calls, t.press(g, keyRelease, shift.code))
			}
		}
		t.begun, t.unread = true, true
		return t.hands.must(ctx, calls...)
	})
	if !done {
		return 0, err
	}
	return n, nil
}

// readLayout reads the current meaning of the keys: the person may change the layout at
// any time.
func (t *typist) readLayout(ctx context.Context) error {
	l, err := t.person.layout(ctx)
	if err != nil {
		return err
	}
	t.layout = l
	t.display.keys.compare(t.person, l)
	return nil
}

// plan finds the keys for the first of the keysyms, and borrows those that are missing. It
// returns none if a question interrupted it.
func (t *typist) plan(ctx context.Context, syms []keysym.Sym) ([]stroke, int, error) {
	// Some programs read Shift only from the person's keyboard, so the gateway's own
	// keyboard types without it.
	levels := 2
	if _, ok := t.layout.find(keysym.Shift, 1); !ok || t.hands.own != nil {
		levels = 1
	}
	capacity := max(1, len(t.layout.spare())) // if there is none, borrow returns the error
	var borrowed []keysym.Sym
	n := 0
	for ; n < min(len(syms), maxStrokes); n++ {
		if _, ok := t.layout.find(syms[n], levels); ok || slices.Contains(borrowed, syms[n]) {
			continue
		}
		if len(borrowed) == capacity {
			break
		}
		borrowed = append(borrowed, syms[n])
	}
	lent, done, err := t.borrow(ctx, borrowed)
	if err != nil || !done {
		return nil, 0, err
	}
	strokes := make([]stroke, n)
	for i, sym := range syms[:n] {
		s, ok := t.layout.find(sym, levels)
		if !ok {
			s = stroke{code: lent[sym]}
		}
		strokes[i] = s
	}
	return strokes, n, nil
}

// borrow ensures that each keysym has a key. done is false if a question interrupted it.
func (t *typist) borrow(ctx context.Context, syms []keysym.Sym) (lent map[keysym.Sym]byte, done bool, err error) {
	keys := &t.display.keys
	change, err := keys.choose(ctx, t.layout, syms, t.awaitRead)
	if err == nil && len(change) > 0 {
		done, err = t.withInputLock(ctx, func(g *inputlock.Lease) error {
			keys.lend(change)
			if err := t.recordHeld(g, keys.lent); err != nil {
				return err
			}
			return keys.server.remap(ctx, change)
		})
		if !done {
			return nil, false, err
		}
	}
	// An earlier call may have ended while it waited for the program.
	if err == nil && len(syms) > 0 && !keys.notified[t.window] {
		if err = t.awaitRead(ctx); err == nil {
			keys.notified[t.window] = true
		}
	}
	return keys.lent, err == nil, err
}

// chord presses one key while the modifiers are held. It does nothing if a question
// interrupted it.
func (t *typist) chord(ctx context.Context, sym keysym.Sym, modifiers []keysym.Sym) (pressed bool, err error) {
	held, err := t.hands.layout(ctx)
	if err == nil {
		err = t.readLayout(ctx)
	}
	if err != nil {
		return false, err
	}
	key, ok := t.layout.find(sym, 2)
	if !ok {
		lent, done, err := t.borrow(ctx, []keysym.Sym{sym})
		if err != nil || !done {
			return false, err
		}
		key = stroke{code: lent[sym]}
	}
	if shift := keysym.Shift; key.shift && !slices.Contains(modifiers, shift) {
		modifiers = append(modifiers, shift)
	}
	var codes []byte
	for _, m := range modifiers {
		s, ok := held.find(m, 1)
		if !ok {
			return false, unsupportedError("the keyboard lacks one of the modifiers", "Use another chord.")
		}
		codes = append(codes, s.code)
	}
	return t.withInputLock(ctx, func(g *inputlock.Lease) error {
		if err := t.ensureFocus(ctx, g); err != nil {
			return err
		}
		calls := []*call{t.press(g, keyPress, key.code), t.press(g, keyRelease, key.code)}
		for _, code := range codes {
			calls = append([]*call{t.press(g, keyPress, code)}, append(calls, t.press(g, keyRelease, code))...)
		}
		t.begun, t.unread = true, true
		return t.hands.must(ctx, calls...)
	})
}

func (t *typist) press(g *inputlock.Lease, kind, code byte) *call {
	return t.hands.fake(g, kind, code, desktop.Point{})
}

// stopped adds to err how many of the keysyms were typed.
func (t *typist) stopped(err error, typed, all int) error {
	if err == nil || !t.begun {
		return windowFailure("typing", err)
	}
	e := *aai.AsError(windowFailure("typing", err))
	e.Message = fmt.Sprintf("typed %d of %d, then: %s", typed, all, e.Message)
	e.Delivery = aai.DeliveryUnknown
	e.Hint = "Look at the window before trying again."
	return &e
}

// remap assigns keys one keysym each, independent of modifiers, or none for 0.
//
// Programs and window managers read the whole keyboard again after each request that
// changes it; after twenty requests that may take seconds. So remap changes all keys in
// one request: the keys between the first and the last keep their current keysyms.
func (s *server) remap(ctx context.Context, keys map[byte]keysym.Sym) error {
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
func (s *server) xkbRemap(ctx context.Context, keys map[byte]keysym.Sym) (*call, error) {
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
func appendKey(description []byte, sym keysym.Sym) (extended []byte, syms int) {
	if sym == 0 {
		return append(description, make([]byte, 8)...), 0
	}
	for _, field := range []any{pad(4), byte(1), byte(1), uint16(1), sym} {
		description = appendField(description, field)
	}
	return description, 1
}

// coreRemap returns the requests for remap without XKB, as few as possible.
func coreRemap(keys map[byte]keysym.Sym) []*call {
	const per = 4
	codes := slices.Sorted(maps.Keys(keys))
	var calls []*call
	for i := 0; i < len(codes); {
		first := codes[i]
		var meanings []keysym.Sym
		for ; i < len(codes) && int(codes[i]) == int(first)+len(meanings)/per; i++ {
			sym := keys[codes[i]]
			meanings = append(meanings, sym, sym, sym, sym)
		}
		calls = append(calls, changeKeyboardMapping(first, per, meanings))
	}
	return calls
}

package x11

import (
	"context"
	"slices"
	"sync"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The XI2 request and events that report the keys of a keyboard, whatever window has the focus;
// XI2proto.txt, "RawEvent".
const (
	xiSelectEvents = 46
	rawKeyPress    = 13
	rawKeyRelease  = 14
	genericEvent   = 35
)

// personKeyboard is the name of the keyboard that every X server has.
const personKeyboard = "Virtual core keyboard"

// A stopKey recognizes a chord among the keys of the person's keyboard.
type stopKey struct {
	pressed chan struct{} // signals the chord

	mu        sync.Mutex
	codes     []byte   // keys that complete the chord
	modifiers [][]byte // of each modifier the keys, one of which must be down
	down      [256]bool
}

func newStopKey() *stopKey { return &stopKey{pressed: make(chan struct{}, 1)} }

// watch asks the server for the keys of the person's keyboard. Keys of the gateways' own seats are
// not reported. The connection must pass its events to heard.
func (k *stopKey) watch(ctx context.Context, s *server, chord desktop.Chord) error {
	if s.xinput == 0 {
		return unsupportedError("this X server lacks XInput 2, so no key stops the agents", "Stop them with `aai-gateway stop`.")
	}
	devices, err := (&ownSeat{server: s}).masters(ctx)
	if err != nil {
		return err
	}
	l, err := s.layout(ctx)
	if err != nil {
		return err
	}
	sym, err := keyOf(chord.Key)
	if err != nil {
		return err
	}
	var modifiers [][]byte
	for _, name := range chord.Modifiers {
		left, err := named("modifier", name, modifierNames())
		if err != nil {
			return err
		}
		modifiers = append(modifiers, l.codesOf(left, left+1)) // the right one is the next keysym
	}
	k.mu.Lock()
	k.codes, k.modifiers = l.codesOf(sym), modifiers
	k.mu.Unlock()
	const maskWords, queryKeymap = 1, 44
	keymap := query(queryKeymap, 0)
	err = s.must(ctx, command(s.xinput, xiSelectEvents, s.root, uint16(1), pad(2),
		devices[personKeyboard], uint16(maskWords), uint32(1<<rawKeyPress|1<<rawKeyRelease)), keymap)
	if err != nil {
		return err
	}
	bits := from(keymap.reply, 8).take(32)
	k.mu.Lock()
	defer k.mu.Unlock()
	for code := range 8 * len(bits) {
		k.down[code] = k.down[code] || bits[code/8]&(1<<(code%8)) != 0
	}
	return nil
}

// heard processes an event. It runs in the reading goroutine.
func (k *stopKey) heard(event []byte) {
	if event[0]&0x7f != genericEvent {
		return
	}
	r := from(event, 8)
	kind := r.u16()
	r.take(6) // device, time
	code := byte(r.u32())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.down[code] = kind == rawKeyPress
	if kind != rawKeyPress || !slices.Contains(k.codes, code) {
		return
	}
	for _, either := range k.modifiers {
		if !slices.ContainsFunc(either, func(code byte) bool { return k.down[code] }) {
			return
		}
	}
	select {
	case k.pressed <- struct{}{}:
	default:
	}
}

// codesOf returns the keys that have one of the keysyms, alone or with Shift.
func (l *layout) codesOf(syms ...keysym) (codes []byte) {
	for _, code := range l.codes() {
		if slices.ContainsFunc(syms, func(sym keysym) bool { return l.at(code, 0) == sym || l.at(code, 1) == sym }) {
			codes = append(codes, code)
		}
	}
	return codes
}

// isStopChord reports whether the keys would complete the person's stop chord.
func (d *Display) isStopChord(sym keysym, modifiers []keysym) bool {
	if d.stopChord.Key == "" {
		return false
	}
	key, needed, err := keysOf(d.stopChord)
	return err == nil && sym == key && !slices.ContainsFunc(needed, func(m keysym) bool { return !slices.Contains(modifiers, m) })
}

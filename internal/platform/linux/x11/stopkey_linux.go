package x11

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
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
	sym, err := keysym.Key(chord.Key)
	if err != nil {
		return err
	}
	var modifiers [][]byte
	for _, name := range chord.Modifiers {
		left, err := keysym.Modifier(name)
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
func (l *layout) codesOf(syms ...keysym.Sym) (codes []byte) {
	for _, code := range l.codes() {
		if slices.ContainsFunc(syms, func(sym keysym.Sym) bool { return l.at(code, 0) == sym || l.at(code, 1) == sym }) {
			codes = append(codes, code)
		}
	}
	return codes
}

// isStopChord reports whether the keys would complete the person's stop chord.
func (d *Display) isStopChord(sym keysym.Sym, modifiers []keysym.Sym) bool {
	if d.stopChord.Key == "" {
		return false
	}
	key, needed, err := keysym.Chord(d.stopChord.Key, d.stopChord.Modifiers)
	return err == nil && sym == key && !slices.ContainsFunc(needed, func(m keysym.Sym) bool { return !slices.Contains(modifiers, m) })
}

// stroke runs do, which makes input, while it holds the input lock, unless the person has
// stopped the call. If a question was open before and yield is set, stroke only reports
// paused: yield has restored the keyboard for the question, so the caller must read the
// state again.
//
// The lock is held until the server has processed all requests, even after the call's
// deadline: later input would arrive in the window of the question.
func (d *Display) stroke(ctx context.Context, h inputConn, yield func(*inputlock.Lease), do func(*inputlock.Lease) error) (paused bool, err error) {
	if err := actionctx.CheckStopped(ctx); err != nil {
		return false, err
	}
	g, err := d.config.InputLock.Acquire(ctx, yield)
	if err != nil {
		return false, err
	}
	defer g.Release()
	if yield != nil && g.WasPaused() {
		return true, nil
	}
	err = do(g)
	if ctx.Err() != nil {
		g.AddUser()
		_ = h.cleanUp(ctx, func(ctx context.Context) error {
			defer g.Release()
			return h.do(ctx, getInputFocus())
		})
	}
	return false, err
}

// recordHeld applies change to this gateway's record of held input, by which other
// gateways release that input if this process dies.
func (h inputConn) recordHeld(g *inputlock.Lease, change func(*inputlock.HeldInput)) error {
	held := g.HeldInput(os.Getpid(), h.person.setup.idBase)
	change(&held)
	return g.SetHeldInput(held)
}

// recordHeld records the held state of the keyboard: the former locks and the lent keys.
// The caller holds the keyboard.
func (k *keyboard) recordHeld(g *inputlock.Lease, h inputConn, lock lockState, lent map[keysym.Sym]byte) error {
	k.recorded = true // also if it fails half-way
	err := h.recordHeld(g, func(held *inputlock.HeldInput) {
		held.Locked, held.Modifiers, held.Group = lock.locked, lock.modifiers, lock.group
		held.Keys = make(map[byte]uint32, len(lent))
		for sym, code := range lent {
			held.Keys[code] = sym
		}
	})
	if err == nil {
		k.recorded = lock.locked || len(lent) > 0
	}
	return err
}

// clearHeld removes records of input that is no longer held. Remaining records are applied
// to the person's keyboard after this gateway ends, so locks that they turned off long ago
// would be on again. While a question is open, the next stroke or Close does it. The
// caller holds the keyboard.
func (d *Display) clearHeld(ctx context.Context, h inputConn) {
	if !d.keys.recorded {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	g, err := d.config.InputLock.Acquire(ctx, nil)
	if err == nil {
		err = d.keys.recordHeld(g, h, lockState{}, d.keys.lent)
		g.Release()
	}
	if err != nil {
		d.config.Log.Warn("x11: what is held no more is still put down as held", "error", err)
	}
}

// interrupted returns the error for input that a question ended.
func interrupted(format string, args ...any) error {
	e := aai.Errorf(aai.RateLimited, "the person at this computer is being asked something: "+format, args...)
	e.Delivery = aai.DeliveryUnknown
	e.RetryAfter = 10 * time.Second
	e.Hint = "Look at the window when the question is answered, before trying again."
	return e
}

// releaseHeld releases the input held by gateways that have ended, and returns the rest. A
// gateway has ended when its connection is gone.
func (d *Display) releaseHeld(ctx context.Context, g *inputlock.Lease, held []inputlock.HeldInput) []inputlock.HeldInput {
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	s, err := d.server(ctx)
	if err != nil || s.resource == 0 {
		return held
	}
	return slices.DeleteFunc(held, func(h inputlock.HeldInput) bool {
		owner, err := s.processOf(ctx, h.Connection)
		if err != nil || owner == h.Process {
			return false
		}
		if err := s.restoreHeld(ctx, g, h); err != nil {
			d.config.Log.Warn("x11: what a dead gateway held was not let go of", "process", h.Process, "error", err)
		}
		return true
	})
}

// restoreHeld releases buttons, removes the keysyms of lent keys that still have them, and
// restores the locks.
func (s *server) restoreHeld(ctx context.Context, g *inputlock.Lease, held inputlock.HeldInput) error {
	pointer := queryPointer(s.root)
	if err := s.must(ctx, pointer); err != nil {
		return err
	}
	mask := from(pointer.reply, 24).u16()
	var calls []*call
	for _, button := range held.Buttons {
		if button >= 1 && button <= 5 && mask&(1<<(7+button)) != 0 {
			calls = append(calls, s.fake(g, buttonRelease, button, desktop.Point{}))
		}
	}
	if held.Locked && s.xkb != 0 {
		// The dead gateway had turned the locks off. If some are on, the person has set them since.
		now, err := inputConn{server: s, person: s}.lockState(ctx)
		if err != nil {
			return err
		}
		if !now.locked {
			calls = append(calls, s.setLocks(held.Modifiers, held.Group))
		}
	}
	if len(calls) > 0 {
		if err := s.must(ctx, calls...); err != nil {
			return err
		}
	}
	if len(held.Keys) == 0 {
		return nil
	}
	l, err := s.layout(ctx)
	if err != nil {
		return err
	}
	keys := make(map[byte]keysym.Sym)
	for code := range maps.Keys(held.Keys) {
		if l.at(code, 0) == held.Keys[code] {
			keys[code] = 0
		}
	}
	return s.remap(ctx, keys)
}

// FocusedPID returns the process of the window with the person's keyboard, as reported by
// the X server, or 0 if there is none or the server cannot tell.
func (d *Display) FocusedPID(ctx context.Context) (int, error) {
	s, err := d.server(ctx)
	if err != nil {
		return 0, err
	}
	focus := getInputFocus()
	if err := s.must(ctx, focus); err != nil {
		return 0, wrapError("looking for the focus", err)
	}
	window := from(focus.reply, 8).u32()
	const pointerRoot = 1
	if window <= pointerRoot || window == s.root || s.resource == 0 {
		return 0, nil
	}
	pid, err := s.processOf(ctx, window&^s.setup.idMask)
	if err != nil {
		return 0, fmt.Errorf("looking for the focus: %w", err)
	}
	return pid, nil
}

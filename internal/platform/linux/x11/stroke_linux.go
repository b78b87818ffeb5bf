package x11

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// stroke makes input with the person's seat in hand, unless they have stopped the call. Where a question was open before,
// nothing is done if there is a yield, which has put things back for it: what was found
// out must be found out again.
//
// The seat is kept until the server has done what it was sent, also when the call's time
// is over: what is still on its way would arrive in the window of the question.
func (d *Display) stroke(ctx context.Context, h inputConn, yield func(*inputlock.Lease), do func(*inputlock.Lease) error) (paused bool, err error) {
	if err := aai.CheckStopped(ctx); err != nil {
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

// recordHeld puts down what is held from now on.
func (h inputConn) recordHeld(g *inputlock.Lease, change func(*inputlock.HeldInput)) error {
	held := g.HeldInput(os.Getpid(), h.person.setup.idBase)
	change(&held)
	return g.SetHeldInput(held)
}

// recordHeld puts down what is held of the keyboard: what was locked, and the keys that are
// lent. The caller holds the keyboard.
func (k *keyboard) recordHeld(g *inputlock.Lease, h inputConn, lock lockState, lent map[keysym]byte) error {
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

// clearHeld strikes out what was put down and is held no more. What stays there is done to
// the person's keyboard when this gateway has ended: locks that they have let go of long
// ago would be locked again. Where a question is open it is left to the next stroke, or
// to Close. The caller holds the keyboard.
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

// interrupted is the error of input that a question ended.
func interrupted(format string, args ...any) error {
	e := aai.Errorf(aai.RateLimited, "the person at this computer is being asked something: "+format, args...)
	e.Delivery = aai.DeliveryUnknown
	e.RetryAfter = 10 * time.Second
	e.Hint = "Look at the window when the question is answered, before trying again."
	return e
}

// releaseHeld lets go of what gateways held that are no more, and returns what is held still.
// A gateway is there as long as its connection is.
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

// restoreHeld lets go of buttons that are down, takes away the meanings that keys still
// have, and locks what was locked.
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
		// Whoever died had put the locks out. If some are on, the person has been there since.
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
	keys := make(map[byte]keysym)
	for code := range maps.Keys(held.Keys) {
		if l.at(code, 0) == held.Keys[code] {
			keys[code] = 0
		}
	}
	return s.remap(ctx, keys)
}

// FocusedPID returns the process whose window has the person's keyboard, by the word of
// the X server; 0 where none has, or where the server does not tell.
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

package x11

import "context"

// A lockState holds the locked state of a keyboard: modifiers such as Caps Lock, and the
// group, which is the second layout. The zero value needs no restore.
type lockState struct {
	locked    bool
	modifiers byte
	group     byte
}

const (
	xkbGetState       = 4
	xkbLatchLockState = 5
	useCoreKeyboard   = 0x100
	capsLock          = 1 << 1
)

// lockState reads the locked state. While the gateway types, Caps Lock is off and the
// first layout is active.
func (h inputConn) lockState(ctx context.Context) (lockState, error) {
	if h.xkb == 0 {
		return lockState{}, nil
	}
	state := query(h.xkb, xkbGetState, uint16(useCoreKeyboard), pad(2))
	if err := h.must(ctx, state); err != nil {
		return lockState{}, err
	}
	r := from(state.reply, 11)
	was := lockState{modifiers: r.u8() & capsLock}
	r.take(1)
	was.group = r.u8()
	was.locked = was.modifiers != 0 || was.group != 0
	return was, nil
}

func (h inputConn) relock(ctx context.Context, was lockState) error {
	if !was.locked {
		return nil
	}
	return h.must(ctx, h.setLocks(was.modifiers, was.group))
}

func (s *server) setLocks(modifiers, group byte) *call {
	return command(s.xkb, xkbLatchLockState, uint16(useCoreKeyboard), byte(capsLock), modifiers, true, group, pad(6))
}

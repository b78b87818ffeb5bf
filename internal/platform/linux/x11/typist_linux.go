package x11

import (
	"context"
	"errors"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// A typist types into one window. It holds the keyboard, so that two do not mix
// their letters.
type typist struct {
	display  *Display
	hands    inputConn
	person   *server // whose layout programs read keys by, whichever seat they come from
	id       desktop.WindowID
	window   xid
	layout   *layout
	answers  bool // the window's program says when it has read its keys
	hasFocus bool // our keyboard points to the window
	begun    bool // something has been sent
	unread   bool // it may not have been read yet
	lock     lockState
}

func (d *Display) typist(ctx context.Context, which desktop.Seat, id desktop.WindowID, window xid) (*typist, error) {
	const doing = "getting ready to type"
	h, err := d.take(ctx, which)
	if err != nil {
		return nil, err
	}
	if err := d.keys.hold(ctx); err != nil {
		h.release()
		// Whoever types may wait for the person, which says nothing against the program.
		if busy := d.config.InputLock.BusyError(); busy != nil {
			return nil, busy
		}
		return nil, wrapError("waiting for the keyboard", err)
	}
	t := &typist{display: d, hands: h, person: h.person, id: id, window: window}
	t.answers, err = h.person.answersPings(ctx, window)
	if err == nil {
		_, err = d.stroke(ctx, h, nil, func(g *inputlock.Lease) error { return t.begin(ctx, g) })
	}
	if err != nil {
		t.restore(ctx)
		return nil, windowFailure(doing, err)
	}
	return t, nil
}

// begin makes the keyboard ready, with the seat in hand.
func (t *typist) begin(ctx context.Context, g *inputlock.Lease) error {
	err := t.hands.awaitNoKeysDown(ctx)
	if err == nil {
		t.lock, err = t.hands.lockState(ctx)
	}
	if keys := &t.display.keys; err == nil && (t.lock.locked || keys.recorded && len(keys.lent) == 0) {
		err = t.recordHeld(g, keys.lent)
	}
	if err == nil && t.lock.locked {
		err = t.hands.must(ctx, t.hands.setLocks(0, 0))
	}
	if err == nil {
		err = t.ensureFocus(ctx, g)
	}
	return err
}

// recordHeld puts down what is held of the keyboard, with the keys that are lent.
func (t *typist) recordHeld(g *inputlock.Lease, lent map[keysym]byte) error {
	lock := t.lock
	if t.hands.own != nil { // they are of a keyboard that goes with us
		lock = lockState{}
	}
	return t.display.keys.recordHeld(g, t.hands, lock, lent)
}

// withInputLock does what needs the seat. If a question was open before, it does not: the
// keyboard was put back for it and is made ready again, and what was found out must be
// found out again.
func (t *typist) withInputLock(ctx context.Context, do func(*inputlock.Lease) error) (done bool, err error) {
	yield := func(g *inputlock.Lease) { t.yield(ctx, g) }
	paused, err := t.display.stroke(ctx, t.hands, yield, do)
	if err != nil || !paused {
		return err == nil, err
	}
	// The window manager gives the window the keyboard back when the question is gone.
	for until := time.Now().Add(returnPatience); ; {
		_, err = t.display.stroke(ctx, t.hands, nil, func(g *inputlock.Lease) error { return t.begin(ctx, g) })
		if err == nil || time.Now().After(until) || aai.Sleep(ctx, 20*time.Millisecond) != nil {
			return false, err
		}
	}
}

// returnPatience is how long a window may take to get the keyboard back after a question.
const returnPatience = time.Second

// yield puts the keyboard back for a question.
func (t *typist) yield(ctx context.Context, g *inputlock.Lease) {
	t.settle(ctx)
	err := errors.Join(t.hands.relock(ctx, t.lock), t.releaseFocus(ctx), t.display.keys.giveBackAll(ctx))
	t.lock, t.hasFocus = lockState{}, false
	if g != nil {
		err = errors.Join(err, t.recordHeld(g, nil))
	}
	if err != nil {
		t.display.config.Log.Warn("x11: the keyboard was not put back for a question", "error", err)
	}
}

// settle waits until what was typed has been read, where what is put back may change
// what a slow program reads. One that hangs is not waited for.
func (t *typist) settle(ctx context.Context) {
	if t.unread && (t.answers || t.hasFocus || t.lock.locked) {
		_ = t.person.settleSoon(ctx, t.window, t.answers)
	}
	t.unread = false
}

// restore puts the keyboard back as it was, whatever happened.
func (t *typist) restore(ctx context.Context) {
	_ = t.hands.cleanUp(ctx, func(ctx context.Context) error {
		defer t.hands.release()
		defer t.display.keys.release()
		defer t.display.returnKeysLater()
		t.settle(ctx)
		err := errors.Join(t.hands.relock(ctx, t.lock), t.releaseFocus(ctx))
		switch {
		case err != nil:
			t.display.config.Log.Warn("x11: the keyboard was not put back", "error", err)
		case t.hands.own == nil && t.lock.locked:
			t.display.clearHeld(ctx, t.hands)
		}
		return err
	})
}

// awaitRead waits until the program has read its keys.
func (t *typist) awaitRead(ctx context.Context) error {
	return t.person.settle(ctx, t.window, t.answers)
}

// releaseFocus takes our keyboard away from the window, and tells the window manager
// where the person's is: it does not know that there are two, and would take the
// window that we typed into for the one that the person works in. Ours does not rest
// in the person's window: the server tells of the focus only when the first keyboard
// comes to a window, so nobody would hear of it when the person leaves and comes back.
// Only where the person works in this very window it stays: GTK and Chromium would take
// the leaving of one keyboard for that of both. It stays there for as long as we have it in
// GTK's alone, since Chromium takes no keys from the person while it is there.
func (t *typist) releaseFocus(ctx context.Context) error {
	if t.hands.own == nil || !t.hasFocus {
		return nil
	}
	focus := getInputFocus()
	if err := t.person.must(ctx, focus); err != nil {
		return err
	}
	theirs := from(focus.reply, 8).u32()
	rest := t.hands.own.idleWindow
	same, err := t.person.within(ctx, theirs, t.window)
	stays := err != nil
	if err == nil && same {
		gtk, err := t.person.isGTK(ctx, t.window)
		stays = gtk || err != nil
	}
	if same || stays {
		rest = theirs
	}
	t.hands.own.sharesWindow.Store(stays)
	if err := t.hands.own.must(ctx, t.hands.own.setKeyboardFocus(rest)); err != nil {
		return err
	}
	return t.person.remindOfFocus(ctx, theirs)
}

// isGTK reports whether a window is GTK's, which alone keeps the time of what the person does
// in a window of its own.
func (s *server) isGTK(ctx context.Context, window xid) (bool, error) {
	times := getProperty(window, s.atoms["_NET_WM_USER_TIME_WINDOW"], 4, false)
	err := s.must(ctx, times)
	return err == nil && len(times.property().numbers()) > 0, err
}

// remindPerson reminds the window that has the person's keyboard.
func (s *server) remindPerson(ctx context.Context) error {
	focus := getInputFocus()
	if err := s.must(ctx, focus); err != nil {
		return err
	}
	return s.remindOfFocus(ctx, from(focus.reply, 8).u32())
}

// remindOfFocus sends the events that the server sends when a window gets the
// focus: to the window, and to the frames around it, where some window managers
// look. It sends none to the person's window when ours goes away, since that has had
// the focus all the time.
func (s *server) remindOfFocus(ctx context.Context, window xid) error {
	const focusIn, nonlinear, nonlinearVirtual, focusChange, pointerRoot = 9, 3, 4, 1 << 21, 1
	detail := byte(nonlinear)
	for range maxDepth {
		if window <= pointerRoot || window == s.root {
			return nil
		}
		event := request(focusIn, detail, window, pad(24))
		event[2], event[3] = 0, 0 // the server writes the sequence number there
		tree := queryTree(window)
		if err := s.must(ctx, sendEvent(window, focusChange, event), tree); err != nil {
			return err
		}
		window, _ = tree.children()
		detail = nonlinearVirtual
	}
	return nil
}

// ensureFocus makes sure that keys go to the window, as long as the seat is held.
func (t *typist) ensureFocus(ctx context.Context, _ *inputlock.Lease) error {
	if own := t.hands.own; own != nil {
		if err := own.refuseHidden(ctx, t.window); err != nil {
			return err
		}
		t.hasFocus = true
		own.unreadWindows.add(t.window)
		return own.must(ctx, own.setKeyboardFocus(t.window))
	}
	has, err := t.person.hasKeyboard(ctx, t.window)
	if err != nil {
		return err
	}
	if !has {
		if err := t.person.must(ctx, getGeometry(t.window)); err != nil {
			return err
		}
		e := notDeliveredError(aai.AutomationFailed, "the window does not have the keyboard")
		e.Hint = `Use mode "focus", which brings the window to the front.`
		return e
	}
	return nil
}

// refuseHidden fails for a window that X11 gives no keyboard.
func (s *server) refuseHidden(ctx context.Context, window xid) error {
	calls := s.askClient(window)
	if err := s.must(ctx, calls.all()...); err != nil {
		return err
	}
	if c, ok := s.readClient(window, calls, nil); !ok || !c.shown || c.Minimized {
		return unsupportedError("the window is minimized or hidden, and X11 gives it no keyboard", `Use mode "focus", which brings the window to the front.`)
	}
	return nil
}

package x11

import (
	"context"
	"errors"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// A typist types into one window. It holds the keyboard, so that two calls do not mix
// their letters.
type typist struct {
	display  *Display
	hands    inputConn
	person   *server // programs read keys by its layout, for either seat
	id       desktop.WindowID
	window   xid
	layout   *layout
	answers  bool // the window's program answers pings
	hasFocus bool // the own keyboard's focus is in the window
	begun    bool // input was sent
	unread   bool // the program may not have read all input yet
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
		// The other typist may wait for the person; the error must not blame the program.
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

// begin prepares the keyboard. The caller holds the input lock.
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

// recordHeld records the held state of the keyboard, with the lent keys.
func (t *typist) recordHeld(g *inputlock.Lease, lent map[keysym.Sym]byte) error {
	lock := t.lock
	if t.hands.own != nil { // they belong to a keyboard that is removed with the connection
		lock = lockState{}
	}
	return t.display.keys.recordHeld(g, t.hands, lock, lent)
}

// withInputLock runs do with the input lock. If a question was open before, it returns
// false without running do. yield had restored the keyboard for the question, so
// withInputLock prepares it again, and the caller must read the state again.
func (t *typist) withInputLock(ctx context.Context, do func(*inputlock.Lease) error) (done bool, err error) {
	yield := func(g *inputlock.Lease) { t.yield(ctx, g) }
	paused, err := t.display.stroke(ctx, t.hands, yield, do)
	if err != nil || !paused {
		return err == nil, err
	}
	// The window manager returns the keyboard to the window after the question.
	for until := time.Now().Add(returnPatience); ; {
		_, err = t.display.stroke(ctx, t.hands, nil, func(g *inputlock.Lease) error { return t.begin(ctx, g) })
		if err == nil || time.Now().After(until) || aai.Sleep(ctx, 20*time.Millisecond) != nil {
			return false, err
		}
	}
}

// returnPatience is the time for a window to get the keyboard back after a question.
const returnPatience = time.Second

// yield restores the keyboard for a question.
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

// settle waits until the program has read the typed keys, if restoring the keyboard could
// change their meaning. It does not wait for a hung program.
func (t *typist) settle(ctx context.Context) {
	if t.unread && (t.answers || t.hasFocus || t.lock.locked) {
		_ = t.person.settleSoon(ctx, t.window, t.answers)
	}
	t.unread = false
}

// restore restores the former state of the keyboard in all cases.
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

// releaseFocus moves the own keyboard out of the window and reminds the window manager of
// the person's focus: it knows only one keyboard, and would take the typed-in window for
// the one in which the person works. The own keyboard does not stay in the person's
// window: the server reports focus changes only for the first keyboard in a window, so the
// person's leaving and returning would go unreported. It stays only if the person works in
// this very window: GTK and Chromium take the leaving of one keyboard for that of both. It
// stays until the seat is removed only in GTK windows, since Chromium ignores the person's
// keys meanwhile.
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
		gtk, err := t.person.hasUserTimeWindow(ctx, t.window)
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

// hasUserTimeWindow reports whether the window has a separate window for _NET_WM_USER_TIME, as only those
// of GTK do.
func (s *server) hasUserTimeWindow(ctx context.Context, window xid) (bool, error) {
	times := getProperty(window, s.atoms["_NET_WM_USER_TIME_WINDOW"], 4, false)
	err := s.must(ctx, times)
	return err == nil && len(times.property().numbers()) > 0, err
}

// remindPerson calls remindOfFocus for the window with the person's keyboard.
func (s *server) remindPerson(ctx context.Context) error {
	focus := getInputFocus()
	if err := s.must(ctx, focus); err != nil {
		return err
	}
	return s.remindOfFocus(ctx, from(focus.reply, 8).u32())
}

// remindOfFocus sends the events that the server sends when a window gets the focus: to
// the window, and to the frames around it, where some window managers expect them. The
// server sends none to the person's window when the own keyboard leaves, since that window
// has had the focus all the time.
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

// ensureFocus moves the own keyboard to the window. With the person's keyboard it fails
// if the window does not have it. The caller holds the input lock.
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

// refuseHidden returns an error for a window that cannot get a keyboard in X11.
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

// WithKeyboard implements desktop.Keyboard. With PersonSeat the window must already have
// the person's keyboard.
func (d *Display) WithKeyboard(ctx context.Context, which desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	t, err := d.typist(ctx, which, id, window)
	if err != nil {
		return err
	}
	defer t.restore(ctx)
	if t.answers { // the program reports its focused element only after it has handled the focus event
		_ = t.person.settleSoon(ctx, t.window, true)
	}
	return while(ctx, keyboardInput{t, which})
}

// keyboardInput is the input while a window has the keyboard of a seat. It has no pointer:
// a click would wait for the keyboard that this input holds.
type keyboardInput struct {
	typist *typist
	seat   desktop.Seat
}

func (keyboardInput) noPointer() error {
	return notDeliveredError(aai.AutomationNotSupported, "the pointer is not moved while the keyboard is held")
}

// Click implements desktop.Input. It always fails, as there is no pointer.
func (a keyboardInput) Click(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.MouseButton, int) error {
	return a.noPointer()
}

// Drag implements desktop.Input. It always fails, as there is no pointer.
func (a keyboardInput) Drag(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.Point, time.Duration) error {
	return a.noPointer()
}

// Scroll implements desktop.Input. It always fails, as there is no pointer.
func (a keyboardInput) Scroll(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, int, int) error {
	return a.noPointer()
}

// Type implements desktop.Keyboard.
func (a keyboardInput) Type(ctx context.Context, which desktop.Seat, id desktop.WindowID, text string) error {
	syms, err := keysym.OfText(text)
	if err != nil || len(syms) == 0 {
		return err
	}
	return a.pressKeys(ctx, which, id, func() error { return a.typist.text(ctx, syms) })
}

// Key implements desktop.Keyboard.
func (a keyboardInput) Key(ctx context.Context, which desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	sym, modifiers, err := keysym.Chord(chord.Key, chord.Modifiers)
	if err != nil {
		return err
	}
	return a.pressKeys(ctx, which, id, func() error { return a.typist.key(ctx, sym, modifiers) })
}

// WithKeyboard implements desktop.Keyboard.
func (a keyboardInput) WithKeyboard(ctx context.Context, which desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return a.pressKeys(ctx, which, id, func() error { return while(ctx, a) })
}

// pressKeys presses keys in the window that has the keyboard, and waits until its program
// has read them.
func (a keyboardInput) pressKeys(ctx context.Context, which desktop.Seat, id desktop.WindowID, press func() error) error {
	if which != a.seat || id != a.typist.id {
		return notDeliveredError(aai.AutomationFailed, "another window has the keyboard now")
	}
	err := press()
	_ = a.typist.hands.cleanUp(ctx, func(ctx context.Context) error {
		a.typist.settle(ctx)
		return nil
	})
	return err
}

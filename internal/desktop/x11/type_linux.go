package x11

import (
	"context"
	"errors"
	"slices"

	"aai"
	"aai/internal/desktop"
)

// maxStrokes is how many keys are pressed between two looks at the focus.
const maxStrokes = 40

// Type types the text into what has the window's keyboard. A line break is the key
// Return, a tab is Tab; other control characters fail with INVALID_PARAMS.
// Characters that the layout lacks borrow keys that mean nothing, which are given
// back some seconds later; a program that does not read its keys meanwhile is a
// TIMEOUT.
//
// With PersonSeat the window must have the person's keyboard, or it fails with
// AUTOMATION_FAILED and not_delivered; if it loses it on the way, no more is
// typed. With OwnSeat our own keyboard is given to the window, and what has the
// focus within it gets the text; GTK 4 has none there while it is in the background.
func (d *Display) Type(ctx context.Context, which desktop.Seat, id desktop.WindowID, text string) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	syms, err := keysymsOf(text)
	if err != nil || len(syms) == 0 {
		return err
	}
	t, err := d.typist(ctx, which, id, window)
	if err != nil {
		return err
	}
	defer t.leave(ctx)
	for len(syms) > 0 {
		n, err := t.write(ctx, syms)
		if err != nil {
			return err
		}
		syms = syms[n:]
	}
	return nil
}

// Key presses the chord. A key is a character or one of: return (enter), tab,
// escape (esc), space, backspace, delete, insert, home, end, page_up, page_down,
// left, up, right, down, menu, print, pause, help, caps_lock, num_lock,
// scroll_lock, f1 to f24. Modifiers are ctrl, shift, alt and meta. Others fail with
// INVALID_PARAMS and the nearest names. The seats are as with Type.
func (d *Display) Key(ctx context.Context, which desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	sym, err := keyOf(chord.Key)
	if err != nil {
		return err
	}
	var modifiers []keysym
	for _, name := range chord.Modifiers {
		m, err := named("modifier", name, modifierNames())
		if err != nil {
			return err
		}
		modifiers = append(modifiers, m)
	}
	t, err := d.typist(ctx, which, id, window)
	if err != nil {
		return err
	}
	defer t.leave(ctx)
	return t.chord(ctx, sym, modifiers)
}

// A typist types into one window. It holds the keyboard, so that two do not mix
// their letters.
type typist struct {
	display *Display
	hands   hands
	person  *session // whose layout programs read keys by, whichever seat they come from
	id      desktop.WindowID
	window  xid
	layout  *layout
	answers bool // the window's program says when it has read its keys
	aimed   bool // our keyboard points to the window
	begun   bool // something has been sent
	lock    lockState
}

func (d *Display) typist(ctx context.Context, which desktop.Seat, id desktop.WindowID, window xid) (*typist, error) {
	const doing = "getting ready to type"
	h, err := d.take(ctx, which)
	if err != nil {
		return nil, err
	}
	if err := d.keys.hold(ctx); err != nil {
		h.release()
		return nil, failure("waiting for the keyboard", err)
	}
	t := &typist{display: d, hands: h, person: h.person, id: id, window: window}
	err = h.calm(ctx)
	if err == nil {
		t.answers, err = h.person.answersPings(ctx, window)
	}
	if err == nil {
		t.lock, err = h.unlock(ctx)
	}
	if err == nil {
		err = t.aim(ctx)
	}
	if err != nil {
		t.leave(ctx)
		return nil, windowFailure(doing, id, err)
	}
	return t, nil
}

// leave puts the keyboard back as it was, whatever happened.
func (t *typist) leave(ctx context.Context) {
	_ = t.hands.afterwards(ctx, func(ctx context.Context) error {
		defer t.hands.release()
		defer t.display.keys.release()
		defer t.display.returnKeysLater()
		if t.begun && (t.answers || t.aimed || t.lock.locked) {
			// What is put back may change what a slow program reads. One that hangs is
			// not waited for.
			_ = t.person.settleSoon(ctx, t.window, t.answers)
		}
		err := errors.Join(t.hands.relock(ctx, t.lock), t.lookAway(ctx))
		if err != nil {
			t.display.config.Log.Warn("x11: the keyboard was not put back", "error", err)
		}
		return err
	})
}

// rest waits until the program has read its keys.
func (t *typist) rest(ctx context.Context) error {
	return t.person.settle(ctx, t.window, t.answers)
}

// lookAway takes our keyboard away from the window, and tells the window manager
// where the person's is: it does not know that there are two, and would take the
// window that we typed into for the one that the person works in. Ours does not rest
// in the person's window: the server tells of the focus only when the first keyboard
// comes to a window, so nobody would hear of it when the person leaves and comes back.
// Only where the person works in this very window it stays: GTK would take the
// leaving of one keyboard for that of both.
func (t *typist) lookAway(ctx context.Context) error {
	if t.hands.own == nil || !t.aimed {
		return nil
	}
	focus := getInputFocus()
	if err := t.person.must(ctx, focus); err != nil {
		return err
	}
	theirs := from(focus.reply, 8).u32()
	rest := t.hands.own.lap
	same, err := t.person.within(ctx, theirs, t.window)
	if err != nil || same {
		rest = theirs
	}
	t.hands.own.stays.Store(rest == theirs)
	if err := t.hands.own.must(ctx, t.hands.own.aim(rest)); err != nil {
		return err
	}
	return t.person.remindOfFocus(ctx, theirs)
}

// remindOfFocus sends the events that the server sends when a window gets the
// focus: to the window, and to the frames around it, where some window managers
// look. It sends none to the person's window when ours goes away, since that has had
// the focus all the time.
func (s *session) remindOfFocus(ctx context.Context, window xid) error {
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

// aim makes sure that keys go to the window.
func (t *typist) aim(ctx context.Context) error {
	if own := t.hands.own; own != nil {
		if err := own.refuseHidden(ctx, t.window); err != nil {
			return err
		}
		t.aimed = true
		return own.must(ctx, own.aim(t.window))
	}
	has, err := t.person.hasKeyboard(ctx, t.window)
	if err != nil {
		return err
	}
	if !has {
		if err := t.person.must(ctx, getGeometry(t.window)); err != nil {
			return err
		}
		e := refuse(aai.AutomationFailed, "window 0x%x does not have the keyboard", uint64(t.id))
		e.Hint = "Activate the window first."
		return e
	}
	return nil
}

// refuseHidden fails for a window that X11 gives no keyboard.
func (s *session) refuseHidden(ctx context.Context, window xid) error {
	calls := s.askClient(window)
	if err := s.must(ctx, calls.all()...); err != nil {
		return err
	}
	if c, ok := s.readClient(window, calls, nil); !ok || !c.shown || c.Minimized {
		return unsupported("the window is minimized or hidden, and X11 gives it no keyboard", "Activate the window first.")
	}
	return nil
}

// write types as many of the keysyms as is good to do at once, and says how many.
func (t *typist) write(ctx context.Context, syms []keysym) (int, error) {
	err := t.readLayout(ctx)
	var strokes []stroke
	var n int
	if err == nil {
		strokes, n, err = t.plan(ctx, syms)
	}
	if err == nil {
		err = t.aim(ctx)
	}
	if err != nil {
		return 0, t.stopped(err)
	}
	shift, _ := t.layout.find(modifierNames()["shift"], 1)
	var calls []*call
	for _, s := range strokes {
		if s.shift {
			calls = append(calls, t.press(keyPress, shift.code))
		}
		calls = append(calls, t.press(keyPress, s.code), t.press(keyRelease, s.code))
		if s.shift {
			calls = append(calls, t.press(keyRelease, shift.code))
		}
	}
	t.begun = true
	if err := t.hands.must(ctx, calls...); err != nil {
		return 0, t.stopped(err)
	}
	return n, nil
}

// readLayout learns what the keys mean now: the person may change the layout at
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

// plan finds the keys for the first of the keysyms, and borrows those that are
// missing.
func (t *typist) plan(ctx context.Context, syms []keysym) ([]stroke, int, error) {
	// Some programs look only at the person's keyboard to see whether Shift is
	// down, so our own does without.
	levels := 2
	if _, ok := t.layout.find(modifierNames()["shift"], 1); !ok || t.hands.own != nil {
		levels = 1
	}
	capacity := max(1, len(t.layout.spare())) // if there is none, borrow says so
	var borrowed []keysym
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
	lent, err := t.display.keys.borrow(ctx, t.layout, borrowed, t.rest)
	if err != nil {
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

// chord presses one key while others are held.
func (t *typist) chord(ctx context.Context, sym keysym, modifiers []keysym) error {
	held, err := t.hands.layout(ctx)
	if err == nil {
		err = t.readLayout(ctx)
	}
	if err != nil {
		return t.stopped(err)
	}
	key, ok := t.layout.find(sym, 2)
	if !ok {
		lent, err := t.display.keys.borrow(ctx, t.layout, []keysym{sym}, t.rest)
		if err != nil {
			return t.stopped(err)
		}
		key = stroke{code: lent[sym]}
	}
	if shift := modifierNames()["shift"]; key.shift && !slices.Contains(modifiers, shift) {
		modifiers = append(modifiers, shift)
	}
	calls := []*call{t.press(keyPress, key.code), t.press(keyRelease, key.code)}
	for _, m := range modifiers {
		s, ok := held.find(m, 1)
		if !ok {
			return unsupported("the keyboard lacks one of the modifiers", "Use another chord.")
		}
		calls = append([]*call{t.press(keyPress, s.code)}, append(calls, t.press(keyRelease, s.code))...)
	}
	if err := t.aim(ctx); err != nil {
		return t.stopped(err)
	}
	t.begun = true
	if err := t.hands.must(ctx, calls...); err != nil {
		return t.stopped(err)
	}
	return nil
}

func (t *typist) press(kind, code byte) *call { return t.hands.fake(kind, code, desktop.Point{}) }

// stopped says whether something was typed before it went wrong.
func (t *typist) stopped(err error) error {
	if !t.begun {
		return windowFailure("typing", t.id, err)
	}
	e := *aai.AsError(windowFailure("typing", t.id, err))
	e.Message = "part of the text was typed, then: " + e.Message
	e.Delivery = aai.DeliveryUnknown
	e.Hint = "Look at the window before trying again."
	return &e
}

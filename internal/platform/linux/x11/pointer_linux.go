package x11

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// Limits for one call.
const (
	maxClicks  = 10
	maxNotches = 1000
)

// Click presses and releases the button. With OwnSeat it works only without a window
// manager: window managers move the person's focus to a clicked window, whichever pointer
// clicks. Click fails with AUTOMATION_FAILED and delivery not_delivered if the window is
// not visible at the point, or the person holds a modifier key or button.
func (d *Display) Click(ctx context.Context, which desktop.Seat, window desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if button < desktop.LeftButton || button > desktop.RightButton || count < 1 || count > maxClicks {
		return notDeliveredError(aai.InvalidParams, "button %d cannot be clicked %d times: buttons are 1 to 3, times 1 to %d", button, count, maxClicks)
	}
	return d.point(ctx, "clicking", pointerTarget{which, window, true, []desktop.Point{at}}, func(h inputConn, g *inputlock.Lease) error {
		return h.keepFocus(ctx, g, window, func() error {
			return h.click(ctx, g, at, button, count)
		})
	})
}

// click moves the pointer to the point and clicks there.
func (h inputConn) click(ctx context.Context, g *inputlock.Lease, at desktop.Point, button desktop.MouseButton, count int) error {
	err := h.must(ctx, h.fake(g, motion, 0, at))
	for i := range count {
		if i > 0 && err == nil {
			err = aai.Sleep(ctx, clickPause)
		}
		if err == nil {
			err = h.must(ctx, h.fake(g, buttonPress, byte(button), desktop.Point{}), h.fake(g, buttonRelease, byte(button), desktop.Point{}))
		}
	}
	if err == nil {
		err = h.awaitClickDelivered(ctx) // only once: waiting in between would split a double click
	}
	return err
}

// awaitClickDelivered waits until the window has received a click, for clickPatience at
// most. The server holds a click back until the window manager has seen it, and meanwhile
// reports the button as down. A slow window manager would release the click after the
// input lock has passed to a question: its window may be at the point by then.
func (h inputConn) awaitClickDelivered(ctx context.Context) error {
	const buttons, again = 0x1f00, 5 * time.Millisecond
	for until := time.Now().Add(clickPatience); ; {
		pointer := queryPointer(h.root)
		if err := h.must(ctx, pointer); err != nil {
			return err
		}
		if from(pointer.reply, 24).u16()&buttons == 0 || time.Now().After(until) {
			return nil
		}
		if err := aai.Sleep(ctx, again); err != nil {
			return err
		}
	}
}

// clickPatience is the time for a window manager to release a click. A hung window manager
// must not block the person's pointer for longer.
const clickPatience = 2 * time.Second

// clickPause is the time between clicks. Chromium treats two in the same millisecond as
// one.
const clickPause = 20 * time.Millisecond

// keepFocus runs do. With the own pointer it then returns the keyboard to the person's
// window: without a window manager, some programs take the focus when they are clicked.
func (h inputConn) keepFocus(ctx context.Context, g *inputlock.Lease, id desktop.WindowID, do func() error) error {
	if h.own == nil {
		return do()
	}
	before := getInputFocus()
	if err := h.person.must(ctx, before); err != nil {
		return err
	}
	window := from(before.reply, 8).u32()
	err := do()
	g.AddUser()
	return errors.Join(err, h.cleanUp(ctx, func(ctx context.Context) error {
		defer g.Release()
		answers, err := h.person.answersPings(ctx, xid(id))
		if err == nil {
			_ = h.person.settleSoon(ctx, xid(id), answers) // a hung program does not take the focus
		}
		after := getInputFocus()
		if err := h.person.must(ctx, after); err != nil {
			return err
		}
		if from(after.reply, 8).u32() == window {
			return nil
		}
		return h.person.must(ctx, setInputFocus(g, window))
	}))
}

// Drag presses the left button at one point and releases it at the other, even after its
// deadline. OwnSeat and errors are as in Click.
func (d *Display) Drag(ctx context.Context, which desktop.Seat, window desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	return d.point(ctx, "dragging", pointerTarget{which, window, true, []desktop.Point{from, to}}, func(h inputConn, g *inputlock.Lease) error {
		return h.keepFocus(ctx, g, window, func() error { return h.drag(ctx, g, from, to, duration) })
	})
}

func (h inputConn) drag(ctx context.Context, g *inputlock.Lease, from, to desktop.Point, duration time.Duration) error {
	const step = 10 * time.Millisecond
	const fewest = 10 // programs expect some movement
	left := byte(desktop.LeftButton)
	holding := func(buttons ...byte) error {
		if h.own != nil {
			return nil // the server removes the own pointer with the connection
		}
		return h.recordHeld(g, func(held *inputlock.HeldInput) { held.Buttons = buttons })
	}
	err := holding(left)
	if err != nil {
		return err
	}
	err = h.must(ctx, h.fake(g, motion, 0, from), h.fake(g, buttonPress, left, desktop.Point{}))
	steps := max(fewest, int(duration/step))
	pause := max(duration, fewest*time.Millisecond) / time.Duration(steps)
	for i := 1; i <= steps && err == nil; i++ {
		at := desktop.Point{X: from.X + (to.X-from.X)*i/steps, Y: from.Y + (to.Y-from.Y)*i/steps}
		if g.IsQuestionWaiting() {
			err = interrupted("the button was let go of after %d of %d steps", i-1, steps)
		} else if actionctx.CheckStopped(ctx) != nil {
			err = context.Canceled // the button was down
		} else if err = aai.Sleep(ctx, pause); err == nil {
			err = h.must(ctx, h.fake(g, motion, 0, at))
		}
	}
	// In any case the button must not stay down.
	g.AddUser()
	released := h.cleanUp(ctx, func(ctx context.Context) error {
		defer g.Release()
		if err := h.must(ctx, h.fake(g, buttonRelease, left, desktop.Point{})); err != nil {
			return err
		}
		_ = h.awaitClickDelivered(ctx) // while the press is held back, so is the release
		return holding()
	})
	return errors.Join(err, released)
}

// Scroll turns the wheel at the point. It moves the seat's pointer there, but does not
// change the focus. The window must be visible there.
func (d *Display) Scroll(ctx context.Context, which desktop.Seat, window desktop.WindowID, at desktop.Point, dx, dy int) error {
	if max(dx, -dx) > maxNotches || max(dy, -dy) > maxNotches || dx < -maxNotches || dy < -maxNotches {
		return notDeliveredError(aai.InvalidParams, "%d,%d notches are too many: at most %d", dx, dy, maxNotches)
	}
	const up, down, left, right = 4, 5, 6, 7 // the wheel's buttons
	return d.point(ctx, "scrolling", pointerTarget{which, window, false, []desktop.Point{at}}, func(h inputConn, g *inputlock.Lease) error {
		calls := []*call{h.fake(g, motion, 0, at)}
		turn := func(n int, back, forth byte) {
			button := forth
			if n < 0 {
				n, button = -n, back
			}
			for range n {
				calls = append(calls, h.fake(g, buttonPress, button, desktop.Point{}), h.fake(g, buttonRelease, button, desktop.Point{}))
			}
		}
		turn(dy, up, down)
		turn(dx, left, right)
		return h.must(ctx, calls...)
	})
}

// A pointerTarget is the window and the points for a pointer action.
type pointerTarget struct {
	seat   desktop.Seat
	window desktop.WindowID
	press  bool
	points []desktop.Point
}

// point uses the pointer while it holds the input lock. It checks the target again under
// the lock: a question may have been open, and the windows may have moved.
func (d *Display) point(ctx context.Context, doing string, at pointerTarget, do func(inputConn, *inputlock.Lease) error) error {
	if _, err := windowOf(at.window); err != nil {
		return err
	}
	if err := d.mayPoint(ctx, at); err != nil {
		return err
	}
	h, err := d.take(ctx, at.seat)
	if err != nil {
		return err
	}
	defer h.release()
	_, err = d.stroke(ctx, h, nil, func(g *inputlock.Lease) error {
		if err := d.mayPoint(ctx, at); err != nil {
			return err
		}
		if err := h.awaitNoKeysDown(ctx); err != nil {
			return err
		}
		h.noteUse(at.window)
		return inputFailure(doing, do(h, g))
	})
	return err
}

// mayPoint checks that the pointer may be used: the window is visible at the first point,
// and the others are on the screen.
func (d *Display) mayPoint(ctx context.Context, a pointerTarget) error {
	id, points := a.window, a.points
	s, err := d.server(ctx)
	if err != nil {
		return err
	}
	if a.press && a.seat == desktop.OwnSeat {
		if err := s.refuseManaged(ctx); err != nil {
			return err
		}
	}
	seen, err := s.at(ctx, points[0])
	if err != nil {
		return err
	}
	if seen.ID != id {
		e := notDeliveredError(aai.AutomationFailed, "at %d,%d another window lies over it, %q", points[0].X, points[0].Y, seen.Title)
		e.Hint = `Use mode "focus", which brings the window to the front, or give the element's ref as query.`
		return e
	}
	geometry := getGeometry(s.root)
	if err := s.must(ctx, geometry); err != nil {
		return wrapError("looking at the screen", err)
	}
	screen := geometryOf(geometry)
	if i := slices.IndexFunc(points, func(p desktop.Point) bool { return !screen.Contains(p) }); i >= 0 {
		return notDeliveredError(aai.InvalidParams, "the point %d,%d is not on the screen, which is %d by %d pixels", points[i].X, points[i].Y, screen.W, screen.H)
	}
	return nil
}

// refuseManaged returns an error if a window manager runs.
func (s *server) refuseManaged(ctx context.Context) error {
	managed, err := s.managed(ctx)
	if err != nil {
		return wrapError("looking for the window manager", err)
	}
	if !managed {
		return nil
	}
	return unsupportedError("a pointer in the background would take the person's focus on X11",
		`Use the mode "focus", which takes the person's pointer. A single click on an element of the tree needs no pointer.`)
}

// holdPatience is the time that awaitNoKeysDown waits for the person to release keys.
const holdPatience = time.Second

// awaitNoKeysDown waits until no modifier key and no button is down: a Shift key held by
// the person would change the typed text, and injected keys would mix with the person's.
func (h inputConn) awaitNoKeysDown(ctx context.Context) error {
	const doing = "looking at the keyboard"
	for deadline := time.Now().Add(holdPatience); ; {
		held, err := h.heldKey(ctx)
		switch {
		case err != nil:
			return wrapError(doing, err)
		case held == "":
			return nil
		case time.Now().After(deadline):
			e := notDeliveredError(aai.AutomationFailed, "the person is holding %s", held)
			e.Hint = "Try again in a moment."
			return e
		}
		if err := aai.Sleep(ctx, 20*time.Millisecond); err != nil {
			return wrapError(doing, err)
		}
	}
}

func (h inputConn) heldKey(ctx context.Context) (string, error) {
	const allButtons, shiftControlAlt, useCoreKeyboard, getState = 0x1f00, 0xd, 0x100, 4
	pointer := queryPointer(h.root)
	calls := []*call{pointer}
	if h.xkb != 0 {
		calls = append(calls, query(h.xkb, getState, uint16(useCoreKeyboard), pad(2)))
	}
	if err := h.must(ctx, calls...); err != nil {
		return "", err
	}
	mask := from(pointer.reply, 24).u16()
	modifiers := byte(mask & shiftControlAlt)
	if h.xkb != 0 {
		modifiers = from(calls[1].reply, 9).u8() // pressed modifiers, not locked ones
	}
	switch {
	case mask&allButtons != 0:
		return "a button of the mouse", nil
	case modifiers != 0:
		return "a key such as Shift or Ctrl", nil
	}
	return "", nil
}

// notDeliveredError returns an error for an action that was not begun.
func notDeliveredError(code aai.Code, format string, args ...any) *aai.Error {
	return &aai.Error{Code: code, Message: fmt.Sprintf(format, args...), Delivery: aai.NotDelivered}
}

// inputFailure is wrapError for input that may have reached the window.
func inputFailure(doing string, err error) error {
	if err == nil {
		return nil
	}
	e := *aai.AsError(wrapError(doing, err))
	e.Delivery = aai.DeliveryUnknown
	e.Hint = "Look at the window before trying again."
	return &e
}

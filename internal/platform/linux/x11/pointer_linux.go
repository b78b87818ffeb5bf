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
)

// The most that one call may do.
const (
	maxClicks  = 10
	maxNotches = 1000
)

// Click presses and releases the button. With OwnSeat it works only where there is
// no window manager: those take a click, whichever pointer makes it, for the
// person's wish to have the focus there. A window that is not seen at the point,
// and a person who holds a key or a button, fail with AUTOMATION_FAILED and
// delivery not_delivered.
func (d *Display) Click(ctx context.Context, which desktop.Seat, window desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if button < desktop.LeftButton || button > desktop.RightButton || count < 1 || count > maxClicks {
		return notDeliveredError(aai.InvalidParams, "button %d cannot be clicked %d times: buttons are 1 to 3, times 1 to %d", button, count, maxClicks)
	}
	return d.point(ctx, "clicking", pointerTarget{which, window, true, []desktop.Point{at}}, func(h inputConn, g *inputlock.Lease) error {
		return h.keepFocus(ctx, g, window, func() error {
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
				err = h.awaitClickDelivered(ctx) // once: to wait between them would make two single clicks of a double one
			}
			return err
		})
	})
}

// awaitClickDelivered waits until a click has gone to the window. Window managers have the server
// hold it back until they have seen it: a slow one would let it come when the seat is a
// question's, whose window may be there by then. As long as it is held back the button is
// down by the server's word.
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

// clickPatience is how long a window manager may hold a click back. One that hangs does
// not keep the person's pointer for longer.
const clickPatience = 2 * time.Second

// clickPause is the time between clicks. Chromium takes two in the same
// millisecond for one.
const clickPause = 20 * time.Millisecond

// keepFocus does what our own pointer does, and then gives the keyboard back to the
// person's window: where there is no window manager, some programs take it when
// they are clicked.
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
			_ = h.person.settleSoon(ctx, xid(id), answers) // one that hangs does not take it
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

// Drag presses the left button at one point and releases it at the other, also
// when its time is up before. OwnSeat and what fails are as with Click.
func (d *Display) Drag(ctx context.Context, which desktop.Seat, window desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	return d.point(ctx, "dragging", pointerTarget{which, window, true, []desktop.Point{from, to}}, func(h inputConn, g *inputlock.Lease) error {
		return h.keepFocus(ctx, g, window, func() error { return h.drag(ctx, g, from, to, duration) })
	})
}

func (h inputConn) drag(ctx context.Context, g *inputlock.Lease, from, to desktop.Point, duration time.Duration) error {
	const step = 10 * time.Millisecond
	const fewest = 10 // programs want to see some movement
	left := byte(desktop.LeftButton)
	holding := func(buttons ...byte) error {
		if h.own != nil {
			return nil // our own pointer goes with us
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
		} else if aai.CheckStopped(ctx) != nil {
			err = context.Canceled // the button was down
		} else if err = aai.Sleep(ctx, pause); err == nil {
			err = h.must(ctx, h.fake(g, motion, 0, at))
		}
	}
	// Whatever happened, the button must not stay down.
	g.AddUser()
	released := h.cleanUp(ctx, func(ctx context.Context) error {
		defer g.Release()
		if err := h.must(ctx, h.fake(g, buttonRelease, left, desktop.Point{})); err != nil {
			return err
		}
		_ = h.awaitClickDelivered(ctx) // as long as the press is held back, so is this
		return holding()
	})
	return errors.Join(err, released)
}

// Scroll turns the wheel at the point: it moves the seat's pointer there, and
// neither takes the focus. The window must be seen there.
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

// An aim is what the pointer is used on, and where.
type pointerTarget struct {
	seat   desktop.Seat
	window desktop.WindowID
	press  bool
	points []desktop.Point
}

// point uses the pointer, with the person's seat in hand. It looks before whether it
// may: a question may have been open, and the windows lie otherwise.
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

// mayPoint makes sure that the pointer may be used: the window is seen at the first
// point, and the others are on the screen.
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

// refuseManaged fails where a window manager runs.
func (s *server) refuseManaged(ctx context.Context) error {
	managed, err := s.managed(ctx)
	if err != nil {
		return wrapError("looking for the window manager", err)
	}
	if !managed {
		return nil
	}
	return unsupportedError("a click in the background would take the person's focus on X11",
		`Act on the element by its reference instead, or use the mode "focus".`)
}

// holdPatience is how long a person may hold a key before we give up.
const holdPatience = time.Second

// awaitNoKeysDown waits until the keyboard and the pointer have no key or button down: a
// person's Shift would change what we type, and what we press would get into what
// the person does.
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
		modifiers = from(calls[1].reply, 9).u8() // those that are pressed, not locked
	}
	switch {
	case mask&allButtons != 0:
		return "a button of the mouse", nil
	case modifiers != 0:
		return "a key such as Shift or Ctrl", nil
	}
	return "", nil
}

// notDeliveredError is an error of what was not even begun.
func notDeliveredError(code aai.Code, format string, args ...any) *aai.Error {
	return &aai.Error{Code: code, Message: fmt.Sprintf(format, args...), Delivery: aai.NotDelivered}
}

// inputFailure is failure for input that may have reached the window.
func inputFailure(doing string, err error) error {
	if err == nil {
		return nil
	}
	e := *aai.AsError(wrapError(doing, err))
	e.Delivery = aai.DeliveryUnknown
	e.Hint = "Look at the window before trying again."
	return &e
}

package screen

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Limits for one call.
const (
	maxClicks  = 10
	maxNotches = 1000
	notch      = 120 // WHEEL_DELTA
)

// clickPause is the time between two clicks. Chromium treats two in the same millisecond as one.
const clickPause = 20 * time.Millisecond

// The messages of the pointer.
const (
	wmMouseMove   = 0x0200
	wmLeftDown    = 0x0201
	wmLeftUp      = 0x0202
	wmLeftDouble  = 0x0203
	wmMouseWheel  = 0x020A
	wmMouseHWheel = 0x020E
	holdsLeft     = 1 // MK_LBUTTON
)

// Click implements desktop.Input. OwnSeat clicks only the left button: a menu that opens in the background would take the person's pointer.
func (d *Display) Click(ctx context.Context, seat desktop.Seat, id desktop.WindowID, at desktop.Point, which desktop.MouseButton, count int) error {
	if which < desktop.LeftButton || which > desktop.RightButton || count < 1 || count > maxClicks {
		return notDelivered(aai.InvalidParams, "button %d cannot be clicked %d times: buttons are 1 to 3, times 1 to %d", which, count, maxClicks)
	}
	if seat == desktop.OwnSeat {
		if which != desktop.LeftButton {
			return unsupported("a menu of a program in the background would take the person's pointer")
		}
		return d.post(ctx, id, at, func(child win32.Window, local desktop.Point) error { return postClicks(child, local, count) })
	}
	return d.point(ctx, seat, id, []desktop.Point{at}, func(g *inputlock.Lease) error {
		err := send(g, moveTo(at))
		for i := 0; i < count && err == nil; i++ {
			if i > 0 {
				_ = aai.Sleep(ctx, clickPause) // a click that has begun is completed
			}
			err = send(g, button(which, true, at), button(which, false, at))
		}
		return err
	})
}

// Drag implements desktop.Input. It works only with PersonSeat, as programs ask the system for the pointer while they drag.
func (d *Display) Drag(ctx context.Context, seat desktop.Seat, id desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	if seat == desktop.OwnSeat {
		return unsupported("programs drag only with the person's pointer")
	}
	return d.point(ctx, seat, id, []desktop.Point{from, to}, func(g *inputlock.Lease) error { return drag(ctx, g, from, to, duration) })
}

func drag(ctx context.Context, g *inputlock.Lease, from, to desktop.Point, duration time.Duration) error {
	const step, fewest = 10 * time.Millisecond, 10 // programs expect some movement
	if err := recordHeld(g, byte(desktop.LeftButton)); err != nil {
		return err
	}
	last := from
	err := send(g, moveTo(from), button(desktop.LeftButton, true, from))
	steps := max(fewest, int(duration/step))
	pause := max(duration, fewest*time.Millisecond) / time.Duration(steps)
	for i := 1; i <= steps && err == nil; i++ {
		switch {
		case g.IsQuestionWaiting():
			err = aai.Errorf(aai.RateLimited, "a question to the person came first: the button was let go of after %d of %d steps", i-1, steps)
		case actionctx.CheckStopped(ctx) != nil:
			err = context.Canceled // the button was down
		default:
			if err = aai.Sleep(ctx, pause); err == nil {
				last = desktop.Point{X: from.X + (to.X-from.X)*i/steps, Y: from.Y + (to.Y-from.Y)*i/steps}
				err = send(g, moveTo(last))
			}
		}
	}
	// In any case the button must not stay down.
	released := errors.Join(send(g, button(desktop.LeftButton, false, last)), recordHeld(g))
	if err = errors.Join(err, released); err == nil {
		return nil
	}
	e := *aai.AsError(err)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the window before trying again."
	return &e
}

// Scroll implements desktop.Input.
func (d *Display) Scroll(ctx context.Context, seat desktop.Seat, id desktop.WindowID, at desktop.Point, dx, dy int) error {
	if dx < -maxNotches || dx > maxNotches || dy < -maxNotches || dy > maxNotches {
		return notDelivered(aai.InvalidParams, "%d,%d notches are too many: at most %d", dx, dy, maxNotches)
	}
	// The wheel of Windows counts up and right.
	if seat == desktop.OwnSeat {
		return d.post(ctx, id, at, func(child win32.Window, _ desktop.Point) error {
			return errors.Join(turn(child, wmMouseWheel, -dy, at), turn(child, wmMouseHWheel, dx, at))
		})
	}
	return d.point(ctx, seat, id, []desktop.Point{at}, func(g *inputlock.Lease) error {
		in := []win32.Input{moveTo(at)}
		add := func(flags uint32, n int) {
			for range max(n, -n) {
				in = append(in, win32.Mouse(flags, 0, 0, int32(notch*sign(n))))
			}
		}
		add(win32.MouseWheel, -dy)
		add(win32.MouseHWheel, dx)
		return send(g, in...)
	})
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// point uses the person's pointer while it holds the input lock.
func (d *Display) point(ctx context.Context, seat desktop.Seat, id desktop.WindowID, points []desktop.Point, do func(*inputlock.Lease) error) error {
	check := func() error {
		if _, err := ready(seat, id); err != nil {
			return err
		}
		return mayPoint(id, points)
	}
	if err := check(); err != nil {
		return err
	}
	return d.stroke(ctx, func(g *inputlock.Lease) error {
		if err := check(); err != nil { // a question may have been open, and windows may have moved
			return err
		}
		if err := awaitNoKeysDown(ctx); err != nil {
			return err
		}
		return do(g)
	})
}

// mayPoint checks that the window is visible at the first point, and the others are on monitors.
func mayPoint(id desktop.WindowID, points []desktop.Point) error {
	s := look()
	for _, p := range points {
		if !slices.ContainsFunc(s.monitors, func(m desktop.Rect) bool { return m.Contains(p) }) {
			return notDelivered(aai.InvalidParams, "the point %d,%d is on no monitor", p.X, p.Y)
		}
	}
	switch i := s.at(points[0]); {
	case i < 0:
		return notDelivered(aai.AutomationFailed, "there is no window at %d,%d", points[0].X, points[0].Y)
	case s.windows[i].window != win32.Window(id):
		e := notDelivered(aai.AutomationFailed, "at %d,%d another window lies over it, %q", points[0].X, points[0].Y, s.info(i).Title)
		e.Hint = `Use mode "focus", which brings the window to the front, or give the element's ref as query.`
		return e
	}
	return nil
}

// moveTo returns the movement of the person's pointer to a point.
func moveTo(p desktop.Point) win32.Input { return mouseAt(p, 0) }

// mouseAt returns a movement to a point and the act there.
func mouseAt(p desktop.Point, flags uint32) win32.Input {
	all := win32.VirtualScreen()
	return win32.Mouse(win32.MouseMove|win32.MouseAbsolute|win32.MouseVirtual|flags, normalized(p.X, all.X, all.W), normalized(p.Y, all.Y, all.H), 0)
}

// button returns the press or release of a button at a point, wherever the person has moved the pointer meanwhile.
func button(which desktop.MouseButton, down bool, at desktop.Point) win32.Input {
	return mouseAt(at, buttonFlag(which, down))
}

// buttonFlag returns the flag of a button. Windows counts the buttons of the device, which the person may have swapped.
func buttonFlag(which desktop.MouseButton, down bool) uint32 {
	if which != desktop.MiddleButton && win32.Metric(win32.SwapButton) != 0 {
		which = desktop.LeftButton + desktop.RightButton - which
	}
	flags := map[desktop.MouseButton][2]uint32{
		desktop.LeftButton:   {win32.MouseLeftUp, win32.MouseLeftDown},
		desktop.MiddleButton: {win32.MouseMiddleUp, win32.MouseMiddleDown},
		desktop.RightButton:  {win32.MouseRightUp, win32.MouseRightDown},
	}[which]
	if down {
		return flags[1]
	}
	return flags[0]
}

// post posts messages of the pointer to the child window at the point, whose own coordinates it gives to do. The window may be covered.
func (d *Display) post(ctx context.Context, id desktop.WindowID, at desktop.Point, do func(child win32.Window, local desktop.Point) error) error {
	w, err := ready(desktop.OwnSeat, id)
	if err != nil {
		return err
	}
	if !w.VisibleFrame().Contains(at) {
		return notDelivered(aai.InvalidParams, "the point %d,%d is not in the window", at.X, at.Y)
	}
	return d.stroke(ctx, func(*inputlock.Lease) error {
		child := w.ChildAt(at)
		local := child.ToClient(at)
		size := child.ClientSize()
		switch {
		case local.X < 0 || local.Y < 0 || local.X >= size.X || local.Y >= size.Y:
			return unsupported("the point is on a border, a title bar or a scroll bar, which only the person's pointer operates")
		case !takesMessages(child.Class()):
			return unsupported("this part of the window does not take a pointer that is not the person's")
		}
		return do(child, local)
	})
}

func postClicks(w win32.Window, at desktop.Point, count int) error {
	const wantsDoubleClicks = 0x0008 // CS_DBLCLKS
	place := pair(at)
	err := w.Post(wmMouseMove, 0, place)
	for i := range count {
		press := uint32(wmLeftDown)
		if i%2 == 1 && w.ClassStyle()&wantsDoubleClicks != 0 {
			press = wmLeftDouble
		}
		if err == nil {
			err = errors.Join(w.Post(press, holdsLeft, place), w.Post(wmLeftUp, 0, place))
		}
	}
	if err != nil {
		return postError("clicking", err)
	}
	return nil
}

// turn posts turns of a wheel; its point is one of the screen.
func turn(w win32.Window, message uint32, notches int, at desktop.Point) error {
	for range max(notches, -notches) {
		delta := uint16(int16(notch * sign(notches)))
		if err := w.Post(message, uintptr(delta)<<16, pair(at)); err != nil {
			return postError("scrolling", err)
		}
	}
	return nil
}

// pair packs a point as messages carry it.
func pair(p desktop.Point) uintptr {
	return uintptr(uint16(int16(p.X))) | uintptr(uint16(int16(p.Y)))<<16
}

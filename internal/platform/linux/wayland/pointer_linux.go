package wayland

import (
	"context"
	"errors"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
)

// pointerManager is the interface for virtual pointers.
const pointerManager = "zwlr_virtual_pointer_manager_v1"

// Limits for one call.
const (
	maxClicks  = 10
	maxNotches = 1000
	notch      = 15 // of wl_pointer.axis, for one notch of a wheel
)

// clickPause is the time between clicks. Chromium treats two in the same millisecond as one.
const clickPause = 20 * time.Millisecond

// A pointerDevice is the person's pointer during one call.
type pointerDevice interface {
	// begin begins the input, and end waits until the compositor has handled it.
	begin(ctx context.Context) error
	end(ctx context.Context) error
	move(ctx context.Context, at desktop.Point) error
	press(ctx context.Context, button desktop.MouseButton, down bool) error
	// turn turns the wheels by notches.
	turn(ctx context.Context, dx, dy int) error
}

// A virtualPointer is the pointer device of wlr-virtual-pointer.
type virtualPointer struct {
	conn  *conn
	id    uint32
	area  desktop.Rect // of all monitors
	begun time.Time
}

// Requests of zwlr_virtual_pointer_v1.
const (
	pointerMotion   = 1
	pointerButton   = 2
	pointerFrame    = 4
	pointerSource   = 5
	pointerDiscrete = 7
)

// onlyPersonSeat refuses input with another seat than the person's.
func onlyPersonSeat(which desktop.Seat) error {
	if which == desktop.PersonSeat {
		return nil
	}
	return unsupported("Wayland has no second pointer and keyboard: this would take the person's",
		`Use the mode "focus", which takes the person's pointer. A single click on an element of the tree needs no pointer.`)
}

// point uses the pointer while it holds the input lock. The window must be visible at the first point.
func (d *Display) point(ctx context.Context, doing string, which desktop.Seat, id desktop.WindowID, points []desktop.Point, do func(pointerDevice, *inputlock.Lease) error) error {
	if err := onlyPersonSeat(which); err != nil {
		return err
	}
	p, reaches, err := d.pointer(ctx)
	if err != nil {
		return failure(doing, err)
	}
	return d.stroke(ctx, func(g *inputlock.Lease) error {
		if err := d.mayPoint(ctx, id, points[0]); err != nil {
			return err
		}
		for _, at := range points {
			if !reaches(at) {
				return refused(aai.InvalidParams, "the point %d,%d is not on the screen", at.X, at.Y)
			}
		}
		if err := p.begin(ctx); err != nil {
			return failure(doing, err)
		}
		err := do(p, g)
		ctx, cancel := afterwards(ctx)
		defer cancel()
		return inputFailure(doing, errors.Join(err, p.end(ctx)))
	})
}

// pointer returns the person's pointer, and whether it reaches a point. Without places of windows there is none.
func (d *Display) pointer(ctx context.Context) (p pointerDevice, reaches func(desktop.Point) bool, err error) {
	if _, err := d.manager(ctx); err != nil {
		return nil, nil, err
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := c.offered(pointerManager); ok {
		p, err := c.newPointer(ctx)
		if err != nil {
			return nil, nil, err
		}
		return p, p.reaches, nil
	}
	e, err := d.emulatedPointer(ctx)
	if err != nil {
		return nil, nil, err
	}
	return e, e.reaches, nil
}

// stroke runs do with the input lock.
func (d *Display) stroke(ctx context.Context, do func(*inputlock.Lease) error) error {
	if err := actionctx.CheckStopped(ctx); err != nil {
		return err
	}
	g, err := d.config.InputLock.Acquire(ctx, nil)
	if err != nil {
		return err
	}
	defer g.Release()
	return do(g)
}

// mayPoint checks that the window is visible at a point.
func (d *Display) mayPoint(ctx context.Context, id desktop.WindowID, p desktop.Point) error {
	seen, err := d.WindowAt(ctx, p)
	if err != nil {
		return err
	}
	if seen.ID != id {
		e := refused(aai.AutomationFailed, "at %d,%d another window lies over it, %q", p.X, p.Y, seen.Title)
		e.Hint = `Use mode "focus", which brings the window to the front, or give the element's ref as query.`
		return e
	}
	return nil
}

// newPointer returns the virtual pointer, for all monitors.
func (c *conn) newPointer(ctx context.Context) (*virtualPointer, error) {
	id, err := c.device(ctx, pointerManager, 1, "Act on the element by its ref; that needs no pointer.",
		hasPointer, &c.devices.pointer, func(seat, id uint32) []any { return []any{seat, id} })
	if err != nil {
		return nil, err
	}
	all, err := c.outputs(ctx)
	if err != nil {
		return nil, err
	}
	p := &virtualPointer{conn: c, id: id, begun: time.Now()}
	for _, o := range all {
		p.area = union(p.area, o.Frame)
	}
	return p, nil
}

func (p *virtualPointer) time() uint32 { return uint32(time.Since(p.begun).Milliseconds()) }

func (p *virtualPointer) move(ctx context.Context, at desktop.Point) error {
	x, y := uint32(at.X-p.area.X), uint32(at.Y-p.area.Y)
	err := p.conn.send(ctx, p.id, pointerMotion, p.time(), x, y, uint32(p.area.W), uint32(p.area.H))
	return errors.Join(err, p.conn.send(ctx, p.id, pointerFrame))
}

// press presses or releases a button.
func (p *virtualPointer) press(ctx context.Context, button desktop.MouseButton, down bool) error {
	state := uint32(0)
	if down {
		state = 1
	}
	err := p.conn.send(ctx, p.id, pointerButton, p.time(), buttonCode(button), state)
	return errors.Join(err, p.conn.send(ctx, p.id, pointerFrame))
}

// buttonCode returns the code of Linux input events.
func buttonCode(button desktop.MouseButton) uint32 {
	return map[desktop.MouseButton]uint32{desktop.LeftButton: 0x110, desktop.RightButton: 0x111, desktop.MiddleButton: 0x112}[button]
}

func (p *virtualPointer) turn(ctx context.Context, dx, dy int) (err error) {
	const vertical, horizontal, wheel = 0, 1, 0
	for axis, n := range map[uint32]int{vertical: dy, horizontal: dx} {
		sign := int32(1)
		if n < 0 {
			n, sign = -n, -1
		}
		for i := 0; i < n && err == nil; i++ {
			err = errors.Join(p.conn.send(ctx, p.id, pointerSource, uint32(wheel)),
				p.conn.send(ctx, p.id, pointerDiscrete, p.time(), axis, fdwire.Fixed(sign*notch<<8), sign), p.conn.send(ctx, p.id, pointerFrame))
		}
	}
	return err
}

func (p *virtualPointer) begin(context.Context) error { return nil }

func (p *virtualPointer) end(ctx context.Context) error { return p.conn.sync(ctx) }

func (p *virtualPointer) reaches(at desktop.Point) bool { return p.area.Contains(at) }

// Click implements desktop.Input.
func (d *Display) Click(ctx context.Context, which desktop.Seat, window desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	if button < desktop.LeftButton || button > desktop.RightButton || count < 1 || count > maxClicks {
		return refused(aai.InvalidParams, "button %d cannot be clicked %d times: buttons are 1 to 3, times 1 to %d", button, count, maxClicks)
	}
	return d.point(ctx, "clicking", which, window, []desktop.Point{at}, func(p pointerDevice, _ *inputlock.Lease) error {
		err := p.move(ctx, at)
		for i := range count {
			if i > 0 && err == nil {
				err = aai.Sleep(ctx, clickPause)
			}
			if err == nil {
				err = errors.Join(p.press(ctx, button, true), p.press(context.WithoutCancel(ctx), button, false))
			}
		}
		return err
	})
}

// Drag implements desktop.Input. The button is released even after the deadline.
func (d *Display) Drag(ctx context.Context, which desktop.Seat, window desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	const step, fewest = 10 * time.Millisecond, 10 // programs expect some movement
	return d.point(ctx, "dragging", which, window, []desktop.Point{from, to}, func(p pointerDevice, g *inputlock.Lease) error {
		err := errors.Join(p.move(ctx, from), p.press(ctx, desktop.LeftButton, true))
		steps := max(fewest, int(duration/step))
		pause := max(duration, fewest*time.Millisecond) / time.Duration(steps)
		for i := 1; i <= steps && err == nil; i++ {
			if g.IsQuestionWaiting() || actionctx.CheckStopped(ctx) != nil {
				err = refused(aai.AutomationFailed, "the button was let go of after %d of %d steps", i-1, steps)
			} else if err = aai.Sleep(ctx, pause); err == nil {
				err = p.move(ctx, desktop.Point{X: from.X + (to.X-from.X)*i/steps, Y: from.Y + (to.Y-from.Y)*i/steps})
			}
		}
		return errors.Join(err, p.press(context.WithoutCancel(ctx), desktop.LeftButton, false))
	})
}

// Scroll implements desktop.Input.
func (d *Display) Scroll(ctx context.Context, which desktop.Seat, window desktop.WindowID, at desktop.Point, dx, dy int) error {
	if max(dx, -dx) > maxNotches || max(dy, -dy) > maxNotches {
		return refused(aai.InvalidParams, "%d,%d notches are too many: at most %d", dx, dy, maxNotches)
	}
	return d.point(ctx, "scrolling", which, window, []desktop.Point{at}, func(p pointerDevice, _ *inputlock.Lease) error {
		err := p.move(ctx, at)
		if err == nil {
			err = p.turn(ctx, dx, dy)
		}
		return err
	})
}

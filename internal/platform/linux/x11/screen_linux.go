package x11

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxPixels bounds a screenshot: a screen of 16 by 8 thousand pixels.
const maxPixels = 128 << 20

// Monitors lists the monitors, the primary one first. Without a primary monitor, the first
// counts as such. If the server reports no monitors, the whole screen is one. The scale is
// the setting for the whole desktop: Xft.dpi of the X resources, or else GDK_SCALE.
func (d *Display) Monitors(ctx context.Context) ([]desktop.Monitor, error) {
	const doing = "listing the monitors"
	s, err := d.server(ctx)
	if err != nil {
		return nil, err
	}
	const getMonitors = 42
	resources := getProperty(s.root, atomResourceManager, 1<<18, false)
	geometry := getGeometry(s.root)
	calls := []*call{resources, geometry}
	if s.randr != 0 {
		calls = append(calls, query(s.randr, getMonitors, s.root, true, pad(3)))
	}
	if err := s.do(ctx, calls...); err != nil {
		return nil, wrapError(doing, err)
	}
	scale := d.scale(resources.property().data)
	whole := desktop.Monitor{Name: "screen", Frame: geometryOf(geometry), Primary: true, Scale: scale}
	// The reply is empty if RandR is missing or failed.
	var monitors []desktop.Monitor
	var names []*call
	if s.randr != 0 {
		monitors, names = readMonitors(calls[2].reply)
	}
	if len(monitors) == 0 {
		return []desktop.Monitor{whole}, nil
	}
	if err := s.do(ctx, names...); err != nil {
		return nil, wrapError(doing, err)
	}
	for i := range monitors {
		monitors[i].Scale = scale
		r := from(names[i].reply, 8)
		n := int(r.u16())
		r.take(22)
		monitors[i].Name = aai.CleanLabel(string(r.take(n)), maxTitle)
	}
	slices.SortStableFunc(monitors, func(a, b desktop.Monitor) int {
		if a.Primary == b.Primary {
			return 0
		}
		if a.Primary {
			return -1
		}
		return 1
	})
	monitors[0].Primary = true
	return monitors, nil
}

// readMonitors decodes RandR's reply and returns requests for the monitors' names.
func readMonitors(reply []byte) (monitors []desktop.Monitor, names []*call) {
	const monitorBytes = 24
	r := from(reply, 12)
	n := r.u32()
	r.take(16)
	for range n {
		if len(r.rest) < monitorBytes {
			break
		}
		names = append(names, getAtomName(r.u32()))
		m := desktop.Monitor{Primary: r.u8() == 1}
		r.take(1)
		outputs := int(r.u16())
		m.Frame = desktop.Rect{X: r.i16(), Y: r.i16(), W: int(r.u16()), H: int(r.u16())}
		r.take(8 + 4*outputs)
		monitors = append(monitors, m)
	}
	return monitors, names
}

func (d *Display) scale(resources []byte) float64 {
	const normalDPI = 96
	for line := range bytes.Lines(resources) {
		if value, ok := bytes.CutPrefix(line, []byte("Xft.dpi:")); ok {
			if dpi, err := strconv.ParseFloat(strings.TrimSpace(string(value)), 64); err == nil && dpi > 0 {
				return dpi / normalDPI
			}
		}
	}
	if n, err := strconv.ParseFloat(d.config.Getenv("GDK_SCALE"), 64); err == nil && n > 0 {
		return n
	}
	return 1
}

// Capture returns the visible content of the rectangle, without the pointer. Pixel x,y of
// the image is X+x,Y+y of the screen; parts off the screen are black. A rectangle that is
// too large or entirely off the screen fails with INVALID_PARAMS.
func (d *Display) Capture(ctx context.Context, area desktop.Rect) (*image.RGBA, error) {
	const doing = "taking a picture of the screen"
	s, err := d.server(ctx)
	if err != nil {
		return nil, err
	}
	geometry := getGeometry(s.root)
	if err := s.must(ctx, geometry); err != nil {
		return nil, wrapError(doing, err)
	}
	screen := geometryOf(geometry)
	seen := area.Intersect(screen)
	if seen.Empty() || area.W > maxPixels/area.H {
		e := aai.Errorf(aai.InvalidParams, "a picture of %d by %d pixels at %d,%d cannot be taken: the screen is %d by %d",
			area.W, area.H, area.X, area.Y, screen.W, screen.H)
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	picture, err := d.captureDrawable(ctx, s, s.root, seen)
	if err != nil {
		return nil, wrapError(doing, err)
	}
	if seen == area {
		return picture, nil
	}
	whole := image.NewRGBA(image.Rect(0, 0, area.W, area.H))
	draw.Draw(whole, whole.Bounds(), image.NewUniform(color.Black), image.Point{}, draw.Src)
	place := picture.Bounds().Add(image.Pt(seen.X-area.X, seen.Y-area.Y))
	draw.Draw(whole, place, picture, image.Point{}, draw.Src)
	return whole, nil
}

// CaptureWindow returns the content of the window's Frame, even if it is covered. From the
// first screenshot of a window until the end of the connection, the server keeps its
// pixels in a separate buffer (Composite's automatic redirection), unless a compositor
// does so anyway; the program has to draw all of it once. CaptureWindow fails with
// AUTOMATION_NOT_SUPPORTED if the window is minimized, or if its pixels are not 32 bits of
// red, green and blue. It fails with AUTOMATION_FAILED if a covered window does not draw
// all that was covered within 0.5 s.
func (d *Display) CaptureWindow(ctx context.Context, id desktop.WindowID) (*image.RGBA, error) {
	window, err := windowOf(id)
	if err != nil {
		return nil, err
	}
	s, err := d.server(ctx)
	if err != nil {
		return nil, err
	}
	picture, err := d.captureWindow(ctx, s, window)
	if err != nil {
		return nil, windowFailure("taking a picture of a window", err)
	}
	return picture, nil
}

func (d *Display) captureWindow(ctx context.Context, s *server, window xid) (*image.RGBA, error) {
	if s.composite == 0 {
		return nil, unsupportedError("this X server cannot take pictures of single windows: it lacks Composite",
			"Take a picture of the screen.")
	}
	sc, c, err := s.lookAt(ctx, window)
	if err != nil {
		return nil, err
	}
	if !c.shown || c.Minimized || c.top < 0 {
		return nil, unsupportedError("the window is minimized or hidden, and X11 keeps no picture of it", "Activate the window first.")
	}
	top := sc.tops[c.top]
	if c.Frame = c.Frame.Intersect(top.frame); c.Frame.Empty() {
		return nil, unsupportedError("the window shows nothing", "Activate the window first.")
	}
	if c.Frame.W > maxPixels/c.Frame.H {
		return nil, unsupportedError(fmt.Sprintf("the window has %d by %d pixels, too many for a picture", c.Frame.W, c.Frame.H),
			"Take a picture of a part of the screen.")
	}
	s.pictures.Lock() // no picture between the redirection of a window and its first drawing
	defer s.pictures.Unlock()
	picture, err := d.capturePixmap(ctx, s, top, c.Frame)
	if !isX(err, badMatch) {
		return picture, err
	}
	return d.firstPicture(ctx, s, top, c.Frame, sc.hidden(&c))
}

// lookAt reads the window stack and returns a window in it, even one that the window
// manager does not know.
func (s *server) lookAt(ctx context.Context, window xid) (*windowStack, client, error) {
	sc, err := s.look(ctx)
	if err != nil {
		return nil, client{}, err
	}
	for _, c := range sc.clients {
		if c.id == window {
			return sc, c, nil
		}
	}
	alone := &windowStack{screen: sc.screen, tops: sc.tops}
	calls := s.askClient(window)
	if err := s.must(ctx, calls.geometry, calls.translate, calls.attributes, calls.extents, calls.tree); err != nil {
		return nil, client{}, err
	}
	c, _ := s.readClient(window, calls, nil)
	parent, _ := calls.tree.children()
	alone.clients = []client{c}
	if err := s.place(ctx, alone, map[xid]xid{window: parent}, none); err != nil {
		return nil, client{}, err
	}
	c = alone.clients[0]
	c.Covered = sc.covered(&c)
	return sc, c, nil
}

// capturePixmap takes a screenshot of a part of a redirected top-level window. It fails
// with BadMatch if the window is not redirected.
func (d *Display) capturePixmap(ctx context.Context, s *server, t top, part desktop.Rect) (*image.RGBA, error) {
	const nameWindowPixmap = 6
	pixmap := s.newID()
	if err := s.must(ctx, command(s.composite, nameWindowPixmap, t.id, pixmap)); err != nil {
		return nil, err
	}
	part.X, part.Y = part.X-t.frame.X, part.Y-t.frame.Y
	picture, err := d.captureDrawable(ctx, s, pixmap, part)
	freeErr := s.cleanUp(ctx, func(ctx context.Context) error { return s.must(ctx, freePixmap(pixmap)) })
	if err == nil {
		err = freeErr
	}
	return picture, err
}

func unsupportedError(message, hint string) error {
	return &aai.Error{Code: aai.AutomationNotSupported, Message: message, Hint: hint, Delivery: aai.NotDelivered}
}

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

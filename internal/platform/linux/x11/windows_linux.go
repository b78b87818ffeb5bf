package x11

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxTitle is the limit for a title, in bytes.
const maxTitle = 500

// Windows lists the windows that the window manager knows, the front one first; without a
// window manager, all mapped windows. The PID comes from the X server's information on
// the client's socket (X-Resource 1.2), because windows may lie; it is 0 for a network
// connection. Without that extension the PID is the window's own claim.
func (d *Display) Windows(ctx context.Context) ([]desktop.WindowInfo, error) {
	s, err := d.server(ctx)
	if err != nil {
		return nil, err
	}
	sc, err := s.look(ctx)
	if err != nil {
		return nil, wrapError("listing the windows", err)
	}
	windows := make([]desktop.WindowInfo, len(sc.clients))
	for i, c := range sc.clients {
		windows[i] = c.WindowInfo
	}
	return windows, nil
}

// WindowAt returns the window that is visible at the point. The frame that a window
// manager puts around a window counts as the window; a menu, a tooltip or a panel is a
// separate window. On the background it fails with AUTOMATION_FAILED.
func (d *Display) WindowAt(ctx context.Context, p desktop.Point) (desktop.WindowInfo, error) {
	s, err := d.server(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	return s.at(ctx, p)
}

func (s *server) at(ctx context.Context, p desktop.Point) (desktop.WindowInfo, error) {
	const doing = "looking for the window at a point"
	sc, err := s.look(ctx)
	if err != nil {
		return desktop.WindowInfo{}, wrapError(doing, err)
	}
	if !sc.screen.Contains(p) {
		e := aai.Errorf(aai.InvalidParams, "the point %d,%d is not on the screen, which is %d by %d pixels", p.X, p.Y, sc.screen.W, sc.screen.H)
		e.Delivery = aai.NotDelivered
		return desktop.WindowInfo{}, e
	}
	i := sc.at(p)
	if i < 0 {
		e := aai.Errorf(aai.AutomationFailed, "there is no window at %d,%d", p.X, p.Y)
		e.Hint = "List the windows and their frames."
		e.Delivery = aai.NotDelivered
		return desktop.WindowInfo{}, e
	}
	for _, c := range sc.clients {
		if c.top == i && c.shown {
			return c.WindowInfo, nil
		}
	}
	// The window manager does not know it: a menu, or a new frame.
	alone := &windowStack{screen: sc.screen}
	if err := s.fill(ctx, alone, nil, []xid{sc.tops[i].id}, none); err != nil {
		return desktop.WindowInfo{}, wrapError(doing, err)
	}
	if len(alone.clients) == 0 {
		return desktop.WindowInfo{}, windowGone()
	}
	c := alone.clients[0]
	c.top = i
	c.Covered = sc.covered(&c)
	return c.WindowInfo, nil
}

// Origin returns the top left corner of the window's surface in physical pixels, including
// the shadow that the program may draw around its Frame.
//
// GTK 4 reports element positions relative to the widget of the window, not to this
// surface. Measured with GTK 4.8: if the window manager draws the frame, both begin at
// Origin, which is the top left of Frame. If GTK draws it, the widget begins after the
// shadow, which Frame excludes, and after a border (5 pixels without a compositor) by
// which Frame is larger than the extents of the window itself, equally on each side. So
// in all cases the widget begins at Frame's top left plus half the difference of the
// sizes.
func (d *Display) Origin(ctx context.Context, id desktop.WindowID) (desktop.Point, error) {
	const doing = "finding a window's place"
	window, err := windowOf(id)
	if err != nil {
		return desktop.Point{}, err
	}
	s, err := d.server(ctx)
	if err != nil {
		return desktop.Point{}, err
	}
	translate := translateCoordinates(window, s.root)
	if err := s.must(ctx, translate); err != nil {
		return desktop.Point{}, windowFailure(doing, err)
	}
	return pointOf(translate), nil
}

func pointOf(translate *call) desktop.Point {
	r := from(translate.reply, 12)
	return desktop.Point{X: r.i16(), Y: r.i16()}
}

// geometryOf returns a window's rectangle without its border; X and Y are those of the
// border, in the parent.
func geometryOf(geometry *call) desktop.Rect {
	r := from(geometry.reply, 12)
	return desktop.Rect{X: r.i16(), Y: r.i16(), W: int(r.u16()), H: int(r.u16())}
}

// topCalls are the requests about a top-level window.
type topCalls struct{ attributes, geometry, extents, shape *call }

func (s *server) askTop(id xid) topCalls {
	c := topCalls{getWindowAttributes(id), getGeometry(id), s.askExtents(id), nil}
	if s.shape != 0 {
		const getRectangles, input = 8, 2
		c.shape = query(s.shape, getRectangles, id, byte(input), pad(3))
	}
	return c
}

func (c topCalls) all() []*call { return []*call{c.attributes, c.geometry, c.extents, c.shape} }

func (c topCalls) read(id xid) top {
	t := top{id: id}
	if c.attributes.err != nil || c.geometry.err != nil {
		return t
	}
	a := from(c.attributes.reply, 12)
	class := a.u16()
	a.take(12)
	t.shown = a.u8() == viewable && class != inputOnly
	t.frame = geometryOf(c.geometry)
	border := int(from(c.geometry.reply, 20).u16())
	inside := desktop.Point{X: t.frame.X + border, Y: t.frame.Y + border}
	t.frame.W, t.frame.H = t.frame.W+2*border, t.frame.H+2*border
	body := shrink(t.frame, c.extents)
	if c.shape == nil || c.shape.err != nil {
		t.solid = []desktop.Rect{body}
		return t
	}
	r := from(c.shape.reply, 8)
	n := r.u32()
	r.take(20)
	for range min(n, uint32(len(r.rest)/8)) {
		part := desktop.Rect{X: inside.X + r.i16(), Y: inside.Y + r.i16(), W: int(r.u16()), H: int(r.u16())}
		if part = part.Intersect(body); !part.Empty() {
			t.solid = append(t.solid, part)
		}
	}
	return t
}

func (s *server) askExtents(id xid) *call {
	return getProperty(id, s.atoms["_GTK_FRAME_EXTENTS"], 16, false)
}

// shrink removes the shadow that a program draws around its own window: _GTK_FRAME_EXTENTS
// is its width on the left, right, top and bottom.
func shrink(r desktop.Rect, extents *call) desktop.Rect {
	n := extents.property().numbers()
	if len(n) != 4 {
		return r
	}
	const most = 1 << 12
	left, right, above, below := int(min(n[0], most)), int(min(n[1], most)), int(min(n[2], most)), int(min(n[3], most))
	inner := desktop.Rect{X: r.X + left, Y: r.Y + above, W: r.W - left - right, H: r.H - above - below}
	if inner.Empty() {
		return r
	}
	return inner
}

// clientCalls are the requests about a client.
type clientCalls struct {
	attributes, geometry, translate, tree, extents    *call
	pid, netName, name, class, netState, managerState *call
}

func (s *server) askClient(id xid) clientCalls {
	ask := func(property xid, most int) *call { return getProperty(id, property, most, false) }
	return clientCalls{
		attributes: getWindowAttributes(id), geometry: getGeometry(id), translate: translateCoordinates(id, s.root),
		tree: queryTree(id), extents: s.askExtents(id), pid: ask(s.atoms["_NET_WM_PID"], 4),
		netName: ask(s.atoms["_NET_WM_NAME"], 4*maxTitle), name: ask(atomName, 4*maxTitle), class: ask(atomClass, 512),
		netState: ask(s.atoms["_NET_WM_STATE"], 128), managerState: ask(s.atoms["WM_STATE"], 8),
	}
}

func (c clientCalls) all() []*call {
	return []*call{c.attributes, c.geometry, c.translate, c.tree, c.extents, c.pid, c.netName, c.name, c.class, c.netState, c.managerState}
}

// readClient returns false for a window that is gone.
func (s *server) readClient(id xid, calls clientCalls, pids map[uint32]int) (client, bool) {
	if calls.attributes.err != nil || calls.geometry.err != nil || calls.translate.err != nil {
		return client{}, false
	}
	c := client{id: id, origin: pointOf(calls.translate)}
	a := from(calls.attributes.reply, 12)
	class := a.u16()
	a.take(12)
	c.shown = a.u8() == viewable && class != inputOnly
	c.ID = desktop.WindowID(id)
	c.PID = int(calls.pid.property().first())
	if s.resource != 0 {
		c.PID = pids[id&^s.setup.idMask]
	}
	size := geometryOf(calls.geometry)
	c.Frame = shrink(desktop.Rect{X: c.origin.X, Y: c.origin.Y, W: size.W, H: size.H}, calls.extents)
	c.Title = title(calls.netName.property())
	if c.Title == "" {
		c.Title = title(calls.name.property())
	}
	// WM_CLASS is the instance and the class, each with a zero at its end.
	if _, name, ok := bytes.Cut(calls.class.property().data, []byte{0}); ok {
		c.Class = title(property{kind: atomString, data: bytes.TrimRight(name, "\x00")})
	}
	c.Minimized = s.minimized(calls)
	c.Modal = s.hasState(calls, "_NET_WM_STATE_MODAL")
	return c, true
}

func (s *server) minimized(calls clientCalls) bool {
	const iconic = 3
	return calls.managerState.property().first() == iconic || s.hasState(calls, "_NET_WM_STATE_HIDDEN")
}

// hasState reports whether the window has the named state (EWMH 1.3, _NET_WM_STATE).
func (s *server) hasState(calls clientCalls, name string) bool {
	for _, state := range calls.netState.property().numbers() {
		if state == s.atoms[name] {
			return true
		}
	}
	return false
}

// title converts a property to one line of text. A STRING that is not valid UTF-8 is
// Latin-1.
func title(p property) string {
	if p.kind == atomString && !utf8.Valid(p.data) {
		runes := make([]rune, len(p.data))
		for i, b := range p.data {
			runes[i] = rune(b)
		}
		return aai.CleanLabel(string(runes), maxTitle)
	}
	return aai.CleanLabel(strings.ToValidUTF8(string(p.data), ""), maxTitle)
}

// askProcesses asks the X-Resource extension for the windows' processes.
func (s *server) askProcesses(windows []xid) []*call {
	const queryClientIDs, localClientPID = 4, 2
	if s.resource == 0 || len(windows) == 0 {
		return nil
	}
	specs := []uint32{uint32(len(windows))}
	for _, w := range windows {
		specs = append(specs, w, localClientPID)
	}
	return []*call{query(s.resource, queryClientIDs, specs)}
}

// readProcesses returns processes by the resource ID base of their connections.
func (s *server) readProcesses(calls []*call) map[uint32]int {
	pids := make(map[uint32]int)
	for _, c := range calls {
		r := from(c.reply, 8)
		n := r.u32()
		r.take(20)
		for range min(n, uint32(len(r.rest)/12)) {
			base := r.u32()
			r.take(4)
			length := int(r.u32())
			if value := from(r.take(length), 0); length >= 4 {
				pids[base&^s.setup.idMask] = int(value.u32())
			}
		}
	}
	return pids
}

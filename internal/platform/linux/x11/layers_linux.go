package x11

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// opaqueDepth is the number of bits of a pixel without transparency.
const opaqueDepth = 24

// maxParts is the maximum number of rectangles in a window's shape; a window with more
// counts as hiding nothing.
const maxParts = 64

// Layers lists all top-level windows, lowest first: the frames of a window manager, and
// unmanaged windows such as menus and screen locks. A frame belongs to the program of the
// window inside; a frame with windows of several programs has no known program. Layers
// does not check for a compositor: windows that one may draw as transparent count as
// hiding nothing.
func (d *Display) Layers(ctx context.Context) ([]desktop.Layer, error) {
	const doing = "listing what lies on the screen"
	s, err := d.server(ctx)
	if err != nil {
		return nil, err
	}
	opacity, opaque := internAtom("_NET_WM_WINDOW_OPACITY"), internAtom("_NET_WM_OPAQUE_REGION")
	if err := s.must(ctx, opacity, opaque); err != nil {
		return nil, wrapError(doing, err)
	}
	sc, err := s.look(ctx)
	if err != nil {
		return nil, wrapError(doing, err)
	}
	l := &layers{server: s, opacity: from(opacity.reply, 8).u32(), opaque: from(opaque.reply, 8).u32()}
	for i, t := range sc.tops {
		if t.shown {
			l.ask(i, t)
		}
	}
	for i := range sc.clients {
		l.askInside(&sc.clients[i])
	}
	processes := s.askProcesses(l.ids)
	if err := s.do(ctx, append(l.calls, processes...)...); err != nil {
		return nil, wrapError(doing, err)
	}
	pids := s.readProcesses(processes)
	all := make([]desktop.Layer, 0, len(l.tops))
	for _, t := range l.tops {
		all = append(all, t.layer(s, sc, pids))
	}
	return all, nil
}

// layers collects the requests about the top-level windows.
type layers struct {
	*server
	opacity, opaque xid
	tops            []*layerCalls
	ids             []xid
	calls           []*call
}

// layerCalls are the requests about the region that a top-level window hides.
type layerCalls struct {
	top
	index                   int
	geometry, shape, itself *call
	inside                  []insideCalls
}

// insideCalls are the requests about a client inside a top-level window.
type insideCalls struct {
	*client
	opacity, opaque *call
}

func (l *layers) add(c *call) *call {
	l.calls = append(l.calls, c)
	return c
}

func (l *layers) ask(index int, t top) {
	const getRectangles, bounding = 8, 0
	c := &layerCalls{top: t, index: index, geometry: l.add(getGeometry(t.id)), itself: l.add(getProperty(t.id, l.opacity, 4, false))}
	if l.shape != 0 {
		c.shape = l.add(query(l.shape, getRectangles, t.id, byte(bounding), pad(3)))
	}
	l.tops, l.ids = append(l.tops, c), append(l.ids, t.id)
}

func (l *layers) askInside(c *client) {
	for _, t := range l.tops {
		if t.index == c.top && c.shown {
			t.inside = append(t.inside, insideCalls{c, l.add(getProperty(c.id, l.opacity, 4, false)), l.add(getProperty(c.id, l.opaque, 16*maxParts, false))})
		}
	}
}

func (t *layerCalls) layer(s *server, sc *windowStack, pids map[uint32]int) desktop.Layer {
	out := desktop.Layer{PID: pids[t.id&^s.setup.idMask], Frame: t.frame, Unmanaged: len(t.inside) == 0}
	for i, c := range t.inside {
		if i > 0 && c.PID != out.PID {
			out.PID = 0
			break
		}
		out.PID = c.PID
	}
	if t.geometry.err != nil || t.shape != nil && t.shape.err != nil || faded(t.itself) {
		return out
	}
	hides := t.bounded()
	if depth := t.geometry.reply[1]; depth != opaqueDepth {
		hides = nil
	}
	for _, c := range t.inside {
		if faded(c.opacity) {
			return out
		}
		if hides == nil {
			hides = within(c.solidParts(), t.bounded())
		}
	}
	out.OpaqueRegion = within(hides, []desktop.Rect{sc.screen})
	return out
}

// faded reports whether a compositor may draw the window as transparent.
func faded(opacity *call) bool {
	n := opacity.property().numbers()
	return opacity.err != nil || len(n) > 0 && n[0] != 1<<32-1
}

// bounded returns the parts of the frame inside the window's shape.
func (t *layerCalls) bounded() []desktop.Rect {
	if t.shape == nil {
		return []desktop.Rect{t.frame}
	}
	border := int(from(t.geometry.reply, 20).u16())
	r := from(t.shape.reply, 8)
	n := r.u32()
	r.take(20)
	if n > maxParts {
		return nil
	}
	var parts []desktop.Rect
	for range min(n, uint32(len(r.rest)/8)) {
		part := desktop.Rect{X: t.frame.X + border + r.i16(), Y: t.frame.Y + border + r.i16(), W: int(r.u16()), H: int(r.u16())}
		if part = part.Intersect(t.frame); !part.Empty() {
			parts = append(parts, part)
		}
	}
	return parts
}

// solidParts returns the region that the program declares as opaque (EWMH 1.5,
// _NET_WM_OPAQUE_REGION).
func (c insideCalls) solidParts() []desktop.Rect {
	n := c.opaque.property().numbers()
	var parts []desktop.Rect
	for ; len(n) >= 4; n = n[4:] {
		const most = 1 << 15
		if max(n[0], n[1], n[2], n[3]) < most {
			parts = append(parts, desktop.Rect{X: c.origin.X + int(n[0]), Y: c.origin.Y + int(n[1]), W: int(n[2]), H: int(n[3])})
		}
	}
	return parts
}

// within returns the intersections of the rectangles with the others.
func within(rects, others []desktop.Rect) []desktop.Rect {
	var parts []desktop.Rect
	for _, r := range rects {
		for _, o := range others {
			if part := r.Intersect(o); !part.Empty() {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

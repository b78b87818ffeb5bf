package x11

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math/bits"

	"github.com/gybob/aai-gateway/internal/desktop"
	"golang.org/x/sys/unix"
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

// captureDrawable copies a part of a window or a pixmap: through shared memory if the
// server supports it, otherwise over the connection.
func (d *Display) captureDrawable(ctx context.Context, s *server, drawable xid, part desktop.Rect) (*image.RGBA, error) {
	if s.shm != 0 {
		picture, err := d.memory.captureDrawable(ctx, s, drawable, part)
		if err == nil || !errors.Is(err, errNoSharing) {
			return picture, err
		}
	}
	// Strips, so that other requests get their turn.
	const stripBytes = 1 << 20
	picture := image.NewRGBA(image.Rect(0, 0, part.W, part.H))
	rows := max(1, stripBytes/(4*part.W))
	for y := 0; y < part.H; y += rows {
		n := min(rows, part.H-y)
		strip := getImage(drawable, part.X, part.Y+y, part.W, n)
		if err := s.must(ctx, strip); err != nil {
			return nil, err
		}
		into := picture.SubImage(image.Rect(0, y, part.W, y+n)).(*image.RGBA)
		r := from(strip.reply, 8)
		if err := s.setup.convert(into, from(strip.reply, 32).rest, strip.reply[1], r.u32()); err != nil {
			return nil, err
		}
	}
	return picture, nil
}

// convert converts pixel values to RGBA. A pixmap has no visual; convert then uses the
// visual of the screen.
func (s *setup) convert(into *image.RGBA, pixels []byte, depth byte, id xid) error {
	v, known := s.visuals[id]
	if !known {
		v = s.rootVisual
	}
	size := into.Bounds().Size()
	if s.bitsPerPixel[depth] != 32 || depth < 24 || bits.OnesCount32(v.red) != 8 || bits.OnesCount32(v.green) != 8 || bits.OnesCount32(v.blue) != 8 {
		return unsupportedError(fmt.Sprintf("pixels of depth %d with %d bits cannot be read; 24 and 32 with 32 bits can", depth, s.bitsPerPixel[depth]),
			"Use a screen with 24 bits of colour.")
	}
	if len(pixels) < 4*size.X*size.Y {
		return fmt.Errorf("the X server sent %d bytes for %d by %d pixels", len(pixels), size.X, size.Y)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if s.bigEndianImages {
		order = binary.BigEndian
	}
	red, green, blue := bits.TrailingZeros32(v.red), bits.TrailingZeros32(v.green), bits.TrailingZeros32(v.blue)
	usual := red == 16 && green == 8 && blue == 0 && !s.bigEndianImages
	for y := range size.Y {
		from := pixels[4*size.X*y:][:4*size.X]
		to := into.Pix[into.Stride*y:][:4*size.X]
		if usual {
			swapRow(to, from)
			continue
		}
		for x := 0; x < len(from); x += 4 {
			p := order.Uint32(from[x:])
			to[x], to[x+1], to[x+2], to[x+3] = byte(p>>red), byte(p>>green), byte(p>>blue), 0xff
		}
	}
	return nil
}

// swapRow converts BGRX, which nearly all servers use, to RGBA.
func swapRow(to, from []byte) {
	for len(from) >= 4 && len(to) >= 4 {
		p := binary.LittleEndian.Uint32(from)
		binary.LittleEndian.PutUint32(to, p>>16&0xff|p&0xff00|p<<16&0xff0000|0xff000000)
		from, to = from[4:], to[4:]
	}
}

// errNoSharing reports that the server cannot share memory with this process: it is on
// another computer, or in another container.
var errNoSharing = errors.New("no shared memory")

// memory is a segment to which the server writes screenshots.
type memory struct {
	lock    chan struct{} // held while in use
	server  *server       // the server that has attached the segment
	name    xid
	data    []byte
	refused *server // a server that cannot share
}

func newMemory() memory { return memory{lock: make(chan struct{}, 1)} }

func (m *memory) captureDrawable(ctx context.Context, s *server, drawable xid, part desktop.Rect) (*image.RGBA, error) {
	select {
	case m.lock <- struct{}{}:
		defer func() { <-m.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := m.grow(ctx, s, 4*part.W*part.H); err != nil {
		return nil, err
	}
	const shmGetImage, zPixmap, allPlanes = 4, 2, ^uint32(0)
	shot := query(s.shm, shmGetImage, drawable, int16(part.X), int16(part.Y), uint16(part.W), uint16(part.H),
		allPlanes, byte(zPixmap), pad(3), m.name, uint32(0))
	if err := s.do(ctx, shot); err != nil {
		// The server may still write to the segment.
		m.drop()
		return nil, err
	}
	if shot.err != nil {
		return nil, shot.err
	}
	picture := image.NewRGBA(image.Rect(0, 0, part.W, part.H))
	r := from(shot.reply, 8)
	return picture, s.setup.convert(picture, m.data, shot.reply[1], r.u32())
}

// grow attaches a segment of at least size bytes to this process and to the server.
func (m *memory) grow(ctx context.Context, s *server, size int) error {
	if m.server == s && len(m.data) >= size {
		return nil
	}
	if m.refused == s {
		return errNoSharing
	}
	if m.server == s && m.data != nil {
		const detach = 2
		if err := s.must(ctx, command(s.shm, detach, m.name)); err != nil {
			return err
		}
	}
	m.drop()
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, unix.IPC_CREAT|0o600)
	if err != nil {
		m.refused = s
		return errNoSharing
	}
	data, err := unix.SysvShmAttach(id, 0, 0)
	// Marked for removal at once, so that it disappears when both sides have detached it
	// or died. Linux still lets the server attach it.
	_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	if err != nil {
		m.refused = s
		return errNoSharing
	}
	const attach, writable = 1, 0
	name := s.newID()
	share := command(s.shm, attach, name, uint32(id), byte(writable), pad(3))
	if err := s.do(ctx, share); err != nil {
		_ = unix.SysvShmDetach(data)
		return err
	}
	if share.err != nil {
		_ = unix.SysvShmDetach(data)
		m.refused = s
		return errNoSharing
	}
	m.server, m.name, m.data = s, name, data
	return nil
}

// drop detaches this side of the segment.
func (m *memory) drop() {
	if m.data != nil {
		_ = unix.SysvShmDetach(m.data)
	}
	m.server, m.data = nil, nil
}

func (m *memory) free() {
	select {
	case m.lock <- struct{}{}:
		m.drop()
		<-m.lock
	default: // in use: it is freed with the process
	}
}

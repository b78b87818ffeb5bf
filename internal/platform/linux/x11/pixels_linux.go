package x11

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math/bits"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway/internal/desktop"
)

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

package wayland

import (
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
)

// maxPixels bounds a screenshot: a screen of 16 by 8 thousand pixels.
const maxPixels = 128 << 20

// screencopyManager is the interface for pictures.
const screencopyManager = "zwlr_screencopy_manager_v1"

// Layers implements desktop.Screen: the windows that are shown, lowest first.
func (d *Display) Layers(ctx context.Context) ([]desktop.Layer, error) {
	all, err := d.windows(ctx)
	if err != nil {
		return nil, err
	}
	var layers []desktop.Layer
	for _, w := range slices.Backward(all) {
		if w.shown {
			layers = append(layers, desktop.Layer{PID: w.PID, Frame: w.Frame, OpaqueRegion: []desktop.Rect{w.Frame}})
		}
	}
	return layers, nil
}

// Capture implements desktop.Screen, in logical pixels.
func (d *Display) Capture(ctx context.Context, area desktop.Rect) (*image.RGBA, error) {
	const doing = "taking a picture of the screen"
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.outputs(ctx)
	if err != nil {
		return nil, failure(doing, err)
	}
	if reason := d.PauseReason(ctx); reason != "" && len(all) > 0 { // the picture would be that of the lock
		e := refused(aai.PermissionDenied, "there is no picture of the windows: %s", reason)
		e.Hint = "Wait until the person is back."
		return nil, e
	}
	if area.Empty() || area.W > maxPixels/area.H {
		return nil, refused(aai.InvalidParams, "a picture of %d by %d pixels cannot be taken", area.W, area.H)
	}
	if _, ok := c.offered(screencopyManager); !ok && d.hasShots(ctx) {
		picture, err := d.captureByPortal(ctx, c, area)
		return picture, failure(doing, err)
	}
	if i := slices.IndexFunc(all, func(o output) bool { return o.Frame.Intersect(area) == area }); i >= 0 {
		picture, err := c.capture(ctx, all[i], area)
		if err != nil {
			return nil, failure(doing, err)
		}
		return scaled(picture, area.W, area.H), nil
	}
	whole := image.NewRGBA(image.Rect(0, 0, area.W, area.H))
	draw.Draw(whole, whole.Bounds(), image.NewUniform(color.Black), image.Point{}, draw.Src)
	seen := false
	for _, o := range all {
		part := area.Intersect(o.Frame)
		if part.Empty() {
			continue
		}
		seen = true
		picture, err := c.capture(ctx, o, part)
		if err != nil {
			return nil, failure(doing, err)
		}
		at := image.Rect(0, 0, part.W, part.H).Add(image.Pt(part.X-area.X, part.Y-area.Y))
		draw.Draw(whole, at, scaled(picture, part.W, part.H), image.Point{}, draw.Src)
	}
	if !seen {
		return nil, refused(aai.InvalidParams, "there is no monitor at %d,%d", area.X, area.Y)
	}
	return whole, nil
}

// CaptureWindow implements desktop.Screen. A window that is covered or on another workspace has no picture.
func (d *Display) CaptureWindow(ctx context.Context, id desktop.WindowID) (*image.RGBA, error) {
	w, err := d.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if !w.shown || w.Covered > 0 {
		return nil, unsupported("the window is covered or on another workspace, and this compositor gives no picture of it",
			`Use the mode "focus", which brings it to the front.`)
	}
	return d.Capture(ctx, w.Frame)
}

// Formats of pixels; wl_shm.format.
const (
	argb8888 = 0
	xrgb8888 = 1
	abgr8888 = 0x34324241
	xbgr8888 = 0x34324258
)

// A frame describes a picture that the compositor is about to copy.
type frame struct {
	format, width, height, stride uint32
	upsideDown, failed            bool
}

// capture takes a picture of a part of an output by wlr-screencopy, in physical pixels.
func (c *conn) capture(ctx context.Context, o output, part desktop.Rect) (*image.RGBA, error) {
	const captureRegion, copyFrame, destroy = 1, 0, 1
	manager, ok, err := c.bind(ctx, screencopyManager, 1)
	if err == nil && !ok {
		err = unsupported("the compositor gives no pictures of the screen by wlr-screencopy", "")
	}
	if err != nil {
		return nil, err
	}
	var f frame
	described, copied := make(chan struct{}), make(chan struct{})
	describe, finish := sync.OnceFunc(func() { close(described) }), sync.OnceFunc(func() { close(copied) })
	id := c.add(func(opcode uint16, e *reader) {
		const buffer, flags, ready, failed = 0, 1, 2, 3
		switch opcode {
		case buffer:
			f.format, f.width, f.height, f.stride = e.Uint(), e.Uint(), e.Uint(), e.Uint()
			describe()
		case flags:
			f.upsideDown = e.Uint()&1 != 0
		case ready:
			finish()
		case failed:
			f.failed = true
			describe()
			finish()
		}
	})
	err = c.send(ctx, manager, captureRegion, id, int32(0), o.id, i32(part.X-o.Frame.X), i32(part.Y-o.Frame.Y), i32(part.W), i32(part.H))
	if err == nil {
		err = c.await(ctx, described)
	}
	if err == nil && f.failed {
		err = errNoPicture
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.send(context.WithoutCancel(ctx), id, destroy) }()
	if f.width == 0 || f.height == 0 || f.width > maxPixels/f.height || f.stride/4 < f.width || f.stride > 1<<20 {
		return nil, errNoPicture
	}
	memory, buffer, err := c.newBuffer(ctx, &f)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = c.send(context.WithoutCancel(ctx), buffer, 0)
		_ = unix.Munmap(memory)
	}()
	if err := c.send(ctx, id, copyFrame, buffer); err != nil {
		return nil, err
	}
	if err := c.await(ctx, copied); err != nil {
		return nil, err
	}
	if f.failed {
		return nil, errNoPicture
	}
	return f.picture(memory)
}

var errNoPicture = errors.New("the compositor gave no picture")

// newBuffer makes a buffer that the compositor fills.
func (c *conn) newBuffer(ctx context.Context, f *frame) (memory []byte, buffer uint32, err error) {
	const createPool, createBuffer, destroyPool = 0, 0, 1
	size := int(f.stride) * int(f.height)
	fd, err := unix.MemfdCreate("picture", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, 0, err
	}
	file := os.NewFile(uintptr(fd), "picture")
	defer func() { _ = file.Close() }()
	if err := file.Truncate(int64(size)); err != nil {
		return nil, 0, err
	}
	if memory, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, 0, err
	}
	shm, ok, err := c.bind(ctx, "wl_shm", 1)
	if err == nil && !ok {
		err = errNoPicture
	}
	pool := c.add(nil)
	if err == nil {
		err = c.send(ctx, shm, createPool, pool, fdwire.OpenFile{File: file}, i32(size))
	}
	if err == nil {
		buffer = c.add(nil)
		err = c.send(ctx, pool, createBuffer, buffer, int32(0), i32(int(f.width)), i32(int(f.height)), i32(int(f.stride)), f.format)
	}
	if err == nil {
		err = c.send(ctx, pool, destroyPool)
	}
	if err != nil {
		return nil, 0, errors.Join(err, unix.Munmap(memory))
	}
	return memory, buffer, nil
}

// picture converts the copied pixels.
func (f *frame) picture(memory []byte) (*image.RGBA, error) {
	swapped := f.format == argb8888 || f.format == xrgb8888 // blue comes first
	if !swapped && f.format != abgr8888 && f.format != xbgr8888 {
		return nil, errors.New("the compositor's format of pixels is not known")
	}
	w, h := int(f.width), int(f.height)
	p := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		from := y
		if f.upsideDown {
			from = h - 1 - y
		}
		in, out := memory[from*int(f.stride):][:4*w], p.Pix[y*p.Stride:][:4*w]
		for i := 0; i+4 <= len(in); i += 4 { // a pixel at a time, red in the lowest byte
			pixel := binary.LittleEndian.Uint32(in[i:])
			if swapped {
				pixel = pixel&0xff00 | pixel>>16&0xff | pixel&0xff<<16
			}
			binary.LittleEndian.PutUint32(out[i:], pixel|0xff<<24)
		}
	}
	return p, nil
}

// scaled returns the picture in another size, by the nearest pixel.
func scaled(p *image.RGBA, w, h int) *image.RGBA {
	if p.Rect.Dx() == w && p.Rect.Dy() == h {
		return p
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			to.SetRGBA(x, y, p.RGBAAt(x*p.Rect.Dx()/w, y*p.Rect.Dy()/h))
		}
	}
	return to
}

// i32 converts a number of the layout, which is small.
func i32(n int) int32 { return int32(n) }

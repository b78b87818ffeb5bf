package wayland

import (
	"context"
	"errors"
	"image"
	"math"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
)

// layerShell is the interface for surfaces over the windows.
const layerShell = "zwlr_layer_shell_v1"

// A sign is a surface over all windows that says that an agent acts. It takes no keyboard and no clicks. It is a Screen
// with its own connection.
type sign struct {
	*conn
	display    *Display
	surface    uint32 // 0 before it is shown
	layer      uint32
	buffer     uint32
	label      string
	configured chan uint32 // serial numbers
	closed     chan struct{}
}

// OpenSign returns the compositor's screen for the sign; nil if it cannot show one.
func (d *Display) OpenSign(ctx context.Context) (actingsign.Screen, error) {
	if !d.IsOffered() {
		return nil, nil
	}
	c, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := c.offered(layerShell); !ok {
		c.lose(context.Canceled)
		return nil, nil
	}
	return &sign{conn: c, display: d}, nil
}

// Pressed implements actingsign.Screen. Wayland lets no program watch for a key in other windows.
func (s *sign) Pressed() <-chan struct{} { return nil }

// Gone implements actingsign.Screen.
func (s *sign) Gone() <-chan struct{} { return s.gone }

// Close implements actingsign.Screen.
func (s *sign) Close() { s.lose(context.Canceled) }

// Requests of zwlr_layer_surface_v1 and wl_surface.
const (
	layerSize, layerAnchor, layerMargin, layerAck, layerDestroy               = 0, 1, 3, 6, 7
	surfaceDestroy, surfaceAttach, surfaceDamage, surfaceInput, surfaceCommit = 0, 1, 2, 5, 6
	surfaceScale                                                              = 8
	bufferDestroy                                                             = 0
)

// Draw implements actingsign.Screen. A sign with another label is another surface.
func (s *sign) Draw(ctx context.Context, label string) error {
	if s.surface != 0 {
		select {
		case <-s.closed: // with its monitor
		default:
			if label == s.label {
				return nil
			}
		}
		if err := errors.Join(s.send(ctx, s.layer, layerDestroy), s.send(ctx, s.surface, surfaceDestroy), s.send(ctx, s.buffer, bufferDestroy)); err != nil {
			return err
		}
		s.surface = 0
	}
	scale := 1
	if all, err := s.outputs(ctx); err == nil && len(all) > 0 {
		scale = max(1, int(math.Round(all[0].Scale)))
	}
	picture := actingsign.Picture(label, float64(scale))
	if err := s.create(ctx, picture.Bounds().Dx()/scale, picture.Bounds().Dy()/scale); err != nil {
		return failure("showing that an agent acts", err)
	}
	s.label = label
	return failure("showing that an agent acts", s.show(ctx, picture, scale))
}

// create creates the surface in the corner at the bottom right, and waits until the compositor has placed it.
func (s *sign) create(ctx context.Context, width, height int) error {
	const createSurface, createRegion, getLayerSurface, overlay, bottomRight, regionDestroy = 0, 1, 0, 3, 2 | 8, 0
	compositor, ok, err := s.bind(ctx, "wl_compositor", 3)
	if err == nil && !ok {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return err
	}
	shell, _, err := s.bind(ctx, layerShell, 1)
	if err != nil {
		return err
	}
	configured, closed, isClosed := make(chan uint32, 16), make(chan struct{}), false
	s.configured, s.closed = configured, closed
	s.surface = s.add(nil)
	s.layer = s.add(func(opcode uint16, e *reader) {
		const configure = 0
		if opcode != configure {
			if !isClosed {
				isClosed = true
				close(closed)
			}
			return
		}
		select {
		case configured <- e.Uint():
		default:
		}
	})
	region := s.add(nil)
	return errors.Join(
		s.send(ctx, compositor, createSurface, s.surface),
		s.send(ctx, shell, getLayerSurface, s.layer, s.surface, uint32(0), uint32(overlay), "aai-gateway"),
		s.send(ctx, s.layer, layerSize, uint32(width), uint32(height)),
		s.send(ctx, s.layer, layerAnchor, uint32(bottomRight)),
		s.send(ctx, s.layer, layerMargin, int32(0), int32(actingsign.Margin), int32(actingsign.Margin), int32(0)),
		s.send(ctx, compositor, createRegion, region), // empty: clicks pass through
		s.send(ctx, s.surface, surfaceInput, region),
		s.send(ctx, region, regionDestroy),
		s.send(ctx, s.surface, surfaceCommit),
		s.sync(ctx),
	)
}

// show gives the surface its picture.
func (s *sign) show(ctx context.Context, picture *image.RGBA, scale int) error {
	select {
	case serial := <-s.configured:
		if err := s.send(ctx, s.layer, layerAck, serial); err != nil {
			return err
		}
	case <-s.closed:
		return errors.New("the compositor closed the sign")
	case <-s.gone:
		return s.lost()
	case <-ctx.Done():
		return ctx.Err()
	}
	w, h := picture.Bounds().Dx(), picture.Bounds().Dy()
	f := frame{format: argb8888, width: uint32(w), height: uint32(h), stride: uint32(4 * w)}
	memory, buffer, err := s.newBuffer(ctx, &f)
	if err != nil {
		return err
	}
	s.buffer = buffer
	defer func() { _ = unix.Munmap(memory) }() // the compositor has its own mapping
	for i := 0; i+3 < len(picture.Pix); i += 4 {
		memory[i], memory[i+1], memory[i+2], memory[i+3] = picture.Pix[i+2], picture.Pix[i+1], picture.Pix[i], 0xff
	}
	return errors.Join(
		s.send(ctx, s.surface, surfaceScale, i32(scale)),
		s.send(ctx, s.surface, surfaceAttach, buffer, int32(0), int32(0)),
		s.send(ctx, s.surface, surfaceDamage, int32(0), int32(0), i32(w), i32(h)),
		s.send(ctx, s.surface, surfaceCommit),
		s.sync(ctx),
	)
}

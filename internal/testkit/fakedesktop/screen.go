package fakedesktop

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Background returns the colour of the empty screen.
func Background() color.RGBA { return color.RGBA{A: 255} }

// Color returns the colour of the area of the element; its children are painted on top. Elements with the IDs /fake/1
// to /fake/133 have distinct colours.
func (x *Element) Color() color.RGBA {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return x.color()
}

func (x *Element) color() color.RGBA {
	n := 1
	for _, c := range x.e.ID {
		if '0' <= c && c <= '9' {
			n = n*10 + int(c-'0')
		}
	}
	return color.RGBA{R: byte(n * 37), G: byte(n * 91), B: byte(n*151) | 1, A: 255}
}

func (b *backend) Monitors(ctx context.Context) ([]desktop.Monitor, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	return []desktop.Monitor{{Name: "fake-1", Frame: screen(), Primary: true, Scale: 1}}, nil
}

func (b *backend) Capture(ctx context.Context, area desktop.Rect) (*image.RGBA, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	if area.Empty() || area.Intersect(screen()) != area {
		return nil, notDeliveredError(aai.InvalidParams, "area: expected a part of the screen, which is %d × %d", Width, Height)
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	picture := image.NewRGBA(image.Rect(0, 0, area.W, area.H))
	origin := desktop.Point{X: area.X, Y: area.Y}
	fill(picture, screen(), origin, Background())
	for i := len(b.d.stack) - 1; i >= 0; i-- {
		b.d.stack[i].paint(picture, origin)
	}
	return picture, nil
}

func (b *backend) CaptureWindow(ctx context.Context, id desktop.WindowID) (*image.RGBA, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	w, err := b.d.window(id)
	if err != nil {
		return nil, err
	}
	if w.minimized {
		return nil, notDeliveredError(aai.AutomationNotSupported, "the window %q is minimized, so there is no picture of it", w.e.Name)
	}
	picture := image.NewRGBA(image.Rect(0, 0, w.frame.W, w.frame.H))
	w.paint(picture, desktop.Point{X: w.frame.X, Y: w.frame.Y})
	return picture, nil
}

// paint paints the window into a picture with its upper left corner at origin. The caller holds the
// desktop's lock.
func (w *Window) paint(picture *image.RGBA, origin desktop.Point) {
	if w.minimized {
		return
	}
	w.arrange()
	w.Element.paint(picture, origin)
}

func (x *Element) paint(picture *image.RGBA, origin desktop.Point) {
	if !x.showing {
		return
	}
	fill(picture, x.e.Frame, origin, x.color())
	for _, c := range x.children {
		c.paint(picture, origin)
	}
}

func fill(picture *image.RGBA, r desktop.Rect, origin desktop.Point, c color.Color) {
	at := image.Rect(r.X-origin.X, r.Y-origin.Y, r.X-origin.X+r.W, r.Y-origin.Y+r.H)
	draw.Draw(picture, at, image.NewUniform(c), image.Point{}, draw.Src)
}

// Layers returns the windows as opaque layers.
func (b *backend) Layers(ctx context.Context) ([]desktop.Layer, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	var layers []desktop.Layer
	for _, w := range slices.Backward(b.d.stack) {
		if !w.minimized {
			layers = append(layers, desktop.Layer{PID: w.program.app.PID, Frame: w.frame, OpaqueRegion: []desktop.Rect{w.frame}})
		}
	}
	return layers, nil
}

package screen

import (
	"context"
	"image"
	"image/color"
	"image/draw"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Monitors implements desktop.Screen.
func (*Display) Monitors(context.Context) ([]desktop.Monitor, error) {
	if monitors := win32.Monitors(); len(monitors) > 0 {
		monitors[0].Primary = true
		return monitors, nil
	}
	return []desktop.Monitor{{Name: "screen", Frame: win32.VirtualScreen(), Primary: true, Scale: 1}}, nil
}

// Layers implements desktop.Screen.
func (*Display) Layers(context.Context) ([]desktop.Layer, error) {
	s := look()
	var layers []desktop.Layer
	for i := len(s.windows) - 1; i >= 0; i-- {
		w := s.windows[i]
		if !w.traits.isLayer() {
			continue
		}
		l := desktop.Layer{PID: int(contentProcess(w.window, w.traits.class)), Frame: w.layer.frame, Unmanaged: !w.traits.isListed()}
		if w.layer.solid {
			l.OpaqueRegion = []desktop.Rect{w.layer.frame}
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// Capture implements desktop.Screen. Parts off the screen are black.
func (*Display) Capture(_ context.Context, area desktop.Rect) (*image.RGBA, error) {
	all := win32.VirtualScreen()
	seen := area.Intersect(all)
	if seen.Empty() || area.W > maxPixels/area.H {
		return nil, notDelivered(aai.InvalidParams, "a picture of %d by %d pixels at %d,%d cannot be taken: the screen is %d by %d at %d,%d",
			area.W, area.H, area.X, area.Y, all.W, all.H, all.X, all.Y)
	}
	picture, err := capture(seen)
	if err != nil || seen == area {
		return picture, err
	}
	whole := image.NewRGBA(image.Rect(0, 0, area.W, area.H))
	draw.Draw(whole, whole.Bounds(), image.NewUniform(color.Black), image.Point{}, draw.Src)
	draw.Draw(whole, picture.Bounds().Add(image.Pt(seen.X-area.X, seen.Y-area.Y)), picture, image.Point{}, draw.Src)
	return whole, nil
}

// capture returns the visible content of a rectangle on the screen.
func capture(area desktop.Rect) (*image.RGBA, error) {
	c, err := win32.NewCanvas(image.Pt(area.W, area.H))
	if err != nil {
		return nil, systemError("taking a picture of the screen", err)
	}
	defer c.Close()
	if err := c.CopyScreen(desktop.Point{X: area.X, Y: area.Y}); err != nil {
		return nil, systemError("taking a picture of the screen", err)
	}
	return c.Image(image.Rect(0, 0, area.W, area.H)), nil
}

// CaptureWindow implements desktop.Screen. The window draws itself by PrintWindow. For one that does not, the picture is that of the
// screen, unless another window covers it.
func (d *Display) CaptureWindow(ctx context.Context, id desktop.WindowID) (*image.RGBA, error) {
	w, err := existing(id)
	if err != nil {
		return nil, err
	}
	whole, frame := w.Frame(), w.VisibleFrame()
	switch {
	case w.IsMinimized() || !w.IsVisible():
		e := notDelivered(aai.AutomationNotSupported, "the window is minimized or hidden, so it has no picture")
		e.Hint = "Restore the window first."
		return nil, e
	case frame.Empty() || whole.W > maxPixels/whole.H:
		return nil, notDelivered(aai.AutomationFailed, "the window has %d by %d pixels", frame.W, frame.H)
	case w.IsHung():
		return d.captureVisible(ctx, id, frame)
	}
	part := image.Rect(0, 0, frame.W, frame.H).Add(image.Pt(frame.X-whole.X, frame.Y-whole.Y))
	picture, err := within(ctx, "taking a picture of the window", func() (*image.RGBA, error) { return print(w, image.Pt(whole.W, whole.H), part) })
	if picture != nil || err != nil {
		return picture, err
	}
	return d.captureVisible(ctx, id, frame)
}

// print returns the part of the window as the window draws itself; nil if it draws nothing.
func print(w win32.Window, size image.Point, part image.Rectangle) (*image.RGBA, error) {
	c, err := win32.NewCanvas(size)
	if err != nil {
		return nil, systemError("taking a picture of the window", err)
	}
	defer c.Close()
	if !c.Print(w) || c.IsBlank() {
		return nil, nil //nolint:nilnil // nothing was drawn
	}
	return c.Image(part), nil
}

// captureVisible returns the picture of the window on the screen, if nothing covers it.
func (*Display) captureVisible(_ context.Context, id desktop.WindowID, frame desktop.Rect) (*image.RGBA, error) {
	s := look()
	for i := range s.windows {
		if s.windows[i].window != win32.Window(id) {
			continue
		}
		if s.info(i).Covered > 0 {
			e := notDelivered(aai.AutomationNotSupported, "the window does not draw itself for a picture, and it is partly covered or off the screen")
			e.Hint = `Use mode "focus", which brings the window to the front, or take a picture of the screen.`
			return nil, e
		}
		return capture(frame)
	}
	_, err := existing(1 << 40)
	return nil, err
}

// Package screenshot compares and redacts screenshots. A Watcher reports whether a window looks different after input.
package screenshot

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Windows without a tree, and canvases in windows with one, are verified by two screenshots: one
// from just before the input, one from after it.

const (
	// capturePause is the time between two screenshots.
	capturePause = 60 * time.Millisecond
	// captureTries limits the screenshots before the input of a window that keeps changing.
	captureTries = 6
	// sightCeiling limits the wait for a different screenshot.
	sightCeiling = time.Second
)

// Watcher compares the appearance of a window after the input with that before it.
type Watcher struct {
	screen        desktop.Screen
	windows       desktop.Windows
	window        desktop.WindowInfo
	area          desktop.Rect // the part to compare, on the screen; empty: the whole window
	before        *image.RGBA
	animated      image.Rectangle // the part that changed by itself
	windowsBefore []desktop.WindowInfo
}

// NewWatcher returns a Watcher for the window that Begin receives.
func NewWatcher(screen desktop.Screen, windows desktop.Windows) *Watcher {
	return &Watcher{screen: screen, windows: windows}
}

// Within limits the comparison to a part of the screen, and returns the watcher.
func (s *Watcher) Within(area desktop.Rect) *Watcher {
	s.area = area
	return s
}

// capture returns a picture of the window, or of the part to compare.
func (s *Watcher) capture(ctx context.Context) (*image.RGBA, error) {
	shot, err := s.screen.CaptureWindow(ctx, s.window.ID)
	if err != nil || s.area.Empty() {
		return shot, err
	}
	if f := s.window.Frame; shot.Bounds() != image.Rect(0, 0, f.W, f.H) {
		return nil, fmt.Errorf("the picture has the size %v, and its window %d × %d", shot.Bounds().Size(), f.W, f.H)
	}
	at := image.Rect(0, 0, s.area.W, s.area.H).Add(s.offset())
	return shot.SubImage(at).(*image.RGBA), nil
}

// offset is the place of the part to compare in the window.
func (s *Watcher) offset() image.Point {
	if s.area.Empty() {
		return image.Point{}
	}
	return image.Pt(s.area.X-s.window.Frame.X, s.area.Y-s.window.Frame.Y)
}

// IsAnimated reports whether the window kept changing before the input.
func (s *Watcher) IsAnimated() bool { return !s.animated.Empty() }

// Begin stores a screenshot of the window once it has stopped changing, or after captureTries.
func (s *Watcher) Begin(ctx context.Context, w desktop.WindowInfo) {
	s.window = w
	s.windowsBefore, _ = s.windows.Windows(ctx)
	last, err := s.capture(ctx)
	for range captureTries {
		if err != nil || aai.Sleep(ctx, capturePause) != nil {
			return
		}
		var next *image.RGBA
		if next, err = s.capture(ctx); err != nil {
			return
		}
		s.before, s.animated = next, diffBounds(last, next, image.Rectangle{})
		if s.animated.Empty() {
			return
		}
		last = next
	}
}

// Changed waits until the window looks different, and describes the change; "" if there is none, or
// Begin was not called.
func (s *Watcher) Changed(ctx context.Context, app desktop.App) string {
	if s.window.ID == 0 {
		return ""
	}
	for until := time.Now().Add(sightCeiling); ; {
		all, err := s.windows.Windows(ctx)
		if err == nil {
			if text := s.describeWindowChange(all, app); text != "" {
				return text
			}
		}
		if s.before == nil {
			return ""
		}
		// A window that cannot be captured may be about to close: the next list shows that.
		if now, err := s.capture(ctx); err == nil {
			if text := s.describeDiff(now); text != "" {
				return text
			}
		}
		if time.Now().After(until) || aai.Sleep(ctx, capturePause) != nil {
			return ""
		}
	}
}

// describeDiff describes the part that differs from the earlier screenshot; "" if none does.
func (s *Watcher) describeDiff(now *image.RGBA) string {
	part := diffBounds(s.before, now, s.animated)
	if part.Empty() {
		return ""
	}
	at := part.Add(image.Pt(s.window.Frame.X, s.window.Frame.Y)).Add(image.Pt(max(0, s.offset().X), max(0, s.offset().Y)))
	share := 100 * part.Dx() * part.Dy() / max(1, now.Bounds().Dx()*now.Bounds().Dy())
	return fmt.Sprintf("its picture, at %d, %d, %d × %d (%d%% of it)", at.Min.X, at.Min.Y, part.Dx(), part.Dy(), share)
}

// describeWindowChange describes a window of the program that opened or closed.
func (s *Watcher) describeWindowChange(all []desktop.WindowInfo, app desktop.App) string {
	in := func(list []desktop.WindowInfo, w desktop.WindowInfo) bool {
		return slices.ContainsFunc(list, func(o desktop.WindowInfo) bool { return o.ID == w.ID })
	}
	if !in(all, s.window) {
		return fmt.Sprintf("the window %s is gone", desktop.Quote(s.window.Title, 60))
	}
	for _, w := range all {
		if w.PID == app.PID && !in(s.windowsBefore, w) {
			return fmt.Sprintf("a window %s opened", desktop.Quote(w.Title, 60))
		}
	}
	return ""
}

// diffBounds returns the smallest rectangle that contains all differing pixels outside without.
func diffBounds(one, other *image.RGBA, without image.Rectangle) image.Rectangle {
	if one.Bounds().Size() != other.Bounds().Size() {
		return other.Bounds().Sub(other.Bounds().Min)
	}
	var all image.Rectangle
	size := one.Bounds().Size()
	for y := range size.Y {
		a := one.Pix[y*one.Stride : y*one.Stride+4*size.X]
		b := other.Pix[y*other.Stride : y*other.Stride+4*size.X]
		if bytes.Equal(a, b) {
			continue
		}
		for x := range size.X {
			p := image.Pt(x, y)
			if !bytes.Equal(a[4*x:4*x+4], b[4*x:4*x+4]) && !p.In(without) {
				all = all.Union(image.Rectangle{p, p.Add(image.Pt(1, 1))})
			}
		}
	}
	return all
}

// Blacken paints over the layers for which seen returns false, in a picture of the area. Parts that another layer
// covers, for which seen returns true, stay visible.
func Blacken(picture *image.RGBA, area desktop.Rect, layers []desktop.Layer, seen func(desktop.Layer) bool) {
	mask := image.NewAlpha(picture.Bounds())
	paint := func(r desktop.Rect, with color.Alpha) {
		r.X, r.Y = r.X-area.X+mask.Rect.Min.X, r.Y-area.Y+mask.Rect.Min.Y
		draw.Draw(mask, image.Rect(r.X, r.Y, r.X+r.W, r.Y+r.H), image.NewUniform(with), image.Point{}, draw.Src)
	}
	for _, l := range layers {
		switch {
		case l.Frame.Intersect(area).Empty():
		case seen(l):
			for _, r := range l.OpaqueRegion {
				paint(r, color.Alpha{})
			}
		default:
			paint(l.Frame, color.Alpha{A: 255})
		}
	}
	draw.DrawMask(picture, picture.Bounds(), image.NewUniform(color.Black), image.Point{}, mask, mask.Rect.Min, draw.Over)
}

// Package screenshot compares, redacts, scales and encodes screenshots. A Watcher reports whether a
// window looks different after input.
package screenshot

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
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
	before        *image.RGBA
	animated      image.Rectangle // the part that changed by itself
	windowsBefore []desktop.WindowInfo
}

// NewWatcher returns a Watcher for the window that Begin receives.
func NewWatcher(screen desktop.Screen, windows desktop.Windows) *Watcher {
	return &Watcher{screen: screen, windows: windows}
}

// IsAnimated reports whether the window kept changing before the input.
func (s *Watcher) IsAnimated() bool { return !s.animated.Empty() }

// Begin stores a screenshot of the window once it has stopped changing, or after captureTries.
func (s *Watcher) Begin(ctx context.Context, w desktop.WindowInfo) {
	s.window = w
	s.windowsBefore, _ = s.windows.Windows(ctx)
	last, err := s.screen.CaptureWindow(ctx, w.ID)
	for range captureTries {
		if err != nil || aai.Sleep(ctx, capturePause) != nil {
			return
		}
		var next *image.RGBA
		if next, err = s.screen.CaptureWindow(ctx, w.ID); err != nil {
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
		if now, err := s.screen.CaptureWindow(ctx, s.window.ID); err == nil {
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
	at := part.Add(image.Pt(s.window.Frame.X, s.window.Frame.Y))
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

// Crop returns a part of a picture as a new picture. at counts from the upper left corner of the picture.
func Crop(picture *image.RGBA, at image.Rectangle) *image.RGBA {
	part := image.NewRGBA(image.Rectangle{Max: at.Size()})
	draw.Draw(part, part.Rect, picture, picture.Rect.Min.Add(at.Min), draw.Src)
	return part
}

// Clone returns a copy of the picture.
func Clone(picture *image.RGBA) *image.RGBA {
	return Crop(picture, image.Rectangle{Max: picture.Rect.Size()})
}

// Scale returns the picture with no side longer than side pixels, and the scale factor.
func Scale(picture *image.RGBA, side int) (*image.RGBA, float64) {
	size := picture.Bounds().Size()
	longer := max(size.X, size.Y)
	if longer <= side {
		return picture, 1
	}
	scale := float64(side) / float64(longer)
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale))))
	interpolate(small, picture)
	return small, scale
}

// interpolate fills small with the picture, bilinearly. Positions and weights are in 1/256 of a pixel.
func interpolate(small, picture *image.RGBA) {
	columns := make([]sample, small.Rect.Dx())
	for x := range columns {
		columns[x] = sampleAt(x, small.Rect.Dx(), picture.Rect.Dx())
	}
	for y := range small.Rect.Dy() {
		row := sampleAt(y, small.Rect.Dy(), picture.Rect.Dy())
		upper, lower := picture.Pix[row.at*picture.Stride:], picture.Pix[row.next*picture.Stride:]
		out := small.Pix[y*small.Stride:]
		for x, c := range columns {
			for i := range 4 {
				above := int(upper[4*c.at+i])*(256-c.weight) + int(upper[4*c.next+i])*c.weight
				below := int(lower[4*c.at+i])*(256-c.weight) + int(lower[4*c.next+i])*c.weight
				out[4*x+i] = uint8((above*(256-row.weight) + below*row.weight + 1<<15) >> 16)
			}
		}
	}
}

// sample names two neighbors in a row or column, and the weight of the second.
type sample struct{ at, next, weight int }

// sampleAt returns the neighbors of the middle of pixel i of small ones, in a row of large ones.
func sampleAt(i, small, large int) sample {
	position := min(max(0, (2*i+1)*large*128/small-128), (large-1)*256)
	return sample{position >> 8, min(position>>8+1, large-1), position & 255}
}

// EncodePNG encodes the picture as PNG, for speed and not size.
func EncodePNG(picture *image.RGBA) ([]byte, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

package screenshot_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
)

// screen shows one window, with screenshots from a list; the last one repeats.
type screen struct {
	desktop.Screen
	pictures []*image.RGBA
	windows  []desktop.WindowInfo
}

func (s *screen) CaptureWindow(context.Context, desktop.WindowID) (*image.RGBA, error) {
	if len(s.pictures) == 0 {
		return nil, errors.New("it is gone")
	}
	picture := s.pictures[0]
	if len(s.pictures) > 1 {
		s.pictures = s.pictures[1:]
	}
	return picture, nil
}

// list is the list of windows, as the screen has them.
type list struct {
	others
	of *screen
}

type others interface{ desktop.Windows } // others are the methods that the test does not use

func (l list) Windows(context.Context) ([]desktop.WindowInfo, error) { return l.of.windows, nil }

// painted returns a gray picture with white rectangles.
func painted(at ...image.Rectangle) *image.RGBA {
	picture := image.NewRGBA(image.Rect(0, 0, 100, 50))
	draw.Draw(picture, picture.Rect, image.NewUniform(color.Gray{128}), image.Point{}, draw.Src)
	for _, r := range at {
		draw.Draw(picture, r, image.White, image.Point{}, draw.Src)
	}
	return picture
}

// TestChanged: the changed part of the screenshot counts, without animated parts, and windows that
// open or close.
func TestChanged(t *testing.T) {
	caret, button := image.Rect(90, 0, 91, 10), image.Rect(10, 20, 30, 25)
	window, other := desktop.WindowInfo{ID: 1, PID: 7, Title: "Draw", Frame: desktop.Rect{X: 200, Y: 100, W: 100, H: 50}}, desktop.WindowInfo{ID: 2, PID: 7, Title: "Sure?"}
	foreign := desktop.WindowInfo{ID: 3, PID: 8, Title: "Mail"}
	for name, c := range map[string]struct {
		before, after []*image.RGBA
		windows       []desktop.WindowInfo
		moves         bool
		want          string
	}{
		"nothing":          {[]*image.RGBA{painted()}, []*image.RGBA{painted()}, []desktop.WindowInfo{window, foreign}, false, ""},
		"a button":         {[]*image.RGBA{painted()}, []*image.RGBA{painted(), painted(button)}, []desktop.WindowInfo{window}, false, "its picture, at 210, 120, 20 × 5 (2% of it)"},
		"a caret":          {[]*image.RGBA{painted(), painted(caret), painted(), painted(caret), painted(), painted(caret), painted()}, []*image.RGBA{painted(caret)}, []desktop.WindowInfo{window}, true, ""},
		"beside the caret": {[]*image.RGBA{painted(), painted(caret), painted(), painted(caret), painted(), painted(caret), painted()}, []*image.RGBA{painted(caret, button)}, []desktop.WindowInfo{window}, true, "its picture, at 210, 120, 20 × 5 (2% of it)"},
		"another window":   {[]*image.RGBA{painted()}, []*image.RGBA{painted()}, []desktop.WindowInfo{window, other}, false, `a window "Sure?" opened`},
		"it is gone":       {[]*image.RGBA{painted()}, nil, []desktop.WindowInfo{foreign}, false, `the window "Draw" is gone`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &screen{pictures: c.before, windows: []desktop.WindowInfo{window}}
				judge := screenshot.NewWatcher(s, list{of: s})
				got := judge.Changed(t.Context(), desktop.App{PID: 7})
				assert.Check(t, is.Equal(got, ""), "before it was looked at: %q", got)
				judge.Begin(t.Context(), window)
				assert.Check(t, is.Equal(judge.IsAnimated(), c.moves), "it moves: %v", judge.IsAnimated())
				s.pictures, s.windows = c.after, c.windows
				assert.Check(t, is.Equal(judge.Changed(t.Context(), desktop.App{PID: 7}), c.want))
			})
		})
	}
}

// TestWithin: only the part of the window counts, and its change is told in places of the screen.
func TestWithin(t *testing.T) {
	window := desktop.WindowInfo{ID: 1, PID: 7, Frame: desktop.Rect{X: 200, Y: 100, W: 100, H: 50}}
	for name, c := range map[string]struct {
		after image.Rectangle
		want  string
	}{
		"in the part":  {image.Rect(10, 20, 30, 25), "its picture, at 210, 120, 20 × 5 (10% of it)"},
		"outside":      {image.Rect(10, 35, 30, 40), ""},
		"partly in it": {image.Rect(10, 25, 30, 40), "its picture, at 210, 125, 20 × 5 (10% of it)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &screen{pictures: []*image.RGBA{painted()}, windows: []desktop.WindowInfo{window}}
				judge := screenshot.NewWatcher(s, list{of: s}).Within(desktop.Rect{X: 190, Y: 120, W: 200, H: 10})
				judge.Begin(t.Context(), window)
				s.pictures = []*image.RGBA{painted(c.after)}
				assert.Check(t, is.Equal(judge.Changed(t.Context(), desktop.App{PID: 7}), c.want))
			})
		})
	}
}

// TestBlacken: a hidden layer is black, a layer over it is visible, and one below it only outside
// its area.
func TestBlacken(t *testing.T) {
	picture := painted()
	area := desktop.Rect{X: 1000, Y: 500, W: 100, H: 50}
	secret := desktop.Layer{PID: 1, Frame: desktop.Rect{X: 1020, Y: 490, W: 40, H: 40}}
	above := desktop.Layer{PID: 2, Frame: desktop.Rect{X: 1050, Y: 500, W: 20, H: 50}, OpaqueRegion: []desktop.Rect{{X: 1050, Y: 500, W: 20, H: 50}}}
	asked := 0
	screenshot.Blacken(picture, area, []desktop.Layer{secret, above, {PID: 3, Frame: desktop.Rect{X: 0, Y: 0, W: 10, H: 10}}}, func(l desktop.Layer) bool {
		asked++
		return l.PID == 2
	})
	gray, black := color.RGBA{128, 128, 128, 255}, color.RGBA{A: 255}
	for at, want := range map[image.Point]color.RGBA{{19, 10}: gray, {20, 0}: black, {49, 29}: black, {50, 10}: gray, {69, 10}: gray, {30, 30}: gray} {
		got := picture.RGBAAt(at.X, at.Y)
		assert.Check(t, is.Equal(got, want), "at %v it is %v, want %v", at, got, want)
	}
	assert.Check(t, is.Equal(asked, 2), "%d layers were asked about, of which one is not in the picture", asked)
}

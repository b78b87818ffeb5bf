//go:build linux

package x11

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// screenshot returns the screen according to ImageMagick.
func screenshot(t testing.TB, s *linuxtest.Session) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(tool(t, s, nil, "import", "-window", "root", "png:-")))
	assert.NilError(t, err)
	return picture
}

// differ counts the pixels of an image that differ from those of another, which is shifted
// by the point.
func differ(a *image.RGBA, b image.Image, shift image.Point) (n int) {
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r1, g1, b1, a1 := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x+shift.X, y+shift.Y).RGBA()
			if r1>>8 != r2>>8 || g1>>8 != g2>>8 || b1>>8 != b2>>8 || a1 != 0xffff {
				n++
			}
		}
	}
	return n
}

func testCapture(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	steady(t, s)
	whole, err := d.Capture(soon(t), desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight})
	assert.NilError(t, err)
	want := screenshot(t, s)
	if n := differ(whole, want, image.Point{}); n > 100 { // a caret may blink
		t.Errorf("%d pixels differ from ImageMagick's", n)
	}
	frame := window(t, d, f).Frame
	part, err := d.Capture(soon(t), frame)
	assert.NilError(t, err)
	n := differ(part, want, image.Pt(frame.X, frame.Y))
	assert.Check(t, n <= 100, "%d pixels of a part differ", n)
	edge, err := d.Capture(soon(t), desktop.Rect{X: -10, Y: -20, W: 100, H: 50})
	assert.NilError(t, err)
	assert.Equal(t, edge.Bounds(), image.Rect(0, 0, 100, 50))
	r, g, b, a := edge.At(5, 5).RGBA()
	assert.Check(t, r|g|b == 0, "what is off the screen is not black")
	assert.Check(t, a == 0xffff, "what is off the screen is not black")
	if n := differ(edge.SubImage(image.Rect(10, 20, 100, 50)).(*image.RGBA), edge, image.Point{}); n == 0 {
		t.Log("the screen is of one colour there")
	}
	for _, bad := range []desktop.Rect{{}, {W: -1, H: 5}, {X: 5000, W: 5, H: 5}, {W: 1 << 30, H: 1 << 30}} {
		_, err := d.Capture(soon(t), bad)
		fails(t, err, aai.InvalidParams, aai.NotDelivered)
	}
}

// steady waits until two images of the screen are alike.
func steady(t testing.TB, s *linuxtest.Session) {
	t.Helper()
	last := tool(t, s, nil, "import", "-window", "root", "rgb:-")
	for range 50 {
		next := tool(t, s, nil, "import", "-window", "root", "rgb:-")
		if bytes.Equal(last, next) {
			return
		}
		last = next
	}
}

func testCaptureHung(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) {
	d := open(t, s)
	w := window(t, d, f)
	s.Cover(t, f)
	f.Suspend(t)
	for range 2 { // the first try leaves no buffer with the pixels of the window above
		_, err := d.CaptureWindow(soon(t), w.ID)
		fails(t, err, aai.AutomationFailed, aai.NotDelivered, "has not drawn itself")
	}
	f.Continue(t)
}

// TestCapturePartlyDrawnWindow: a window that draws only a part of its covered area has no picture, at the second try
// neither: it would show the window above.
func TestCapturePartlyDrawnWindow(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	script, err := filepath.Abs("testdata/draw.py")
	assert.NilError(t, err)
	covered := func(title, width string) desktop.WindowID {
		s.Launch(t, "python3", script, title, width)
		below := awaitWindow(t, d, title, func(desktop.WindowInfo) bool { return true })
		s.Launch(t, "xterm", "-T", "over "+title, "-geometry", "200x80+0+0", "-e", "sleep", "infinity")
		awaitWindow(t, d, "over "+title, func(w desktop.WindowInfo) bool { return w.Active })
		for _, name := range []string{title, "over " + title} {
			tool(t, s, nil, "xdotool", "search", "--name", "^"+name+"$", "windowmove", "0", "0")
		}
		awaitWindow(t, d, title, func(w desktop.WindowInfo) bool { return w.Covered > 0.9 })
		return below.ID
	}
	whole := covered("Whole", "400")
	_, err = d.CaptureWindow(soon(t), whole)
	assert.Check(t, err, "a window that draws all: %v", err)
	half := covered("Half", "200")
	for range 2 {
		_, err := d.CaptureWindow(soon(t), half)
		fails(t, err, aai.AutomationFailed, aai.NotDelivered, "has not drawn itself")
	}
}

// awaitWindow waits until a window of the title passes the test.
func awaitWindow(t *testing.T, d *Display, title string, is func(desktop.WindowInfo) bool) desktop.WindowInfo {
	t.Helper()
	for ctx := soon(t); ctx.Err() == nil; {
		windows, err := d.Windows(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range windows {
			if w.Title == title && is(w) {
				return w
			}
		}
	}
	t.Fatalf("no window %q is as expected", title)
	return desktop.WindowInfo{}
}

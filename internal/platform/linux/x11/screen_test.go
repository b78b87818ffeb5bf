//go:build linux

package x11_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// keep writes an image to the folder in LOOK, for people.
func keep(t testing.TB, name string, picture image.Image) {
	t.Helper()
	folder := os.Getenv("LOOK")
	if folder == "" {
		return
	}
	file, err := os.Create(filepath.Join(folder, name+".png"))
	assert.NilError(t, err)
	defer func() { _ = file.Close() }()
	assert.NilError(t, png.Encode(file, picture))
}

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

func TestCapture(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.Qt6)
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

func TestCaptureWindow(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := open(t, s)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f := s.Fixture(t, kind)
			steady(t, s)
			xid := f.Window(t) // before windows come and go: xdotool fails on that
			w := window(t, d, f)
			want := screenshot(t, s)
			cover := s.Cover(t, f)
			began := time.Now()
			covered, err := d.CaptureWindow(soon(t), w.ID)
			assert.NilError(t, err)
			first := time.Since(began)
			keep(t, "covered-"+string(kind), covered)
			began = time.Now()
			again, err := d.CaptureWindow(soon(t), w.ID)
			assert.NilError(t, err)
			t.Logf("first %v, again %v", first, time.Since(began))
			// A focused window looks different, and carets blink: a few pixels.
			n := differ(covered, want, image.Pt(w.Frame.X, w.Frame.Y))
			assert.Check(t, n <= covered.Bounds().Dx()*covered.Bounds().Dy()/10, "%d pixels of %v differ", n, covered.Bounds())
			n = differ(again, covered, image.Point{})
			assert.Check(t, n <= 5000, "the second picture differs in %d pixels", n)
			cover.Kill(t)
			tool(t, s, nil, "xdotool", "windowsize", "--sync", xid, "800", "650")
			steady(t, s)
			resized, err := d.CaptureWindow(soon(t), w.ID)
			assert.NilError(t, err)
			w = window(t, d, f)
			assert.Check(t, is.Equal(resized.Bounds(), image.Rect(0, 0, w.Frame.W, w.Frame.H)), "after resizing it is %v, want %v", resized.Bounds(), w.Frame)
			n = differ(resized, screenshot(t, s), image.Pt(w.Frame.X, w.Frame.Y))
			assert.Check(t, n <= 5000, "after resizing, %d pixels differ", n)
			keep(t, "resized-"+string(kind), resized)
			minimize(t, s, d, w.ID)
			_, err = d.CaptureWindow(soon(t), w.ID)
			fails(t, err, aai.AutomationNotSupported, aai.NotDelivered, "minimized")
			f.Kill(t)
			_, err = d.CaptureWindow(soon(t), w.ID)
			fails(t, err, aai.AutomationFailed, aai.NotDelivered, "not there any more")
		})
	}
}

func TestCaptureHungWindow(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	w := window(t, d, f)
	s.Cover(t, f)
	f.Suspend(t)
	for range 2 { // the first try leaves no buffer with the pixels of the window above
		_, err := d.CaptureWindow(soon(t), w.ID)
		fails(t, err, aai.AutomationFailed, aai.NotDelivered, "has not drawn itself")
	}
	f.Continue(t)
}

func TestMonitors(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	screen := desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight}
	monitors, err := d.Monitors(soon(t))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(monitors, 1))
	assert.Equal(t, monitors[0].Frame, screen)
	assert.Assert(t, monitors[0].Scale == 1, "%+v", monitors)
	assert.Assert(t, monitors[0].Name != "", "%+v", monitors)
	tool(t, s, nil, "xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.hinting:\t1\nXft.dpi:\t144\n")
	monitors, err = d.Monitors(soon(t))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(monitors, 1))
	assert.Equal(t, monitors[0].Scale, 1.5)
}

func TestStoppedServer(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	if _, err := d.Windows(soon(t)); err != nil {
		t.Fatal(err)
	}
	server := screenProcess(t, s)
	pause(t, server)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range 20 {
		_, err := d.Windows(ctx)
		fails(t, err, aai.Timeout, aai.NotDelivered)
	}
	fresh := open(t, s)
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := fresh.Windows(ctx)
	fails(t, err, aai.Timeout, aai.NotDelivered)
	proceed(t, server)
	_, err = d.Windows(soon(t))
	assert.Check(t, err)
	_, err = fresh.Windows(soon(t))
	assert.Check(t, err)
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
func awaitWindow(t *testing.T, d *x11.Display, title string, is func(desktop.WindowInfo) bool) desktop.WindowInfo {
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

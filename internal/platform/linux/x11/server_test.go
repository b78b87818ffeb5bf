//go:build linux

package x11

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// An xvfb is a test's own X server, with an empty screen.
type xvfb struct {
	*linuxtest.App
	session *linuxtest.Session // ends with the server
	display string
}

// serve starts a server. The display has the form ":1"; "" takes a free one.
func serve(t testing.TB, s *linuxtest.Session, display string, args ...string) *xvfb {
	t.Helper()
	args = append([]string{"-displayfd", "1", "-nolisten", "tcp", "-noreset"}, args...)
	if display != "" {
		args = append([]string{display}, args...)
	}
	x := &xvfb{App: s.Launch(t, "Xvfb", args...), session: s}
	t.Cleanup(func() { x.quit(t) })
	for deadline := time.Now().Add(testPatience); x.display == ""; time.Sleep(5 * time.Millisecond) {
		for line := range strings.Lines(x.Output()) {
			if n, err := strconv.Atoi(strings.TrimSuffix(line, "\n")); err == nil && strings.HasSuffix(line, "\n") {
				x.display = ":" + strconv.Itoa(n)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("Xvfb did not start:\n%s", x.Output())
		}
	}
	return x
}

// quit sends SIGTERM, so that the server removes its lock.
func (x *xvfb) quit(t testing.TB) {
	t.Helper()
	_ = syscall.Kill(x.PID, syscall.SIGCONT) // it may have ended before
	_ = syscall.Kill(x.PID, syscall.SIGTERM)
	_ = x.Wait(t)
}

func (x *xvfb) getenv(name string) string {
	if name == "DISPLAY" {
		return x.display
	}
	return x.session.Getenv(name)
}

// open returns a display of the server.
func (x *xvfb) open(t testing.TB) *Display {
	t.Helper()
	d := New(Config{Getenv: x.getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: x.getenv})})
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// terminal opens a window that fills a part of the screen and has the keyboard.
func (x *xvfb) terminal(t testing.TB, d *Display) desktop.WindowInfo {
	t.Helper()
	title := "Terminal " + strconv.Itoa(x.PID)
	x.session.LaunchEnv(t, []string{"DISPLAY=" + x.display}, "xterm", "-T", title, "-b", "0", "-geometry", "60x20+10+10", "-e", "sleep", "infinity")
	for deadline := time.Now().Add(testPatience); time.Now().Before(deadline); {
		windows, err := d.Windows(soon(t))
		assert.NilError(t, err)
		for _, w := range windows {
			if w.Title == title {
				assert.NilError(t, d.Activate(soon(t), w.ID))
				return windowByID(t, d, w.ID)
			}
		}
	}
	t.Fatal("no window has come up")
	return desktop.WindowInfo{}
}

// TestLacks checks that without an extension only the methods that need it fail, with its name.
func TestLacks(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	input := []string{"Click person", "Drag person", "Scroll person", "Type person", "Key person",
		"Click own", "Drag own", "Scroll own", "Type own", "Key own"}
	captures := []string{"Capture", "CaptureWindow"}
	for _, c := range []struct {
		lacking, depth string
		fail           []string
		says           string
	}{
		{"", "24", nil, ""},
		{"", "8", captures, ""}, // only captures of screens with other colours are refused
		{"", "16", captures, ""},
		{"", "30", captures, ""},
		{"XTEST", "24", input, "lacks"},
		{"COMPOSITE", "24", captures[1:], "lacks"},
		{"MIT-SHM", "24", nil, ""},
		{"DAMAGE", "24", nil, ""}, // needed only for a window that is covered
		{"XFIXES", "24", nil, ""},
		{"RANDR", "24", nil, ""},
		{"X-Resource", "24", nil, ""},
		{"MIT-SHM XTEST COMPOSITE DAMAGE RANDR X-Resource SECURITY", "24", append(captures[1:], input...), "lacks"},
	} {
		t.Run(c.lacking+c.depth, func(t *testing.T) {
			var args []string
			for _, name := range strings.Fields(c.lacking) {
				args = append(args, "-extension", name)
			}
			x := serve(t, s, "", append(args, "-screen", "0", "800x600x"+c.depth)...)
			d := x.open(t)
			w := x.terminal(t, d)
			assert.Check(t, w.PID != 0, "the window is %+v", w)
			assert.Check(t, w.Covered == 0, "the window is %+v", w)
			for name, call := range methods(d, w) {
				err := call(soon(t))
				if !slices.Contains(c.fail, name) {
					assert.Check(t, err, name)
					continue
				}
				fails(t, err, aai.AutomationNotSupported, aai.NotDelivered, c.says)
			}
			monitors, err := d.Monitors(soon(t))
			assert.NilError(t, err)
			assert.Assert(t, is.Len(monitors, 1))
			assert.Equal(t, monitors[0].Frame, (desktop.Rect{W: 800, H: 600}))
			assert.Assert(t, monitors[0].Primary, "the monitors are %+v, %v", monitors, err)
			clip, err := d.Get(soon(t))
			assert.NilError(t, err, "%+v", clip)
			assert.Equal(t, clip.Text, "copied", "%+v", clip)
		})
	}
}

// TestFrozen checks that, while the server hangs, all methods end by their deadline with
// an error about the server or the held input lock, and that they work afterwards.
func TestFrozen(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	x := serve(t, s, "", "-screen", "0", "800x600x24")
	used, fresh := x.open(t), x.open(t)
	w := x.terminal(t, used)
	for name, call := range methods(used, w) {
		assert.NilError(t, call(soon(t)), name)
	}
	x.Suspend(t)
	for _, d := range []*Display{used, fresh} {
		for name, call := range methods(d, w) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			err := call(ctx)
			cancel()
			e, ok := errors.AsType[*aai.Error](err)
			assert.Assert(t, ok, "%s %v", name, err)
			assert.Assert(t, e.Code == aai.Timeout || strings.Contains(e.Message, "other calls had"), "%s %v", name, err)
			assert.Assert(t, e.Delivery != aai.Delivered, "%s %v", name, err)
		}
	}
	x.Continue(t)
	for _, d := range []*Display{used, fresh} {
		for name, call := range methods(d, w) {
			assert.Check(t, call(soon(t)), name)
		}
	}
}

// TestRestarted replaces the server by another one at the same display.
func TestRestarted(t *testing.T) {
	s := linuxtest.Start(t)
	own := ":" + strconv.Itoa(1000+os.Getpid()%30_000) // outside the range in which others search for a free one
	x := serve(t, s, own, "-screen", "0", "800x600x24")
	d := x.open(t)
	w := x.terminal(t, d)
	for name, call := range methods(d, w) {
		assert.NilError(t, call(soon(t)), name)
	}
	x.quit(t)
	for name, call := range methods(d, w) {
		err := call(soon(t))
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "without a server %s: %v", name, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %v", name, err)
		assert.Assert(t, e.Hint != "", "without a server %s: %v", name, err)
		// The second time it knows that there is none.
		fails(t, call(soon(t)), aai.AutomationNotSupported, aai.NotDelivered, "cannot be reached")
	}
	again := serve(t, s, own, "-screen", "0", "1000x700x24")
	w = again.terminal(t, d)
	clip, err := d.Get(soon(t))
	assert.NilError(t, err, "%+v", clip)
	assert.Equal(t, clip.Text, "", "%+v", clip)
	for name, call := range methods(d, w) {
		assert.Check(t, call(soon(t)), name)
	}
	picture, err := d.Capture(soon(t), desktop.Rect{W: 1000, H: 700})
	assert.NilError(t, err)
	assert.Equal(t, picture.Bounds().Dx(), 1000)
}

// TestBigScreen uses a screen larger than any memory segment so far.
func TestBigScreen(t *testing.T) {
	s := linuxtest.Start(t)
	x := serve(t, s, "", "-screen", "0", "8192x6000x24", "-extension", "RANDR")
	d := x.open(t)
	if _, err := d.Capture(soon(t), desktop.Rect{X: 8000, Y: 5900, W: 192, H: 100}); err != nil {
		t.Fatal(err)
	}
	picture, err := d.Capture(soon(t), desktop.Rect{W: 8192, H: 6000})
	if err != nil || picture.Bounds().Dx() != 8192 || picture.Bounds().Dy() != 6000 {
		t.Fatalf("%v, %v", picture.Bounds(), err)
	}
	r, g, b, a := picture.At(8191, 5999).RGBA()
	assert.Check(t, r|g|b == 0, "its last pixel is not the black of an empty screen")
	assert.Check(t, a == 0xffff, "its last pixel is not the black of an empty screen")
}

// TestLockedScreen checks that only the cookie opens the screen.
func TestLockedScreen(t *testing.T) {
	s := linuxtest.StartLocked(t)
	if _, err := open(t, s).Windows(soon(t)); err != nil {
		t.Error(err)
	}
	stranger := New(Config{Getenv: func(name string) string {
		if name == "DISPLAY" {
			return s.Display
		}
		return ""
	}})
	_, err := stranger.Windows(soon(t))
	fails(t, err, aai.AutomationNotSupported, aai.NotDelivered, "refused")
}

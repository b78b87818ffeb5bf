//go:build linux

package x11

import (
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// open returns a display of the session's screen.
func open(t testing.TB, s *linuxtest.Session) *Display {
	t.Helper()
	d := New(Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	t.Cleanup(func() {
		assert.Check(t, d.Close())
	})
	return d
}

// soon returns the context of a call that should end soon.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	t.Cleanup(cancel)
	return ctx
}

// tool runs a program that provides a second opinion.
func tool(t testing.TB, s *linuxtest.Session, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(soon(t), name, args...)
	cmd.Env = s.Env
	if stdin != nil {
		cmd.Stdin = strings.NewReader(string(stdin))
	}
	out, err := cmd.Output()
	assert.NilError(t, err, "%s %q", name, args)
	return out
}

// id returns the fixture's window according to xdotool.
func id(t testing.TB, f *linuxtest.Fixture) desktop.WindowID {
	t.Helper()
	n, err := strconv.ParseUint(f.Window(t), 10, 32)
	assert.NilError(t, err)
	return desktop.WindowID(n)
}

// window finds the fixture's window in the list.
func window(t testing.TB, d *Display, f *linuxtest.Fixture) desktop.WindowInfo {
	t.Helper()
	return windowByID(t, d, id(t, f))
}

func windowByID(t testing.TB, d *Display, id desktop.WindowID) desktop.WindowInfo {
	t.Helper()
	windows, err := d.Windows(soon(t))
	assert.NilError(t, err)
	for _, w := range windows {
		if w.ID == id {
			return w
		}
	}
	t.Fatalf("0x%x is not in the list: %+v", uint64(id), windows)
	return desktop.WindowInfo{}
}

// fails checks the error of a call.
func fails(t testing.TB, err error, code aai.Code, delivery aai.Delivery, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "the error is %v, not one for callers", err)
	assert.Check(t, is.Equal(e.Code, code), err)
	assert.Check(t, is.Equal(e.Delivery, delivery), err)
	for _, word := range words {
		assert.Check(t, is.Contains(e.Message, word), "the message does not say %q: %s", word, e.Message)
	}
}

func rect(r linuxtest.Rect) desktop.Rect {
	return desktop.Rect{X: r.X, Y: r.Y, W: r.Width, H: r.Height}
}

// minimize returns when the window manager has done it.
func minimize(t testing.TB, s *linuxtest.Session, d *Display, id desktop.WindowID) {
	t.Helper()
	tool(t, s, nil, "xdotool", "windowminimize", strconv.FormatUint(uint64(id), 10))
	until(soon(t), t, "it to be minimized", func() bool { return windowByID(t, d, id).Minimized })
}

// front activates the fixture's window, and empties its text box, which gets the keyboard.
func front(t testing.TB, s *linuxtest.Session, d *Display, f *linuxtest.Fixture) desktop.WindowID {
	t.Helper()
	w := id(t, f)
	frontWindow(t, s, d, f, w)
	return w
}

// frontWindow is front for a window that may be minimized, of which xdotool does not know the id.
func frontWindow(t testing.TB, s *linuxtest.Session, d *Display, f *linuxtest.Fixture, w desktop.WindowID) {
	t.Helper()
	assert.NilError(t, d.Activate(soon(t), w))
	until(soon(t), t, "the window to be active", func() bool { return s.ActiveWindow(t) == f.Title })
	f.Press(t, "Full name")
	f.WaitState(t, "focused", true)
	for _, c := range []desktop.Chord{{Key: "a", Modifiers: []string{"ctrl"}}, {Key: "Delete"}} {
		assert.NilError(t, d.Key(soon(t), desktop.PersonSeat, w, c))
	}
	f.WaitState(t, "name", "")
}

// TestOneWindow runs tests that share a window: first those that need it alone and new.
func TestOneWindow(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *linuxtest.Session, *linuxtest.Fixture)
	}{
		{"bad input", testBadInput}, {"cancelled drag", testCancelledDrag}, {"keys go back", testKeysGoBack}, {"hung program and locks", testHungLocks},
		{"sign", testSign}, {"stop key", testStopKey}, {"agents and the stop key", testAgentsStopKey}, {"pause for a cover", testPauseForACover},
		{"new layout", testNewLayout}, {"clipboard untouched", testClipboardUntouched}, {"locks given back", testLocksGivenBack},
		{"unread input", testUnreadInput}, {"nowhere", testNowhere}, {"capture", testCapture}, {"layers", testLayers},
		{"covered in part", testCoveredInPart}, {"capture of a hung window", testCaptureHung}, {"shadow", testShadow},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, s, f) })
	}
}

// TestEmptyScreen runs tests that share a screen without windows.
func TestEmptyScreen(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *linuxtest.Session)
	}{
		{"seats end", testSeatsEnd}, {"worn out", testWornOut}, {"reconnects", testReconnects}, {"without shared memory", testWithoutSharedMemory},
		{"a dead gateway", testDeadGateway}, {"one sign", testOneSign},
		{"clipboard from others", testClipboardFromOthers}, {"clipboard to others", testClipboardToOthers}, {"clipboard too big", testClipboardTooBig},
		{"hung owner of the clipboard", testClipboardHungOwner}, {"clip outlives the gateway", testClipOutlivesTheGateway},
		{"clip without a server", testClipWithoutServer}, {"scale", testScale}, {"several monitors", testSeveralMonitors},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, s) })
	}
}

// BenchmarkDisplay measures the list of windows, captures of the screen and of a covered window of 700 by 600 pixels, and a
// typed line, with and without letters that the keyboard lacks.
func BenchmarkDisplay(b *testing.B) {
	s := linuxtest.Start(b)
	d := open(b, s)
	f := s.Fixture(b, linuxtest.GTK3)
	w := front(b, s, d, f)
	measure := func(name string, call func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				assert.NilError(b, call())
			}
		})
	}
	measure("type", func() error { return d.Type(b.Context(), desktop.PersonSeat, w, "the quick brown fox") })
	measure("type borrowed keys", func() error { return d.Type(b.Context(), desktop.PersonSeat, w, "съешь ещё этих") })
	measure("capture", func() error {
		_, err := d.Capture(b.Context(), desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight})
		return err
	})
	s.Cover(b, f)
	measure("capture covered", func() error { _, err := d.CaptureWindow(b.Context(), w); return err })
	for range 4 {
		s.Fixture(b, linuxtest.GTK3)
	}
	measure("windows", func() error { _, err := d.Windows(b.Context()); return err })
}

//go:build linux

package x11_test

import (
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

func TestWindows(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	d := open(t, s)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f := s.Fixture(t, kind)
			w := window(t, d, f)
			assert.Check(t, is.Equal(w.Title, f.Title), "its title is %q, want %q", w.Title, f.Title)
			if kind != linuxtest.Chromium && w.PID != f.PID {
				t.Errorf("its process is %d, want %d", w.PID, f.PID)
			}
			assert.Assert(t, w.Active, "a new window is %+v", w)
			assert.Assert(t, !w.Minimized, "a new window is %+v", w)
			assert.Assert(t, w.Covered == 0, "a new window is %+v", w)
			want := rect(f.WindowRect(t))
			assert.Check(t, is.Equal(w.Frame, want), "its frame is %v, want %v", w.Frame, want)
			assert.Check(t, w.Class != "", "it has no class")
			cover := s.Cover(t, f)
			w = window(t, d, f)
			assert.Assert(t, !w.Active, "covered, it is %+v", w)
			assert.Assert(t, w.Covered == 1, "covered, it is %+v", w)
			seen, err := d.WindowAt(soon(t), w.Frame.Center())
			assert.NilError(t, err, "%+v", seen)
			assert.Equal(t, seen.PID, cover.PID, "%+v", seen)
			assert.Assert(t, seen.Active, "above it is %+v, %v", seen, err)
			assert.Assert(t, seen.Covered == 0, "above it is %+v, %v", seen, err)
			assert.NilError(t, d.Activate(soon(t), w.ID))
			// The window manager reports it a little later.
			await(t, "the window is active after Activate", func() bool { return s.ActiveWindow(t) == f.Title })
			seen, err = d.WindowAt(soon(t), w.Frame.Center())
			assert.NilError(t, err, "%+v", seen)
			assert.Equal(t, seen.ID, w.ID, "%+v", seen)
			windows, err := d.Windows(soon(t))
			assert.NilError(t, err, "%+v", windows)
			assert.Equal(t, windows[0].ID, w.ID, "%+v", windows)
			cover.Kill(t)
			minimize(t, s, d, w.ID)
			w = windowByID(t, d, w.ID)
			assert.Assert(t, w.Minimized, "minimized, it is %+v", w)
			assert.Assert(t, !w.Active, "minimized, it is %+v", w)
			assert.Assert(t, w.Covered == 1, "minimized, it is %+v", w)
			assert.NilError(t, d.Activate(soon(t), w.ID))
			f.Kill(t)
			fails(t, d.Activate(soon(t), w.ID), aai.AutomationFailed, aai.NotDelivered, "not there any more")
		})
	}
}

func TestCoveredInPart(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	term := s.Launch(t, "xterm", "-b", "0", "-e", "sleep", "infinity")
	defer term.Kill(t)
	f.WaitState(t, "focused", false)
	// Half of the fixture's height is covered, as far as the screen goes.
	place := f.WindowRect(t)
	id := strings.TrimSpace(string(tool(t, s, nil, "xdotool", "getactivewindow")))
	tool(t, s, nil, "xdotool", "windowsize", "--sync", id, "1600", "1000")
	tool(t, s, nil, "xdotool", "windowmove", id, "0", strconv.Itoa(place.Y+place.Height/2))
	for w := window(t, d, f); ; w = window(t, d, f) {
		windows, err := d.Windows(soon(t))
		assert.NilError(t, err)
		over := windows[0].Frame.Intersect(w.Frame)
		if over.Empty() || over.H == w.Frame.H {
			continue // the window manager has not moved it yet
		}
		title := w.Frame.Y + w.Frame.H - over.Y - over.H // the frame above the terminal covers too
		least, most := float64(over.H-title)/float64(w.Frame.H), float64(over.H+60)/float64(w.Frame.H)
		assert.Check(t, !(w.Covered < least), "%v of it is covered, want %v to %v", w.Covered, least, most)
		assert.Check(t, !(w.Covered > most), "%v of it is covered, want %v to %v", w.Covered, least, most)
		return
	}
}

func TestAtNowhere(t *testing.T) {
	s := linuxtest.Start(t)
	d := open(t, s)
	_, err := d.WindowAt(soon(t), desktop.Point{X: 5, Y: 5})
	fails(t, err, aai.AutomationFailed, aai.NotDelivered, "no window at 5,5")
	_, err = d.WindowAt(soon(t), desktop.Point{X: 1600, Y: 5})
	fails(t, err, aai.InvalidParams, aai.NotDelivered, "1600 by 1000")
	fails(t, d.Activate(soon(t), 0), aai.InvalidParams, aai.NotDelivered)
	fails(t, d.Activate(soon(t), 0x1fffffff), aai.AutomationFailed, aai.NotDelivered, "not there any more")
}

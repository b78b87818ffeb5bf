//go:build linux

package x11_test

import (
	"strconv"
	"strings"
	"testing"

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
			if w.Title != f.Title {
				t.Errorf("its title is %q, want %q", w.Title, f.Title)
			}
			if kind != linuxtest.Chromium && w.PID != f.PID {
				t.Errorf("its process is %d, want %d", w.PID, f.PID)
			}
			if !w.Active || w.Minimized || w.Covered != 0 {
				t.Errorf("a new window is %+v", w)
			}
			if want := rect(f.WindowRect(t)); w.Frame != want {
				t.Errorf("its frame is %v, want %v", w.Frame, want)
			}
			if w.Class == "" {
				t.Error("it has no class")
			}
			cover := s.Cover(t, f)
			if w = window(t, d, f); w.Active || w.Covered != 1 {
				t.Errorf("covered, it is %+v", w)
			}
			seen, err := d.WindowAt(soon(t), w.Frame.Center())
			if err != nil || seen.PID != cover.PID || !seen.Active || seen.Covered != 0 {
				t.Errorf("above it is %+v, %v", seen, err)
			}
			if err := d.Activate(soon(t), w.ID); err != nil {
				t.Fatal(err)
			}
			// The window manager reports it a little later.
			await(t, "the window is active after Activate", func() bool { return s.ActiveWindow(t) == f.Title })
			if seen, err = d.WindowAt(soon(t), w.Frame.Center()); err != nil || seen.ID != w.ID {
				t.Errorf("at its centre is %+v, %v", seen, err)
			}
			windows, err := d.Windows(soon(t))
			if err != nil || windows[0].ID != w.ID {
				t.Errorf("the front window is not the first: %+v, %v", windows, err)
			}
			cover.Kill(t)
			minimize(t, s, d, w.ID)
			if w = windowByID(t, d, w.ID); !w.Minimized || w.Active || w.Covered != 1 {
				t.Errorf("minimized, it is %+v", w)
			}
			if err := d.Activate(soon(t), w.ID); err != nil {
				t.Fatal(err)
			}
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
		if err != nil {
			t.Fatal(err)
		}
		over := windows[0].Frame.Intersect(w.Frame)
		if over.Empty() || over.H == w.Frame.H {
			continue // the window manager has not moved it yet
		}
		title := w.Frame.Y + w.Frame.H - over.Y - over.H // the frame above the terminal covers too
		least, most := float64(over.H-title)/float64(w.Frame.H), float64(over.H+60)/float64(w.Frame.H)
		if w.Covered < least || w.Covered > most {
			t.Errorf("%v of it is covered, want %v to %v", w.Covered, least, most)
		}
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

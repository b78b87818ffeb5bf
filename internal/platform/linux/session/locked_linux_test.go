package session_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestLockedByLogin1 checks that a screen is locked if login1 says so for a session on it.
func TestLockedByLogin1(t *testing.T) {
	const here = "this screen"
	for name, c := range map[string]struct {
		sessions []login
		want     bool
	}{
		"not locked":      {[]login{{id: "1", kind: "x11", display: here}}, false},
		"locked":          {[]login{{id: "1", kind: "x11", display: here, locked: true}}, true},
		"of Wayland":      {[]login{{id: "1", kind: "wayland", locked: true}}, true},
		"another screen":  {[]login{{id: "1", kind: "x11", display: ":4711", locked: true}, {id: "2", kind: "x11", display: here}}, false},
		"of a terminal":   {[]login{{id: "1", kind: "tty", locked: true}}, false},
		"from afar":       {[]login{{id: "1", kind: "x11", display: here, remote: true, locked: true}}, false},
		"somebody else's": {[]login{{id: "1", kind: "x11", display: here, another: true, locked: true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			screen := w.screen()
			w.env["DISPLAY"], w.env["XAUTHORITY"] = screen.display, screen.cookie
			for i := range c.sessions {
				if c.sessions[i].display == here {
					c.sessions[i].display = screen.display
				}
			}
			w.login1(&login1{sessions: c.sessions})
			assert.Check(t, is.Equal(w.detector().Locked(t.Context()), c.want))
		})
	}
}

// saver is a desktop's service that locks the screen.
type saver struct{ active atomic.Bool }

func (s *saver) GetActive() (bool, *dbus.Error) { return s.active.Load(), nil }

// TestLockedByTheDesktop checks that a screen is locked if the desktop says so on the session bus.
func TestLockedByTheDesktop(t *testing.T) {
	for _, name := range []string{"org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver", "org.mate.ScreenSaver"} {
		w := newWorld(t)
		conn := w.userBus().Connect(t)
		assert.Check(t, !w.detector().Locked(t.Context()), "nobody is there, and it is locked")
		s := &saver{}
		path := map[string]dbus.ObjectPath{
			"org.freedesktop.ScreenSaver": "/ScreenSaver", "org.gnome.ScreenSaver": "/org/gnome/ScreenSaver", "org.mate.ScreenSaver": "/org/mate/ScreenSaver",
		}[name]
		assert.NilError(t, conn.Export(s, path, name))
		own(t, conn, name)
		for _, active := range []bool{false, true} {
			s.active.Store(active)
			assert.Check(t, is.Equal(w.detector().Locked(t.Context()), active), name)
		}
	}
}

// TestLockedUnknown checks that a silent service counts as unlocked after the time limit.
func TestLockedUnknown(t *testing.T) {
	w := newWorld(t)
	w.login1(&login1{hang: make(chan struct{})})
	w.cfg.Patience = 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	assert.Check(t, !w.detector().Locked(ctx), "locked")
}

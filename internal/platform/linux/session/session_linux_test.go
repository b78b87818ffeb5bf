package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestOwnEnvironment checks that a complete own environment is used without other sources.
func TestOwnEnvironment(t *testing.T) {
	w := newWorld(t)
	l := w.login1(&login1{})
	s, bus := w.screen(), w.userBus()
	w.manager(bus, "DISPLAY=:77", "LANG=xx")
	w.env["DISPLAY"], w.env["XAUTHORITY"], w.env["LANG"] = s.display, s.cookie, "de_DE.UTF-8"
	w.env["DBUS_SESSION_BUS_ADDRESS"], w.env["XDG_RUNTIME_DIR"] = bus.Address, w.login()
	r := w.detector()
	has(t, r, map[string]string{
		"DISPLAY": s.display, "XAUTHORITY": s.cookie, "LANG": "de_DE.UTF-8", "HOME": w.folder,
		"DBUS_SESSION_BUS_ADDRESS": bus.Address, "XDG_RUNTIME_DIR": w.login(),
	})
	n := l.questions()
	assert.Check(t, n <= 0, "login1 was asked %d times", n)
	says(t, r, "bus: "+bus.Address, "from the own environment")
	says(t, r, "display: "+s.display, "from the own environment")
}

// TestNothingPassedOn checks that login1, the user manager and the runtime folder provide
// the session if the client passes no variables.
func TestNothingPassedOn(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	w.login1(&login1{own: "1", sessions: []login{{id: "1", kind: "x11", seat: "seat0", display: s.display, desktop: "XFCE", active: true}}})
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie, "LANG=fi_FI.UTF-8", "LC_TIME=C", "XDG_CURRENT_DESKTOP=Xfce")
	r := w.detector()
	has(t, r, map[string]string{
		"DISPLAY": s.display, "XAUTHORITY": s.cookie, "LANG": "fi_FI.UTF-8", "LC_TIME": "C", "LC_ALL": "",
		"DBUS_SESSION_BUS_ADDRESS": w.userBusAddress(), "XDG_RUNTIME_DIR": w.login(),
		"XDG_SESSION_TYPE": "x11", "XDG_CURRENT_DESKTOP": "Xfce", "WAYLAND_DISPLAY": "",
	})
	says(t, r, "display: "+s.display, "from login1's session 1")
	says(t, r, "cookie: ", "from the user manager")
	says(t, r, "bus: ", "from "+w.login())
	says(t, r, "session 1, x11, seat0, active")
}

// TestBusInTheOwnFolder checks that the bus in XDG_RUNTIME_DIR counts as the own environment's.
func TestBusInTheOwnFolder(t *testing.T) {
	w := newWorld(t)
	w.userBus()
	w.env["XDG_RUNTIME_DIR"] = w.login()
	w.cfg.RunUser = w.folder + "/nowhere"
	r := w.detector()
	has(t, r, map[string]string{"DBUS_SESSION_BUS_ADDRESS": w.userBusAddress()})
	says(t, r, "bus: ", "from the own environment, XDG_RUNTIME_DIR")
}

// TestNothingThere checks that without a session the report gives advice.
func TestNothingThere(t *testing.T) {
	r := newWorld(t).detector()
	has(t, r, map[string]string{"DISPLAY": "", "XAUTHORITY": "", "DBUS_SESSION_BUS_ADDRESS": "", "LANG": ""})
	says(t, r, "bus: none; log in")
	says(t, r, "display: none; log in")
	says(t, r, "session: login1 does not say")
}

// TestEnviron checks the environment for programs: the own one with the session variables.
func TestEnviron(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie, "SECRET=1")
	w.env["DISPLAY"] = ":32000" // no server is there
	got := w.detector().Environ([]string{"A=b", "DISPLAY=:32000", "XAUTHORITY=/stale", "HOME=/h"})
	want := []string{"A=b", "HOME=/h", "DBUS_SESSION_BUS_ADDRESS=" + w.userBusAddress(), "DISPLAY=" + s.display, "XAUTHORITY=" + s.cookie, "XDG_RUNTIME_DIR=" + w.login()}
	assert.Check(t, slices.Equal(got, want), "%q %q", got, want)
}

// TestRedetection checks that the session after a log-out and log-in is found.
func TestRedetection(t *testing.T) {
	w := newWorld(t)
	bus := w.userBus()
	r := w.detector()
	has(t, r, map[string]string{"DBUS_SESSION_BUS_ADDRESS": w.userBusAddress()})
	bus.Stop()
	assert.NilError(t, os.Remove(filepath.Join(w.login(), "bus")))
	has(t, r, map[string]string{"DBUS_SESSION_BUS_ADDRESS": "", "DISPLAY": ""})
	bus = w.userBus()
	s := w.screen()
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie)
	has(t, r, map[string]string{"DBUS_SESSION_BUS_ADDRESS": w.userBusAddress(), "DISPLAY": s.display})
}

// TestAnotherInItsPlace checks that another socket in the same place is checked again.
func TestAnotherInItsPlace(t *testing.T) {
	w := newWorld(t)
	w.userBus()
	r := w.detector()
	has(t, r, map[string]string{"DBUS_SESSION_BUS_ADDRESS": w.userBusAddress()})
	place := filepath.Join(w.login(), "bus")
	assert.NilError(t, errors.Join(os.Remove(place), os.Link(w.foreignBus(), place)))
	has(t, r, map[string]string{"DBUS_SESSION_BUS_ADDRESS": ""})
}

// TestSharedByAll checks that concurrent callers share one lookup.
func TestSharedByAll(t *testing.T) {
	w := newWorld(t)
	s := w.screen()
	w.cfg.RetryAfter = 0 // the default
	l := w.login1(&login1{own: "1", sessions: []login{{id: "1", kind: "x11", display: s.display}}})
	w.env["XAUTHORITY"] = s.cookie
	r := w.detector()
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			assert.Check(t, is.Equal(r.Getenv("DISPLAY"), s.display))
			_ = r.Getenv("DBUS_SESSION_BUS_ADDRESS")
			_ = r.Getenv("LANG")
		})
	}
	group.Wait()
	n := l.questions()
	assert.Check(t, is.Equal(n, 1), "login1 was asked %d times", n)
}

// TestLogin1Hangs checks that a hung login1 is waited for once, and does not hide other sources.
func TestLogin1Hangs(t *testing.T) {
	w := newWorld(t)
	s, bus := w.screen(), w.userBus()
	l := w.login1(&login1{hang: make(chan struct{})})
	w.manager(bus, "DISPLAY="+s.display, "XAUTHORITY="+s.cookie)
	w.cfg.Patience = 300 * time.Millisecond
	r := w.detector()
	has(t, r, map[string]string{"DISPLAY": s.display, "DBUS_SESSION_BUS_ADDRESS": w.userBusAddress(), "LANG": ""})
	has(t, r, map[string]string{"LANG": "", "LC_ALL": ""})
	n := l.questions()
	assert.Check(t, is.Equal(n, 1), "login1 was asked %d times", n)
	says(t, r, "login1 does not say")
}

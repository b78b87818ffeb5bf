package wayland_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A session is a headless session of a compositor, with the gateway's connection to it.
type session struct {
	*linuxtest.Session
	*wayland.Display
	lock *inputlock.Lock
}

// newSession starts the chosen compositor; GNOME Shell with the gateway's extension. env are further variables of the
// session.
func newSession(t testing.TB, env ...string) *session {
	t.Helper()
	return newSessionWith(t, linuxtest.WaylandSetup{Env: env})
}

// newSessionWith is newSession with changes.
func newSessionWith(t testing.TB, setup linuxtest.WaylandSetup) *session {
	t.Helper()
	if linuxtest.ChosenCompositor() == linuxtest.GNOMEShell {
		before := setup.Prepare
		setup.Prepare = func(s *linuxtest.Session) {
			if before != nil {
				before(s)
			}
			installExtension(t, s)
		}
	}
	s := &session{Session: linuxtest.StartWaylandWith(t, linuxtest.ChosenCompositor(), setup)}
	if linuxtest.ChosenCompositor() == linuxtest.GNOMEShell {
		enableExtension(t, s.Session)
	}
	s.lock = inputlock.New(inputlock.Config{Folder: func() (string, error) { return s.Path("locks"), os.MkdirAll(s.Path("locks"), 0o700) }, Getenv: s.Getenv})
	s.Display = wayland.New(wayland.Config{Getenv: s.Getenv, InputLock: s.lock})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// read returns a file of the session's home folder; "" while there is none.
func (s *session) read(name string) string {
	content, _ := os.ReadFile(filepath.Join(s.Home, name))
	return string(content)
}

// show starts a program and returns its window, once it is the active one.
func (s *session) show(t testing.TB, name string, args ...string) (w desktop.WindowInfo) {
	t.Helper()
	app := s.Launch(t, name, args...)
	until(t, func() bool {
		windows, err := s.Windows(t.Context())
		assert.NilError(t, err)
		for _, w = range windows {
			if w.PID != app.PID {
				continue
			}
			if w.Active {
				return true
			}
			if linuxtest.ChosenCompositor() == linuxtest.GNOMEShell { // it gives new windows no focus
				_ = s.Activate(t.Context(), w.ID)
			}
		}
		return false
	})
	return w
}

// output runs a command to its end.
func (s *session) output(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	cmd.Env, cmd.Dir = s.Env, s.Home
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s %s", name, out)
	return string(out)
}

// until waits for a condition.
func until(t testing.TB, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to be")
		}
	}
}

// installExtension installs the gateway's extension of GNOME Shell.
func installExtension(t testing.TB, s *linuxtest.Session) {
	t.Helper()
	x, err := wayland.NewExtension(filepath.Join(s.Home, ".local", "share"))
	if err == nil {
		err = x.Install()
	}
	assert.NilError(t, err)
}

// enableExtension switches the extension on, as "gnome-extensions enable" does.
func enableExtension(t testing.TB, s *linuxtest.Session) {
	t.Helper()
	conn, err := dbus.Connect(s.Address)
	assert.NilError(t, err)
	defer func() { _ = conn.Close() }()
	shell := conn.Object("org.gnome.Shell.Extensions", "/org/gnome/Shell/Extensions")
	until(t, func() bool {
		var on, owned bool
		err := shell.Call("org.gnome.Shell.Extensions.EnableExtension", 0, wayland.ExtensionID).Store(&on)
		_ = conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.aai.gateway.Windows").Store(&owned)
		return err == nil && owned
	})
}

package wayland_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
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

// listsWindows reports whether a compositor has an interface with the places of windows.
func listsWindows(c linuxtest.Compositor) bool {
	return c == linuxtest.Sway || c == linuxtest.KWin || c == linuxtest.GNOMEShell
}

// refusesWindows checks that a compositor without a list of windows is reported as such, and returns whether it is one.
func (s *session) refusesWindows(t *testing.T) bool {
	t.Helper()
	if listsWindows(linuxtest.ChosenCompositor()) {
		return false
	}
	_, err := s.Windows(t.Context())
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "the list of windows: %v", err)
	assert.Equal(t, e.Code, aai.AutomationNotSupported, err)
	assert.Assert(t, e.Hint != "", "the list of windows: %v", err)
	return true
}

// window returns the first listed window with a title that fits.
func (s *session) window(t *testing.T, title string, fits func(desktop.WindowInfo) bool) desktop.WindowInfo {
	t.Helper()
	return s.windowThat(t, func(w desktop.WindowInfo) bool { return w.Title == title && fits(w) })
}

// windowThat waits for a window that fits.
func (s *session) windowThat(t *testing.T, fits func(desktop.WindowInfo) bool) (found desktop.WindowInfo) {
	t.Helper()
	until(t, func() bool {
		windows, err := s.Windows(t.Context())
		assert.NilError(t, err)
		i := slices.IndexFunc(windows, fits)
		if i >= 0 {
			found = windows[i]
		}
		return i >= 0
	})
	return found
}

func isActive(w desktop.WindowInfo) bool { return w.Active }

func isThere(desktop.WindowInfo) bool { return true }

// TestWaylandWindows: the list says process, title, order and focus, and the requests have their effects.
func TestWaylandWindows(t *testing.T) {
	s := newSession(t)
	if !listsWindows(linuxtest.ChosenCompositor()) {
		_, err := s.Windows(t.Context())
		assert.Check(t, is.Equal(aai.AsError(err).Code, aai.AutomationNotSupported), "the list without places: %v", err)
		return
	}
	gtk, qt := s.Fixture(t, linuxtest.GTK4), s.Fixture(t, linuxtest.Qt6)
	first, second := s.window(t, gtk.Title, isThere), s.window(t, qt.Title, isThere)
	assert.Check(t, is.Equal(first.PID, gtk.PID), "%q has the process %d, listed is %d", gtk.Title, gtk.PID, first.PID)
	assert.NilError(t, s.Activate(t.Context(), first.ID))
	first = s.window(t, gtk.Title, isActive)
	if linuxtest.ChosenCompositor() == linuxtest.KWin { // the seats of the others have no keyboard without devices
		gtk.WaitState(t, "focused", true)
	}
	at := desktop.Point{X: first.Frame.X + first.Frame.W/2, Y: first.Frame.Y + first.Frame.H/2}
	over, err := s.WindowAt(t.Context(), at)
	assert.NilError(t, err, "%+v", over)
	assert.Equal(t, over.ID, first.ID, "%+v", over)
	assert.Check(t, second.ID != first.ID, "both windows have one number")
	s.minimize(t, qt.Title, second.ID)
	assert.NilError(t, s.Manage(t.Context(), second.ID, desktop.Close))
	until(t, func() bool {
		windows, err := s.Windows(t.Context())
		return err == nil && !slices.ContainsFunc(windows, func(w desktop.WindowInfo) bool { return w.ID == second.ID })
	})
	assert.Check(t, s.Activate(t.Context(), second.ID) != nil, "a closed window came to the front")
}

// minimize minimizes a window and restores it, where the compositor can.
func (s *session) minimize(t *testing.T, title string, id desktop.WindowID) {
	t.Helper()
	err := s.Manage(t.Context(), id, desktop.Minimize)
	if linuxtest.ChosenCompositor() == linuxtest.Sway {
		assert.Check(t, is.Equal(aai.AsError(err).Code, aai.AutomationNotSupported), "sway minimizes: %v", err)
		return
	}
	assert.NilError(t, err)
	s.window(t, title, func(w desktop.WindowInfo) bool { return w.Minimized && w.Covered == 1 })
	assert.NilError(t, s.Manage(t.Context(), id, desktop.Restore))
	s.window(t, title, func(w desktop.WindowInfo) bool { return !w.Minimized })
}

// element returns the named element of a fixture, once it has a place on the screen.
func (s *session) element(t *testing.T, tree *atspi.Bus, f *linuxtest.Fixture, name string) (found desktop.Element) {
	t.Helper()
	until(t, func() bool {
		apps, err := tree.Apps(t.Context())
		assert.NilError(t, err)
		i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == f.PID })
		if i < 0 {
			return false
		}
		snapshot, err := tree.Snapshot(t.Context(), apps[i])
		assert.NilError(t, err)
		i = slices.IndexFunc(snapshot.Elements, func(e desktop.Element) bool { return e.Name == name && !e.Frame.Empty() })
		if i >= 0 {
			found = snapshot.Elements[i]
		}
		return i >= 0
	})
	return found
}

// newTree connects to the accessibility bus of the session.
func (s *session) newTree(t *testing.T) *atspi.Bus {
	t.Helper()
	tree := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: s.Display, HasRelativeFrames: wayland.NewSession(s.Display, nil).HasRelativeFrames})
	t.Cleanup(tree.Close)
	return tree
}

// canvas returns the place of the fixture's canvas: of a button by accessibility, and from there by the fixture, since
// GTK 4.18 does not report a drawing area.
func (s *session) canvas(t *testing.T, tree *atspi.Bus, f *linuxtest.Fixture) desktop.Rect {
	t.Helper()
	press := s.element(t, tree, f, "Press").Frame.Center() // GTK 4.8 reports the button without its padding
	place := func(name string) desktop.Rect {
		var n [4]int
		for i, number := range f.State(t)["where"].(map[string]any)[name].([]any) {
			n[i] = int(number.(float64))
		}
		return desktop.Rect{X: n[0], Y: n[1], W: n[2], H: n[3]}
	}
	button, canvas := place("Press").Center(), place("Canvas")
	canvas.X, canvas.Y = canvas.X+press.X-button.X, canvas.Y+press.Y-button.Y
	return canvas
}

// clickedAt clicks the middle of the fixture's canvas and returns the distance from the place that the fixture noticed.
func (s *session) clickedAt(t *testing.T, tree *atspi.Bus, f *linuxtest.Fixture) (dx, dy int) {
	t.Helper()
	w := s.window(t, f.Title, isThere)
	assert.NilError(t, s.Activate(t.Context(), w.ID))
	s.window(t, f.Title, isActive)
	canvas := s.canvas(t, tree, f)
	before := len(f.State(t)["clicks"].([]any))
	assert.NilError(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, canvas.Center(), desktop.LeftButton, 1))
	var click map[string]any
	f.WaitFor(t, "the canvas was clicked", func(state map[string]any) bool {
		clicks := state["clicks"].([]any)
		if len(clicks) > before {
			click = clicks[before].(map[string]any)
		}
		return click != nil
	})
	t.Logf("%s: canvas %+v, click %v", f.Kind, canvas, click)
	return int(click["x"].(float64)) - canvas.W/2, int(click["y"].(float64)) - canvas.H/2
}

// TestWaylandPlaces: a click at the place that accessibility and the compositor say together arrives there, whatever
// shadow or decoration the toolkit draws.
func TestWaylandPlaces(t *testing.T) {
	if !listsWindows(linuxtest.ChosenCompositor()) {
		return // TestWaylandWindows judges these
	}
	s := newSession(t)
	tree := s.newTree(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK4, linuxtest.Qt6, linuxtest.GTK3} {
		dx, dy := s.clickedAt(t, tree, s.Fixture(t, kind))
		assert.Check(t, max(dx, -dx, dy, -dy) <= 1, "a click into %s arrived %d,%d pixels away", kind, dx, dy)
	}
}

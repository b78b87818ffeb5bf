//go:build linux

package atspi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A world is a private desktop with a Bus on it.
type world struct {
	*linuxtest.Session
	bus     *atspi.Bus
	windows desktop.Windows
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{Session: linuxtest.StartAccessible(t)}
	screen := x11.New(x11.Config{Getenv: w.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: w.Getenv})})
	t.Cleanup(func() { _ = screen.Close() })
	w.windows = screen
	w.bus = atspi.New(atspi.Config{Getenv: w.Getenv, Windows: w.windows})
	t.Cleanup(w.bus.Close)
	return w
}

// fixture opens a fixture and returns its app.
func (w *world) fixture(t testing.TB, kind linuxtest.Kind) (*linuxtest.Fixture, desktop.App) {
	t.Helper()
	f := w.Fixture(t, kind)
	return f, w.app(t, f.App)
}

// app returns the app of a launched program, once it has a tree.
func (w *world) app(t testing.TB, a *linuxtest.App) desktop.App {
	t.Helper()
	var found desktop.App
	eventually(t, "the app shows itself", func() bool {
		apps, err := w.bus.Apps(t.Context())
		assert.NilError(t, err)
		for _, app := range apps {
			if (app.PID == a.PID || parentOf(app.PID) == a.PID) && app.HiddenReason == "" {
				found = app
				return true
			}
		}
		return false
	})
	return found
}

func (w *world) snapshot(t testing.TB, app desktop.App) *desktop.Snapshot {
	t.Helper()
	s, err := w.bus.Snapshot(t.Context(), app)
	assert.NilError(t, err, app.Name)
	return s
}

// find returns the one showing element with the role and the name.
func find(t testing.TB, s *desktop.Snapshot, role desktop.Role, name string) desktop.Element {
	t.Helper()
	found := matches(s, role, name)
	if len(found) != 1 {
		t.Fatalf("%d elements that show are a %s %q in\n%s", len(found), role, name, outline(s))
	}
	return found[0]
}

func matches(s *desktop.Snapshot, role desktop.Role, name string) (found []desktop.Element) {
	for i, e := range s.Elements {
		if e.Role == role && e.Name == name && s.IsVisible(i) {
			found = append(found, e)
		}
	}
	return found
}

// await takes snapshots until ready returns true for one.
func (w *world) await(t testing.TB, app desktop.App, what string, ready func(*desktop.Snapshot) bool) *desktop.Snapshot {
	t.Helper()
	var s *desktop.Snapshot
	if !within(patience, func() bool {
		s = w.snapshot(t, app)
		return ready(s)
	}) {
		t.Fatalf("after %s it is still not so: %s\n%s", patience, what, outline(s))
	}
	return s
}

// shows waits for an element.
func (w *world) shows(t testing.TB, app desktop.App, role desktop.Role, name string) desktop.Element {
	t.Helper()
	s := w.await(t, app, fmt.Sprintf("a %s %q shows", role, name), func(s *desktop.Snapshot) bool { return len(matches(s, role, name)) > 0 })
	return matches(s, role, name)[0]
}

func (w *world) perform(t testing.TB, app desktop.App, e desktop.Element, act desktop.Act) {
	t.Helper()
	assert.NilError(t, w.bus.Execute(t.Context(), app, e.ID, act), "%s %s %q", act.Verb, e.Role, e.Name)
}

// outline formats a snapshot.
func outline(s *desktop.Snapshot) string {
	var b strings.Builder
	depth := map[int]int{-1: -1}
	for i, e := range s.Elements {
		depth[i] = depth[e.Parent] + 1
		if s.IsVisible(i) {
			fmt.Fprintf(&b, "%s%s %q =%q %v %v %v %d/%d\n", strings.Repeat("  ", depth[i]), e.Role, e.Name, e.Value, e.States.Words(), e.Frame, e.Actions, e.Pos, e.Size)
		}
	}
	return b.String()
}

// patience is the time limit for expected events. It expires only on failure.
const patience = 2 * time.Minute

func eventually(t testing.TB, what string, ready func() bool) {
	t.Helper()
	assert.Assert(t, within(patience, ready), "after %s it is still not so: %s", patience, what)
}

func within(limit time.Duration, ready func() bool) bool {
	deadline := time.Now().Add(limit)
	for !ready() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// code returns the code of an *aai.Error, and its delivery.
func code(err error) (aai.Code, aai.Delivery) {
	if err == nil {
		return "", ""
	}
	e := aai.AsError(err)
	return e.Code, e.Delivery
}

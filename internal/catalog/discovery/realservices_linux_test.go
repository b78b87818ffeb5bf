package discovery_test

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// said returns the output of a program in the session.
func said(t *testing.T, s *linuxtest.Session, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(slices.Clone(s.Env), "DBUS_SESSION_BUS_ADDRESS="+s.Address)
	out, err := c.CombinedOutput()
	assert.NilError(t, err, "%s %q %s", name, args, out)
	return string(out)
}

// list returns names on the bus by busctl: running ones, or those that can be started.
func list(t *testing.T, s *linuxtest.Session, option string) []string {
	t.Helper()
	var names []string
	for line := range strings.Lines(said(t, s, "busctl", "--address="+s.Address, "--no-pager", "--no-legend", option, "list")) {
		if fields := strings.Fields(line); len(fields) > 1 && !strings.HasPrefix(fields[0], ":") && (option == "--acquired") == (fields[1] != "-") {
			names = append(names, fields[0])
		}
	}
	return names
}

// await waits until the names are on the bus; a trailing dash marks a prefix.
func await(t *testing.T, s *linuxtest.Session, names ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		there := list(t, s, "--acquired")
		missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.ContainsFunc(there, func(n string) bool { return n == name || strings.HasSuffix(name, "-") && strings.HasPrefix(n, name) })
		})
		if len(missing) == 0 {
			return
		}
		assert.NilError(t, aai.Sleep(ctx, 100*time.Millisecond), "%q did not come; there are %q", missing, there)
	}
}

// awaitWindow waits until the program with that name prefix has the object.
func awaitWindow(t *testing.T, s *linuxtest.Session, begins, path string) {
	t.Helper()
	running := list(t, s, "--acquired")
	name := running[slices.IndexFunc(running, func(n string) bool { return strings.HasPrefix(n, begins) })]
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		c := exec.CommandContext(ctx, "busctl", "--address="+s.Address, "--no-pager", "introspect", name, path, "org.kde.KMainWindow")
		if out, err := c.Output(); err == nil && strings.Contains(string(out), "activateAction") {
			return
		}
		assert.NilError(t, aai.Sleep(ctx, 100*time.Millisecond), "%s of %s did not come", path, name)
	}
}

// TestRealPrograms compares real programs of four toolkits on a real session bus with the output
// of busctl and gdbus.
func TestRealPrograms(t *testing.T) {
	s := linuxtest.Start(t)
	s.Launch(t, "gnome-text-editor")
	mousepad := s.Launch(t, "mousepad")
	s.Launch(t, "kate")
	s.Launch(t, "mpv", "--no-config", "--idle=yes", "--vo=null", "--ao=null", "--script=/usr/lib/mpv-mpris/mpris.so")
	await(t, s, "org.gnome.TextEditor", "org.xfce.mousepad", "org.kde.kate-", "org.mpris.MediaPlayer2.mpv")
	awaitWindow(t, s, "org.kde.kate-", "/kate/MainWindow_1")
	running, startable := list(t, s, "--acquired"), list(t, s, "--activatable")
	never := func(service, _ string) bool { return service == "org.freedesktop.secrets" }
	entries := []string{"/usr/share/applications"}
	report := look(t, discovery.ScannerConfig{
		SessionBus: at(s.Address), EntryFolders: entries, NeverCalled: never, CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout,
		Apps: func(context.Context) []discovery.DescribedApp {
			return []discovery.DescribedApp{{ID: "editor", Services: []string{"org.gnome.TextEditor"}}}
		},
	})

	running = append(running, list(t, s, "--acquired")...) // programs keep starting others
	for _, app := range apps(report, discovery.StateRunning) {
		assert.Check(t, is.Contains(running, app), "%s runs, by our word alone; busctl knows %q", app, running)
	}
	for _, name := range []string{"org.gnome.TextEditor", "org.xfce.mousepad", "org.mpris.MediaPlayer2.mpv"} {
		assert.Check(t, is.Contains(apps(report, discovery.StateRunning), name), "no way into %s", name)
	}
	for _, name := range startable {
		assert.Check(t, slices.Contains(running, name) || slices.Contains(apps(report, discovery.StateStartable), name), "no way into %s, which the bus could start", name)
	}
	find(t, report, "mpris", "org.mpris.MediaPlayer2.mpv")
	if w := find(t, report, "gtk-actions", "org.gnome.TextEditor"); w.CoveredBy != "editor" {
		t.Errorf("the editor is covered by %q", w.CoveredBy)
	}
	kate := slices.IndexFunc(report.Integrations, func(w discovery.Integration) bool { return w.ID == "kde org.kde.kate" })
	if kate < 0 || !strings.Contains(report.Integrations[kate].HowTo, "org.kde.KMainWindow.activateAction at /kate/MainWindow_1") {
		t.Errorf("no way into Kate's windows: %+v", report.Integrations)
	}
	// Every action that gdbus reports may be among the counted ones.
	actions := said(t, s, "gdbus", "call", "--session", "--dest", "org.xfce.mousepad", "--object-path", "/org/xfce/mousepad", "--method", "org.gtk.Actions.List")
	quit := regexp.MustCompile(`'quit'`).MatchString(actions)
	w := find(t, report, "gtk-actions", "org.xfce.mousepad")
	assert.Assert(t, quit, "mousepad: %+v; gdbus: %s", w, actions)
	assert.Assert(t, is.Contains(w.Benefit, " actions, such as "), "%+v %s", w, actions)
	assert.Assert(t, is.Contains(w.Locations, "/org/xfce/mousepad org.gtk.Actions"), "%+v %s", w, actions)

	mousepad.Suspend(t)
	report = look(t, discovery.ScannerConfig{SessionBus: at(s.Address), EntryFolders: entries})
	if !slices.Contains(report.Unresponsive, "org.xfce.mousepad") || slices.Contains(apps(report, discovery.StateRunning), "org.xfce.mousepad") {
		t.Errorf("a frozen one is not named: %q", report.Unresponsive)
	}
	mousepad.Continue(t)
}

package introspect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

// TestNothingIsStartedUnasked checks that the bus starts a program only if the request allows it.
func TestNothingIsStartedUnasked(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "started")
	program := filepath.Join(t.TempDir(), "program")
	assert.NilError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+mark+"\nexit 1\n"), 0o700))
	w.bus.AddService(t, "org.example.Sleeper", program)
	_, err := w.Draft(t.Context(), introspect.Request{App: "org.example.Sleeper"})
	e := aai.AsError(err)
	assert.Check(t, is.Equal(e.Code, aai.AppNotRunning), "%+v", e)
	assert.Check(t, is.Contains(e.Hint, "--start"), "%+v", e)
	_, err = os.Stat(mark)
	assert.Check(t, err != nil, "it was started")
	_, err = w.Draft(t.Context(), introspect.Request{App: "org.example.Sleeper", Start: true})
	assert.Check(t, err != nil, "a program that has no service was described")
	_, err = os.Stat(mark)
	assert.Check(t, err, "it was not started when it was to be")
}

// TestWhatEndsIsNotStarted checks that a program that exits during generation or a check is not
// restarted by the bus, unless the request allows it.
func TestWhatEndsIsNotStarted(t *testing.T) {
	for _, start := range []bool{false, true} {
		w := newWorld(t)
		mark, program := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "program")
		assert.NilError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+mark+"\nexit 1\n"), 0o700))
		w.bus.AddService(t, "org.example.Gone", program)
		gone := w.bus.Connect(t)
		w.export(gone, "/org/example/Gone", "org.freedesktop.DBus.Introspectable", map[string]any{"Introspect": func() (string, *godbus.Error) {
			_, err := gone.ReleaseName("org.example.Gone")
			assert.Check(t, err)
			return `<node><interface name="org.example.Gone"><property name="Age" type="u" access="read"/></interface></node>`, nil
		}})
		w.own(gone, "org.example.Gone")
		_, err := w.Draft(t.Context(), introspect.Request{App: "org.example.Gone", Start: start})
		e := aai.AsError(err)
		assert.Assert(t, err != nil, "start %v: %+v", start, e)
		assert.Assert(t, start || e.Code == aai.AppNotRunning, "start %v: %+v", start, e)
		_, err = os.Stat(mark)
		assert.Check(t, is.Equal((err == nil), start), "start %v: started: %v", start, err == nil)
	}
}

// TestADraftSaysWhatItStarts checks a program with a desktop entry: acting tools state that they
// start it, and by which command; reading tools start nothing, and neither do those of a program
// that the bus can start.
func TestADraftSaysWhatItStarts(t *testing.T) {
	w := newWorld(t)
	text := `<node><interface name="org.example.Late"><method name="Play"/><method name="GetTitle"><arg type="s" direction="out"/></method></interface></node>`
	for _, name := range []string{"org.example.Late", "org.example.Sleeper"} {
		w.introspected(name, map[string]string{"/" + strings.ReplaceAll(name, ".", "/"): text})
		entry := "[Desktop Entry]\nType=Application\nName=" + name + "\nExec=late\n"
		assert.NilError(t, os.WriteFile(filepath.Join(w.entries, name+".desktop"), []byte(entry), 0o600))
	}
	w.bus.AddService(t, "org.example.Sleeper", "/bin/false")
	for name, starts := range map[string]bool{"org.example.Late": true, "org.example.Sleeper": false} {
		d, err := catalog.Parse(w.draft(introspect.Request{App: name}).Text, catalog.Options{
			HostPlatform: "linux", Drivers: map[string]aai.Driver{"linux/dbus": w.driver}, EntryCommand: func(id string) string { return "/usr/bin/" + id },
		})
		assert.NilError(t, err)
		play, title := d.App.Tool("play"), d.App.Tool("get_title")
		assert.Check(t, is.Equal(play.Assessment(nil).MayStartProgram, starts), "%s %q", name, play.Implementation.Summary)
		assert.Check(t, is.Equal(strings.HasPrefix(play.Implementation.Summary, "starts /usr/bin/"+name+" if it does not run"), starts), "%s %q", name, play.Implementation.Summary)
		assert.Equal(t, title.Effect, aai.Reads, "%s %+v", name, title)
		assert.Assert(t, !title.Assessment(nil).MayStartProgram, "%s: title %+v", name, title)
		assert.Assert(t, !strings.Contains(title.Implementation.Summary, "starts"), "%s: title %+v", name, title)
	}
}

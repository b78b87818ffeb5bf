package introspect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

// TestNothingIsStartedUnasked checks that the bus starts a program only if the request allows it.
func TestNothingIsStartedUnasked(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(t.TempDir(), "started")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+mark+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.bus.AddService(t, "org.example.Sleeper", program)
	_, err := w.Draft(t.Context(), introspect.Request{App: "org.example.Sleeper"})
	if e := aai.AsError(err); e.Code != aai.AppNotRunning || !strings.Contains(e.Hint, "--start") {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was started")
	}
	if _, err := w.Draft(t.Context(), introspect.Request{App: "org.example.Sleeper", Start: true}); err == nil {
		t.Error("a program that has no service was described")
	}
	if _, err := os.Stat(mark); err != nil {
		t.Error("it was not started when it was to be")
	}
}

// TestWhatEndsIsNotStarted checks that a program that exits during generation or a check is not
// restarted by the bus, unless the request allows it.
func TestWhatEndsIsNotStarted(t *testing.T) {
	for _, start := range []bool{false, true} {
		w := newWorld(t)
		mark, program := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+mark+"\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.bus.AddService(t, "org.example.Gone", program)
		gone := w.bus.Connect(t)
		w.export(gone, "/org/example/Gone", "org.freedesktop.DBus.Introspectable", map[string]any{"Introspect": func() (string, *godbus.Error) {
			if _, err := gone.ReleaseName("org.example.Gone"); err != nil {
				t.Error(err)
			}
			return `<node><interface name="org.example.Gone"><property name="Age" type="u" access="read"/></interface></node>`, nil
		}})
		w.own(gone, "org.example.Gone")
		_, err := w.Draft(t.Context(), introspect.Request{App: "org.example.Gone", Start: start})
		if e := aai.AsError(err); err == nil || !start && e.Code != aai.AppNotRunning {
			t.Errorf("start %v: %+v", start, e)
		}
		if _, err := os.Stat(mark); (err == nil) != start {
			t.Errorf("start %v: started: %v", start, err == nil)
		}
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
		if err := os.WriteFile(filepath.Join(w.entries, name+".desktop"), []byte(entry), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.bus.AddService(t, "org.example.Sleeper", "/bin/false")
	for name, starts := range map[string]bool{"org.example.Late": true, "org.example.Sleeper": false} {
		d, err := catalog.Parse(w.draft(introspect.Request{App: name}).Text, catalog.Options{
			HostPlatform: "linux", Drivers: map[string]aai.Driver{"linux/dbus": w.driver}, EntryCommand: func(id string) string { return "/usr/bin/" + id },
		})
		if err != nil {
			t.Fatal(err)
		}
		play, title := d.App.Tool("play"), d.App.Tool("get_title")
		if play.Assessment(nil).MayStartProgram != starts || strings.HasPrefix(play.Implementation.Summary, "starts /usr/bin/"+name+" if it does not run") != starts {
			t.Errorf("%s: play starts %v, runs %q", name, play.Assessment(nil).MayStartProgram, play.Implementation.Summary)
		}
		if title.Effect != aai.Reads || title.Assessment(nil).MayStartProgram || strings.Contains(title.Implementation.Summary, "starts") {
			t.Errorf("%s: title %+v", name, title)
		}
	}
}

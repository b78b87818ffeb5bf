package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

const starting = `{"schema_version": "1.0", "appId": "org.example.Late", "name": "Late", "description": "L.", "version": "1.0", "platforms": {"linux": {
 "automation": "dbus", DESKTOP "service": "org.example.Late", "object": "/o", "interface": "org.example.Late", "tools": [
  {"name": "play", "description": "P.", "method": "Play", "parameters": {"type": "object"}},
  {"name": "volume", "description": "V.", "property": "Volume", "parameters": {"type": "object"}}]}}}`

// TestStarts checks that a tool that starts a program says so before consent, which covers the
// start; parsing starts nothing.
func TestStarts(t *testing.T) {
	plain := mustParse(t, strings.Replace(starting, "DESKTOP", "", 1), Options{HostPlatform: "linux"})
	named := mustParse(t, strings.Replace(starting, "DESKTOP", `"desktop_file": "late.desktop",`, 1), Options{HostPlatform: "linux"})
	found := mustParse(t, strings.Replace(starting, "DESKTOP", "", 1), Options{HostPlatform: "linux", DesktopFile: "late.desktop"})
	for name, d := range map[string]*Descriptor{"by the descriptor": named, "by the entry": found} {
		play, volume := d.App.Tool("play"), d.App.Tool("volume")
		if !play.Assessment(nil).MayStartProgram || !strings.HasPrefix(play.Implementation.Summary, "starts late.desktop if it does not run; D-Bus") || d.Recipes[0].Start != "late" {
			t.Errorf("%s: %+v", name, play)
		}
		if play.Implementation.Digest() == plain.App.Tool("play").Implementation.Digest() {
			t.Errorf("%s: who allowed to call the app has allowed to start it", name)
		}
		if volume.Assessment(nil).MayStartProgram || volume.Effect != aai.Reads || d.Recipes[1].Start != "" || volume.Implementation.Digest() != plain.App.Tool("volume").Implementation.Digest() {
			t.Errorf("%s: %+v", name, volume)
		}
	}
	// Consent covers the command, which the entry's name does not show.
	command := func(says string) *aai.Tool {
		entry := func(id string) string { return says + " " + id }
		return mustParse(t, strings.Replace(starting, "DESKTOP", `"desktop_file": "late.desktop",`, 1), Options{HostPlatform: "linux", EntryCommand: entry}).App.Tool("play")
	}
	if one, other := command("/usr/bin/player"), command("/tmp/planted"); one.Implementation.Digest() == other.Implementation.Digest() || !strings.HasPrefix(one.Implementation.Summary, "starts /usr/bin/player late if it does not run; D-Bus") {
		t.Errorf("it runs %q, by the digest %s and %s", one.Implementation.Summary, one.Implementation.Digest(), other.Implementation.Digest())
	}
	if play := plain.App.Tool("play"); play.Assessment(nil).MayStartProgram || strings.Contains(play.Implementation.Summary, "starts") {
		t.Errorf("%+v", play)
	}
	for _, bad := range []string{`"../late.desktop"`, `7`, `""`, `".desktop"`, `"a b"`} {
		_, err := Parse([]byte(strings.Replace(starting, "DESKTOP", `"desktop_file": `+bad+`,`, 1)), Options{HostPlatform: "linux"})
		if err == nil || !strings.Contains(err.Error(), "platforms.linux.desktop_file") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestTheEntryThatNamesIt checks that a descriptor is read again when another desktop entry names it.
func TestTheEntryThatNamesIt(t *testing.T) {
	folder := t.TempDir()
	target := filepath.Join(folder, "late.json")
	write(t, target, strings.Replace(starting, "DESKTOP", "", 1))
	s := &scanner{places: []Place{DesktopFilesPlace(filepath.Join(folder, "applications"))}, options: Options{HostPlatform: "linux"}}
	for _, name := range []string{"one", "two"} {
		file := filepath.Join(folder, "applications", name+".desktop")
		write(t, file, "[Desktop Entry]\nX-AAI-Config="+target+"\n")
		files, _ := s.scan()
		if len(files) != 1 {
			t.Fatalf("%s: %+v", name, files)
		}
		if summary := files[0].readApp.Tools[0].Implementation.Summary; !strings.HasPrefix(summary, "starts "+name+".desktop") {
			t.Fatalf("%s: %s", name, summary)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

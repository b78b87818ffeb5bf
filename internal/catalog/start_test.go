package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.Assert(t, play.Assessment(nil).MayStartProgram, "%s %+v", name, play)
		assert.Assert(t, strings.HasPrefix(play.Implementation.Summary, "starts late.desktop if it does not run; D-Bus"), "%s %+v", name, play)
		assert.Equal(t, d.Recipes[0].Start, "late", "%s %+v", name, play)
		assert.Check(t, play.Implementation.Digest() != plain.App.Tool("play").Implementation.Digest(), "%s: who allowed to call the app has allowed to start it", name)
		assert.Assert(t, !volume.Assessment(nil).MayStartProgram, "%s %+v", name, volume)
		assert.Equal(t, volume.Effect, aai.Reads, "%s %+v", name, volume)
		assert.Equal(t, d.Recipes[1].Start, "", "%s %+v", name, volume)
		assert.Equal(t, volume.Implementation.Digest(), plain.App.Tool("volume").Implementation.Digest(), "%s %+v", name, volume)
	}
	// Consent covers the command, which the entry's name does not show.
	command := func(says string) *aai.Tool {
		entry := func(id string) string { return says + " " + id }
		return mustParse(t, strings.Replace(starting, "DESKTOP", `"desktop_file": "late.desktop",`, 1), Options{HostPlatform: "linux", EntryCommand: entry}).App.Tool("play")
	}
	if one, other := command("/usr/bin/player"), command("/tmp/planted"); one.Implementation.Digest() == other.Implementation.Digest() || !strings.HasPrefix(one.Implementation.Summary, "starts /usr/bin/player late if it does not run; D-Bus") {
		t.Errorf("it runs %q, by the digest %s and %s", one.Implementation.Summary, one.Implementation.Digest(), other.Implementation.Digest())
	}
	play := plain.App.Tool("play")
	assert.Assert(t, !play.Assessment(nil).MayStartProgram, "%+v", play)
	assert.Assert(t, !strings.Contains(play.Implementation.Summary, "starts"), "%+v", play)
	for _, bad := range []string{`"../late.desktop"`, `7`, `""`, `".desktop"`, `"a b"`} {
		_, err := Parse([]byte(strings.Replace(starting, "DESKTOP", `"desktop_file": `+bad+`,`, 1)), Options{HostPlatform: "linux"})
		assert.Check(t, is.ErrorContains(err, "platforms.linux.desktop_file"), bad)
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
		assert.Assert(t, is.Len(files, 1), name)
		summary := files[0].readApp.Tools[0].Implementation.Summary
		assert.Assert(t, strings.HasPrefix(summary, "starts "+name+".desktop"), "%s %s", name, summary)
		assert.NilError(t, os.Remove(file))
	}
}

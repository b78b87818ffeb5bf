package session

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestEntryTarget checks that known launchers are skipped, and that programs that run
// commands are detected, also through a link with another name.
func TestEntryTarget(t *testing.T) {
	l, dir := newTestLauncher(t)
	bin := filepath.Join(dir, "bin")
	for _, name := range []string{"env", "sh", "bash", "flatpak", "snap", "nice", "systemd-run", "bwrap", "python3.11", "xdg-open"} {
		writeFile(t, filepath.Join(bin, name), "#!/bin/true\n", 0o700)
	}
	for name, real := range map[string]string{"tool": "bash", "player": "snap"} {
		assert.NilError(t, os.Symlink(real, filepath.Join(bin, name)))
	}
	editor := filepath.Join(bin, "editor")
	for exec, want := range map[string]string{ // the started program, or "runs"
		"editor --new %U": "", "player %U": "", "env A=1 -u B editor %F": "runs", "env -u B A=1 editor %F": editor,
		"env PATH=/tmp editor": "runs", "env LD_PRELOAD=/tmp/x.so editor": "runs", "env -S editor": "runs", "env A=1 %U": "runs",
		"env %U editor": "runs", `sh -c "exec editor --new" %U`: editor, `sh -c "editor; id"`: "runs", `sh -c "$0" %f`: "runs",
		"sh editor": "runs", "env sh -c editor": editor, "env nice -n 5 sh": "runs", "nice -n5 systemd-run --user --scope -p X=1 editor": editor,
		"bwrap --ro-bind / / -- editor %f": editor, "bwrap --ro-bind / / editor": "runs", "env tool": "runs", "tool %F": "runs",
		"flatpak run --branch=stable --file-forwarding org.example.App @@u %U @@": "org.example.App", "flatpak run --command=sh org.example.App": "runs",
		"flatpak %U": "runs", "snap run player": "player", "python3.11 /opt/app.py %F": "runs", "xdg-open %u": "runs", "env nowhere": "runs",
	} {
		writeFile(t, filepath.Join(dir, "data/applications/one.desktop"), "[Desktop Entry]\nType=Application\nName=One\nExec="+exec+"\n", 0o600)
		p, err := l.Find("one")
		assert.NilError(t, err, exec)
		got := p.Target
		if p.RunsCommands {
			got = "runs"
		}
		assert.Check(t, is.Equal(got, want))
		assert.Check(t, is.Equal(p.Entry, "one"))
		assert.Check(t, is.Equal(p.Exec, exec))
	}
}

// TestFilesStandInTheFieldCode checks that only the paths and addresses of a call replace
// the field code.
func TestFilesStandInTheFieldCode(t *testing.T) {
	l, dir := newTestLauncher(t)
	writeFile(t, filepath.Join(dir, "data/applications/one.desktop"), "[Desktop Entry]\nType=Application\nName=One\nExec=editor --new %F --last\n", 0o600)
	startProgram(t, l, "one", "/a b", "/c")
	out := awaitFile(t, filepath.Join(dir, "out"))
	assert.Check(t, is.Equal(out[:len("--new\n/a b\n/c\n--last\n")], "--new\n/a b\n/c\n--last\n"), "it was started with %q", out)
	for code, opens := range map[string]map[string]bool{
		"%F": {"/tmp/-x": true, "-x": false, "--": false, "notes.txt": false, "./x": false, "": false, "https://example.org": false, "/a\nb": false},
		"%u": {
			"/tmp/x": true, "https://example.org/?q=1": true, "file:///tmp/x": true, "file://localhost/tmp/x": true, "file://evil/tmp/x": false,
			"file:x": false, "-x": false, "javascript:alert(1)": false, "data:text/html,x": false, "https:x": false, "x://y": false,
		},
		"": {"/tmp/x": false, "https://example.org": false},
	} {
		writeFile(t, filepath.Join(dir, "data/applications/one.desktop"), "[Desktop Entry]\nType=Application\nName=One\nExec=editor "+code+"\n", 0o600)
		p, err := l.Find("one")
		assert.NilError(t, err)
		for arg, want := range opens {
			got := p.AcceptsArgs([]string{arg})
			assert.Check(t, is.Equal(got, want), "%q in the place of %q counts as to be opened: %t", arg, code, got)
		}
		assert.Check(t, is.Equal(p.AcceptsArgs([]string{"/a", "/b"}), (code == "%F")), "two files in the place of %q", code)
	}
}

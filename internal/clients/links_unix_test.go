//go:build unix

package clients_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients"
)

// TestLinksOfTheirOwner checks that links to dotfiles are followed; links, modes and owners stay.
func TestLinksOfTheirOwner(t *testing.T) {
	w := newWorld(t, "linux", nil)
	const text = "{\n  \"a\": 1\n}\n"
	real := w.file("dotfiles/cursor.json", text)
	assert.NilError(t, os.Chmod(real, 0o664))
	w.file(".cursor/other", "")
	assert.NilError(t, os.Symlink("../dotfiles/cursor.json", filepath.Join(w.home, cursor)))
	p := w.plan(w.room.Install("cursor", serve()))
	assert.Assert(t, is.Len(p.Notes, 1))
	assert.Assert(t, is.Contains(p.Notes[0], "leads to "+real))
	w.do(clients.ActionAdd)(p, nil)
	if to, err := os.Readlink(filepath.Join(w.home, cursor)); err != nil || to != "../dotfiles/cursor.json" {
		t.Errorf("the link: %q, %v", to, err)
	}
	info, err := os.Stat(real)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode() == 0o664, info)
	assert.Assert(t, is.Contains(w.has("dotfiles/cursor.json"), "aai-gateway"), info)
	w.do(clients.ActionRestore)(w.room.Uninstall("cursor"))
	w.is("dotfiles/cursor.json", text)
}

// TestLinksOfOthers checks that links of another account are neither read nor written.
func TestLinksOfOthers(t *testing.T) {
	const other = 65534
	if os.Geteuid() != 0 {
		t.Log("only root can make what belongs to another account: what is not tried is root's own file")
	}
	for name, plant := range map[string]func(w *world) error{
		"a link to another's file": func(w *world) error {
			theirs := w.file("theirs.json", "{}")
			if err := os.Symlink(theirs, filepath.Join(w.home, cursor)); err != nil || os.Geteuid() != 0 {
				return err
			}
			return os.Chown(theirs, other, other)
		},
		"another's link to a file of ours": func(w *world) error {
			link := filepath.Join(w.home, cursor)
			if err := os.Symlink(w.file("ours.json", "{}"), link); err != nil || os.Geteuid() != 0 {
				return err
			}
			return os.Lchown(link, other, other)
		},
		"a link to another's folder": func(w *world) error {
			theirs := filepath.Dir(w.file("theirs/mcp.json", "{}"))
			if err := os.Remove(filepath.Join(w.home, ".cursor")); err != nil {
				return err
			}
			if err := os.Symlink(theirs, filepath.Join(w.home, ".cursor")); err != nil || os.Geteuid() != 0 {
				return err
			}
			return os.Chown(theirs, other, other)
		},
		"another's file": func(w *world) error {
			if os.Geteuid() != 0 {
				return os.Symlink("/etc/hostname", filepath.Join(w.home, cursor))
			}
			return os.Chown(w.file(cursor, "{}"), other, other)
		},
		"another's folder, without a file": func(w *world) error {
			if os.Geteuid() != 0 {
				return os.Symlink("/etc/none", filepath.Join(w.home, cursor))
			}
			return os.Chown(filepath.Join(w.home, ".cursor"), other, other)
		},
		"a link to nowhere": func(w *world) error { return os.Symlink("/nowhere/file", filepath.Join(w.home, cursor)) },
		"a link to itself":  func(w *world) error { return os.Symlink("mcp.json", filepath.Join(w.home, cursor)) },
		"a pipe":            func(w *world) error { return syscall.Mkfifo(filepath.Join(w.home, cursor), 0o600) },
		"a folder":          func(w *world) error { return os.Mkdir(filepath.Join(w.home, cursor), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			assert.NilError(t, os.MkdirAll(filepath.Join(w.home, ".cursor"), 0o700))
			assert.NilError(t, plant(w))
			p, err := w.room.Install("cursor", serve())
			if os.Geteuid() != 0 && err == nil && strings.Contains(name, "nother's") && name != "another's file" {
				return // it is this user's
			}
			if err == nil {
				t.Fatalf("it would %s %s", p.Action, p.Client.File)
			}
			assert.Check(t, name != "a link to nowhere" || strings.Contains(err.Error(), "is a link that leads nowhere"), "it says %v", err)
			assert.Check(t, strings.Contains(err.Error(), cursor) || strings.Contains(err.Error(), w.home), "the file is not named: %v", err)
		})
	}
}

// TestStableCommand checks that the program's name on PATH is used with its link, and that
// temporary folders are noted.
func TestStableCommand(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	at := func(path string) string { return filepath.Join(root, path) }
	for _, path := range []string{"cellar/1.2/bin/aai-gateway", "other/aai-gateway", "x/_npx/1/aai-gateway"} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(at(path)), 0o700))
		assert.NilError(t, os.WriteFile(at(path), []byte(path), 0o700))
	}
	assert.NilError(t, os.Mkdir(at("bin"), 0o700))
	for _, link := range []string{"bin/aai-gateway", "bin/axterminator"} {
		assert.NilError(t, os.Symlink("../cellar/1.2/bin/aai-gateway", at(link)))
	}
	real := at("cellar/1.2/bin/aai-gateway")
	for _, c := range []struct {
		name  string
		start clients.LaunchInfo
		want  string
		note  string
	}{
		{"by its name on PATH", clients.LaunchInfo{Arg0: "aai-gateway", Executable: real, Path: at("none") + ":" + at("bin")}, at("bin/aai-gateway"), ""},
		{"by its real path, and a link to it is on PATH", clients.LaunchInfo{Arg0: real, Executable: real, Path: at("bin")}, at("bin/aai-gateway"), ""},
		{"by another name on PATH", clients.LaunchInfo{Arg0: "axterminator", Executable: real, Path: at("bin")}, at("bin/axterminator"), ""},
		{"by a link that is not on PATH", clients.LaunchInfo{Arg0: at("bin/aai-gateway"), Executable: real, Path: at("other")}, at("bin/aai-gateway"), ""},
		{"another program is on PATH", clients.LaunchInfo{Arg0: real, Executable: real, Path: at("other")}, real, ""},
		{"a relative folder of PATH", clients.LaunchInfo{Arg0: "aai-gateway", Executable: real, Path: "bin:."}, real, ""},
		{"whoever started it said another name", clients.LaunchInfo{Arg0: "/bin/sh", Executable: real, Path: "/bin"}, real, ""},
		{"a folder that is cleaned", clients.LaunchInfo{Arg0: real, Executable: real, TemporaryFolders: []string{"", at("none"), at("cellar")}}, real, "cleaned automatically"},
		{"a link to a folder that is cleaned", clients.LaunchInfo{Arg0: at("bin/aai-gateway"), Executable: real, TemporaryFolders: []string{at("cellar")}}, at("bin/aai-gateway"), "cleaned automatically"},
		{"the cache of npx", clients.LaunchInfo{Arg0: at("x/_npx/1/aai-gateway"), Executable: at("x/_npx/1/aai-gateway")}, at("x/_npx/1/aai-gateway"), "install the program for good"},
	} {
		got, notes, err := clients.StableCommand(c.start)
		said := strings.Join(notes, " ")
		assert.Assert(t, slices.Equal(got, []string{c.want}), "%s %s %q %s", c.name, got, notes, c.want)
		assert.NilError(t, err, "%s %s %q %s", c.name, got, notes, c.want)
		assert.Equal(t, (said == ""), (c.note == ""), "%s %s %q %s", c.name, got, notes, c.want)
		assert.Assert(t, is.Contains(said, c.note), "%s %s %q %s", c.name, got, notes, c.want)
	}
	for path, want := range map[string]string{
		"/home/ann/.npm/_npx/1/node_modules/aai-gateway-linux-x64/bin/aai-gateway":                                "npx -y aai-gateway",
		"/home/ann/.npm/_npx/1/node_modules/@some-one/aai-gateway/node_modules/@some-one/gateway-linux-x64/bin/g": "npx -y @some-one/gateway",
		"/usr/lib/node_modules/aai-gateway-linux-x64/bin/aai-gateway":                                             "/usr/lib/node_modules/aai-gateway-linux-x64/bin/aai-gateway",
		"/home/_npx/node_modules/x/bin/aai-gateway":                                                               "/home/_npx/node_modules/x/bin/aai-gateway",
	} {
		got, _, err := clients.StableCommand(clients.LaunchInfo{Arg0: path, Executable: path, TemporaryFolders: []string{"/home"}, System: "linux"})
		assert.Check(t, is.Equal(strings.Join(got, " "), want), "%s %q", path, got)
		assert.Check(t, err, "%s %q", path, got)
	}
	_, _, err = clients.StableCommand(clients.LaunchInfo{Arg0: "aai-gateway"})
	assert.Check(t, err != nil, "nobody knows where it is, and it is somewhere")
}

// installed returns an applied plan with an entry that starts a script.
func installed(w *world, script string) (*clients.Installer, *clients.Plan) {
	w.Helper()
	path := w.file("bin/server", "#!/bin/sh\n"+script)
	assert.NilError(w, os.Chmod(path, 0o700))
	room := w.with("linux", path)
	p := w.plan(room.Install("cursor", serve()))
	assert.NilError(w, room.Apply(w.Context(), p))
	return room, p
}

// TestTryAsTheClientDoes checks that the server gets the written arguments, and six variables.
func TestTryAsTheClientDoes(t *testing.T) {
	w := newWorld(t, "linux", map[string]string{"TERM": "xterm"})
	room, p := installed(w, "echo \"$@\" > \"$HOME/args\"\n/usr/bin/env > \"$HOME/env\"\necho 'cannot: no licence' >&2\nexit 3\n")
	_, err := room.Probe(t.Context(), p)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "%v %v", err, e)
	assert.Assert(t, is.Contains(e.Message, "as Cursor starts it"), "%v %v", err, e)
	assert.Assert(t, is.Contains(e.Message, "cannot: no licence"), "%v %v", err, e)
	assert.Assert(t, is.Contains(e.Hint, "install --rollback --client cursor"), "%v %v", err, e)
	assert.Assert(t, is.Contains(e.Hint, "env -i HOME="+w.home), "%v %v", err, e)
	w.is("args", "mcp serve\n")
	var names []string
	for line := range strings.Lines(w.has("env")) {
		name, _, _ := strings.Cut(line, "=")
		if !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) { // the shell's own
			names = append(names, name)
		}
	}
	slices.Sort(names)
	assert.Check(t, is.Equal(strings.Join(names, " "), "HOME PATH TERM USER"))
}

// TestTryByNPX checks that PATH has no folder that npx prepends.
func TestTryByNPX(t *testing.T) {
	w := newWorld(t, "linux", map[string]string{"PATH": "/home/ann/.npm/_npx/1/node_modules/.bin:/usr/bin:/bin"})
	path := w.file("bin/npx", "#!/bin/sh\necho \"$@ $PATH\" > \"$HOME/said\"\n")
	assert.NilError(t, os.Chmod(path, 0o700))
	w.room = w.launching("linux", path, "-y", "aai-gateway")
	p := w.plan(w.room.Install("cursor", serve()))
	w.do(clients.ActionAdd)(p, nil)
	_, err := w.room.Probe(t.Context(), p)
	assert.Check(t, err != nil, "a script answered")
	w.is("said", "-y aai-gateway mcp serve /usr/bin:/bin\n")
}

// TestTryWhatDoesNotAnswer checks that the probe ends with the context, and the server with it.
func TestTryWhatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, "linux", nil)
	pipe := filepath.Join(w.home, "pipe")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	room, p := installed(w, "echo $$ > \"$HOME/pipe\"\nexec /bin/sleep 600\n")
	ctx, cancel := context.WithCancel(t.Context())
	pid := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile(pipe) // waits until the server writes
		pid <- strings.TrimSpace(string(text))
		cancel()
	}()
	if _, err := room.Probe(ctx, p); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("got %v", err)
	}
	number, err := strconv.Atoi(<-pid)
	assert.NilError(t, err)
	assert.Check(t, syscall.Kill(number, 0) != nil, "%d is still there", number)
}

// TestTryWhatIsNoServer checks that another program is not taken for a server.
func TestTryWhatIsNoServer(t *testing.T) {
	w := newWorld(t, "linux", nil)
	room, p := installed(w, "read -r line\necho 'Welcome!'\n")
	_, err := room.Probe(t.Context(), p)
	assert.Check(t, is.ErrorContains(err, "does not start as Cursor starts it"))
	assert.NilError(t, os.Remove(filepath.Join(w.home, "bin/server")))
	_, err = room.Probe(t.Context(), p)
	assert.Check(t, is.ErrorContains(err, "no such file"))
}

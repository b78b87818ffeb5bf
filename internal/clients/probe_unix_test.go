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

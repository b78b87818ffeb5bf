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

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients"
)

// installed returns an applied plan with an entry that starts a script.
func installed(w *world, script string) (*clients.Installer, *clients.Plan) {
	w.Helper()
	path := w.file("bin/server", "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o700); err != nil {
		w.Fatal(err)
	}
	room := w.with("linux", path)
	p := w.plan(room.Install("cursor", serve()))
	if err := room.Apply(w.Context(), p); err != nil {
		w.Fatal(err)
	}
	return room, p
}

// TestTryAsTheClientDoes checks that the server gets the written arguments, and six variables.
func TestTryAsTheClientDoes(t *testing.T) {
	w := newWorld(t, "linux", map[string]string{"TERM": "xterm"})
	room, p := installed(w, "echo \"$@\" > \"$HOME/args\"\n/usr/bin/env > \"$HOME/env\"\necho 'cannot: no licence' >&2\nexit 3\n")
	_, err := room.Probe(t.Context(), p)
	e := aai.AsError(err)
	if e == nil || !strings.Contains(e.Message, "as Cursor starts it") || !strings.Contains(e.Message, "cannot: no licence") || !strings.Contains(e.Hint, "install --rollback --client cursor") || !strings.Contains(e.Hint, "env -i HOME="+w.home) {
		t.Errorf("%v\n%v", err, e)
	}
	w.is("args", "mcp serve\n")
	var names []string
	for line := range strings.Lines(w.has("env")) {
		name, _, _ := strings.Cut(line, "=")
		if !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) { // the shell's own
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "HOME PATH TERM USER" {
		t.Errorf("the environment has %s", got)
	}
}

// TestTryByNPX checks that PATH has no folder that npx prepends.
func TestTryByNPX(t *testing.T) {
	w := newWorld(t, "linux", map[string]string{"PATH": "/home/ann/.npm/_npx/1/node_modules/.bin:/usr/bin:/bin"})
	path := w.file("bin/npx", "#!/bin/sh\necho \"$@ $PATH\" > \"$HOME/said\"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	w.room = w.launching("linux", path, "-y", "aai-gateway")
	p := w.plan(w.room.Install("cursor", serve()))
	w.do(clients.ActionAdd)(p, nil)
	if _, err := w.room.Probe(t.Context(), p); err == nil {
		t.Error("a script answered")
	}
	w.is("said", "-y aai-gateway mcp serve /usr/bin:/bin\n")
}

// TestTryWhatDoesNotAnswer checks that the probe ends with the context, and the server with it.
func TestTryWhatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, "linux", nil)
	pipe := filepath.Join(w.home, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(number, 0); err == nil {
		t.Errorf("%d is still there", number)
	}
}

// TestTryWhatIsNoServer checks that another program is not taken for a server.
func TestTryWhatIsNoServer(t *testing.T) {
	w := newWorld(t, "linux", nil)
	room, p := installed(w, "read -r line\necho 'Welcome!'\n")
	if _, err := room.Probe(t.Context(), p); err == nil || !strings.Contains(err.Error(), "does not start as Cursor starts it") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(filepath.Join(w.home, "bin/server")); err != nil {
		t.Fatal(err)
	}
	if _, err := room.Probe(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

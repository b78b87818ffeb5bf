package clients_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// A world is a computer with a home, and an Installer.
type world struct {
	*testing.T
	home string
	env  map[string]string
	room *clients.Installer
	now  time.Time
}

const command = "/opt/aai/aai-gateway"

func newWorld(t *testing.T, system string, env map[string]string) *world {
	w := &world{T: t, home: t.TempDir(), env: map[string]string{"HOME": "", "PATH": "/usr/bin:/bin", "USER": "ann", "SECRET": "sk-1"}, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	maps.Copy(w.env, env)
	w.env["HOME"] = w.home
	w.room = w.with(system, command)
	return w
}

// with is an Installer with entries that start another command.
func (w *world) with(system, command string) *clients.Installer { return w.launching(system, command) }

// launching is an Installer with another launch command.
func (w *world) launching(system string, launch ...string) *clients.Installer {
	return clients.New(clients.Config{
		Home: w.home, Getenv: func(name string) string { return w.env[name] }, System: system,
		Folder: filepath.Join(w.home, ".local/share/aai-gateway/clients"), LaunchCommand: launch,
		Now: func() time.Time { w.now = w.now.Add(time.Second); return w.now },
	})
}

// file writes a file below the home.
func (w *world) file(path, text string) string {
	w.Helper()
	whole := filepath.Join(w.home, path)
	assert.NilError(w, os.MkdirAll(filepath.Dir(whole), 0o700))
	assert.NilError(w, os.WriteFile(whole, []byte(text), 0o600))
	return whole
}

// is checks the contents of a file below the home; an empty text: there is none.
func (w *world) is(path, text string) {
	w.Helper()
	got, err := os.ReadFile(filepath.Join(w.home, path))
	if text == "" && os.IsNotExist(err) {
		return
	}
	assert.NilError(w, err, "%s %q %q", path, got, text)
	assert.Assert(w, bytes.Equal(got, []byte(text)), "%s %q %q", path, got, text)
}

// has returns the contents of a file below the home.
func (w *world) has(path string) string {
	w.Helper()
	got, err := os.ReadFile(filepath.Join(w.home, path))
	assert.NilError(w, err)
	return string(got)
}

// backups checks the number of backups.
func (w *world) backups(want int) {
	w.Helper()
	got, err := filepath.Glob(filepath.Join(w.home, ".local/share/aai-gateway/clients/backups/*"))
	assert.NilError(w, err, "%d", want)
	assert.Assert(w, is.Len(got, want), "%d", want)
}

// plan is a successful plan with the expected action.
func (w *world) plan(p *clients.Plan, err error) *clients.Plan {
	w.Helper()
	assert.NilError(w, err)
	return p
}

// do applies a plan, which must have that action.
func (w *world) do(does string) func(*clients.Plan, error) {
	return func(p *clients.Plan, err error) {
		w.Helper()
		if w.plan(p, err).Action != does {
			w.Fatalf("%s: it would %s; expected %s\n%s", p.Client.ID, p.Action, does, p.Diff)
		}
		assert.NilError(w, w.room.Apply(w.Context(), p))
	}
}

func serve() []string { return []string{"mcp", "serve"} }

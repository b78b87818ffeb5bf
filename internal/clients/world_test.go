package clients_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	if err := os.MkdirAll(filepath.Dir(whole), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return whole
}

// is checks the contents of a file below the home; an empty text: there is none.
func (w *world) is(path, text string) {
	w.Helper()
	got, err := os.ReadFile(filepath.Join(w.home, path))
	if text == "" && os.IsNotExist(err) {
		return
	}
	if err != nil || !bytes.Equal(got, []byte(text)) {
		w.Errorf("%s is %q, %v; expected %q", path, got, err, text)
	}
}

// has returns the contents of a file below the home.
func (w *world) has(path string) string {
	w.Helper()
	got, err := os.ReadFile(filepath.Join(w.home, path))
	if err != nil {
		w.Fatal(err)
	}
	return string(got)
}

// backups checks the number of backups.
func (w *world) backups(want int) {
	w.Helper()
	got, err := filepath.Glob(filepath.Join(w.home, ".local/share/aai-gateway/clients/backups/*"))
	if err != nil || len(got) != want {
		w.Errorf("there are %q, %v; expected %d", got, err, want)
	}
}

// plan is a successful plan with the expected action.
func (w *world) plan(p *clients.Plan, err error) *clients.Plan {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// do applies a plan, which must have that action.
func (w *world) do(does string) func(*clients.Plan, error) {
	return func(p *clients.Plan, err error) {
		w.Helper()
		if w.plan(p, err).Action != does {
			w.Fatalf("%s: it would %s; expected %s\n%s", p.Client.ID, p.Action, does, p.Diff)
		}
		if err := w.room.Apply(w.Context(), p); err != nil {
			w.Fatal(err)
		}
	}
}

func serve() []string { return []string{"mcp", "serve"} }

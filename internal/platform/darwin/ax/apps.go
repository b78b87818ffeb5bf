//go:build darwin || axdouble

package ax

import (
	"context"
	"os"
	"sync"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/process"
)

// maxApps is the maximum size of an appCache; a full cache is cleared.
const maxApps = 1000

// An appCache holds the facts about processes that do not change. The zero value is ready; it is safe for concurrent use.
type appCache struct {
	mu    sync.Mutex
	known map[int]desktop.App
}

// appOf returns the app of a process; false if the process has ended.
func (t *Tree) appOf(pid int) (desktop.App, bool) {
	started, _ := t.api.Started(pid)
	if started == "" {
		return desktop.App{}, false
	}
	executable := t.api.Executable(pid)
	t.apps.mu.Lock()
	defer t.apps.mu.Unlock()
	if app, known := t.apps.known[pid]; known && app.Started == started && app.Executable == executable {
		return app, true
	}
	app := t.newApp(pid, executable)
	app.Started = started
	if t.apps.known == nil || len(t.apps.known) >= maxApps {
		t.apps.known = make(map[int]desktop.App)
	}
	t.apps.known[pid] = app
	return app, true
}

// newApp describes a process without its start time.
func (t *Tree) newApp(pid int, executable string) desktop.App {
	id, script := programID(executable), ""
	var args []string
	if process.IsInterpreter(id) {
		args = t.api.Arguments(pid)
		if name, path := process.FindScript(id, args); name != "" {
			id, script = name, path
		}
	}
	return desktop.App{
		PID: pid, ID: id, Name: bundleName(executable), Executable: executable,
		ProgramIdentity: identify(executable, script, args, t.api.CodeHash(pid)),
		Profile:         desktop.Profile{WorksCovered: true, IsBrowser: isBrowser(executable)},
	}
}

// Apps implements desktop.Tree. The gateway's own windows are no app.
func (t *Tree) Apps(ctx context.Context) ([]desktop.App, error) {
	if ctx.Err() != nil {
		return nil, expired(ctx)
	}
	var apps []desktop.App
	seen := make(map[int]bool)
	for _, w := range t.api.Windows(false) {
		if seen[w.PID] || w.PID <= 0 || w.PID == os.Getpid() || w.Layer != 0 {
			continue
		}
		seen[w.PID] = true
		app, ok := t.appOf(w.PID)
		if !ok || app.ID == "" {
			continue
		}
		if w.Owner != "" {
			app.Name = w.Owner
		}
		if app.Name == "" {
			app.Name = app.ID
		}
		apps = append(apps, app)
	}
	return apps, nil
}

// responsible returns the name of the app that started the gateway, which the system holds responsible for it; "" if it is unknown.
func (t *Tree) responsible() string {
	const generations = 16
	pid := os.Getpid()
	for range generations {
		if name := bundleName(t.api.Executable(pid)); name != "" {
			return name
		}
		_, parent := t.api.Started(pid)
		if parent <= 1 {
			return ""
		}
		pid = parent
	}
	return ""
}

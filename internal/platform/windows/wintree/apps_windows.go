package wintree

import (
	"context"
	"os"
	"sync"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// maxApps is the maximum size of an appCache; a full cache is cleared.
const maxApps = 1000

// An appCache holds the facts about processes that do not change, so that listing does not read every program again. The zero value is
// ready; it is safe for concurrent use.
type appCache struct {
	mu    sync.Mutex
	known map[uint32]desktop.App
}

// of returns the app of a process without its windows; false if the process has ended.
func (c *appCache) of(pid uint32) (desktop.App, bool) {
	is := win32.ReadProcess(pid, false)
	c.mu.Lock()
	app, known := c.known[pid]
	c.mu.Unlock()
	if known && app.Started == is.Started && app.Executable == is.Executable {
		return app, true
	}
	if is.Started == "" {
		return app, false
	}
	app = newApp(pid, win32.ReadProcess(pid, true))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxApps {
		c.known = make(map[uint32]desktop.App)
	}
	c.known[pid] = app
	return app, true
}

// newApp describes a process.
func newApp(pid uint32, is win32.Process) desktop.App {
	script, path := scriptOf(is.Executable, is.CommandLine)
	app := desktop.App{
		PID: int(pid), ID: programID(is.Executable), Executable: is.Executable, Started: is.Started, Name: win32.ProductName(is.Executable),
		ProgramIdentity: programIdentity(is.Executable, path, is.CommandLine), Profile: desktop.Profile{WorksCovered: true, FocusOnlyWhenActive: true},
	}
	if script != "" {
		app.ID, app.Name = script, ""
	}
	return app
}

// Apps implements desktop.Tree. The gateway's own windows are no app.
func (t *Tree) Apps(ctx context.Context) ([]desktop.App, error) {
	if ctx.Err() != nil {
		return nil, expired(ctx)
	}
	var apps []desktop.App
	seen := make(map[uint32]bool)
	for _, w := range win32.TopLevel() {
		pid, _ := w.Process()
		if seen[pid] || pid == 0 || int(pid) == os.Getpid() || !isShown(w) {
			continue
		}
		seen[pid] = true
		app, ok := t.apps.of(pid)
		if !ok || app.ID == "" {
			continue
		}
		if app.Name == "" {
			app.Name = w.Title()
		}
		if app.Name == "" {
			app.Name = app.ID
		}
		apps = append(apps, app)
	}
	return apps, nil
}

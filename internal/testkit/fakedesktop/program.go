package fakedesktop

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// A Program is a process that runs on the desktop.
type Program struct {
	d       *Desktop
	app     desktop.App
	parent  int // the parent process
	windows []*Window

	ended   bool
	gate    chan struct{} // closed unless the program hangs
	pending []func()      // requests that arrived while it hung

	pausesCovered, raisesOnFocus bool
	watchers                     treecache.Broadcaster
	last                         *desktop.Snapshot
	version                      uint64
}

// Program starts a program in a new process. Its ID is its name in lower case.
func (d *Desktop) Program(name string) *Program {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pids++
	id := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
	p := &Program{d: d, gate: make(chan struct{}), app: desktop.App{
		PID: d.pids, Name: name, ID: id, Executable: "/usr/bin/" + id, Toolkit: "Fake 1.0", Key: "fake/" + id,
	}}
	close(p.gate)
	d.programs = append(d.programs, p)
	return p
}

// PID returns the process ID.
func (p *Program) PID() int { return p.app.PID }

// App returns the program's desktop.App.
func (p *Program) App() desktop.App {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	return p.app
}

// SetParent sets the parent process of the program, for Programs.IsDescendant.
func (p *Program) SetParent(pid int) *Program {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.parent = pid
	return p
}

// SetExecutable sets the path of the executable.
func (p *Program) SetExecutable(executable string) *Program {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.app.Executable = executable
	return p
}

// SetBrowser marks the program as a browser in its desktop.App.
func (p *Program) SetBrowser() *Program {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.app.IsBrowser = true
	return p
}

// HideTree leaves the program without a tree; why becomes App.HiddenReason.
func (p *Program) HideTree(why string) *Program {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.app.HiddenReason = why
	return p
}

// PauseWhenCovered makes the program answer, but do nothing, while its window is covered or minimized, as
// Chromium does.
func (p *Program) PauseWhenCovered() *Program {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.pausesCovered = true
	return p
}

// RaiseOnFocus makes the program raise its window when an element takes the focus, as GTK 3 does.
func (p *Program) RaiseOnFocus() *Program {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.raisesOnFocus = true
	return p
}

// Hang makes the program stop answering, like a stopped process.
func (p *Program) Hang() {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if !p.hangs() {
		p.gate = make(chan struct{})
	}
}

// Resume undoes Hang. The program now handles the requests that arrived meanwhile, even those with an
// expired caller.
func (p *Program) Resume() {
	p.d.mu.Lock()
	if p.hangs() {
		close(p.gate)
	}
	late := p.pending
	p.pending = nil
	p.d.mu.Unlock()
	for _, f := range late {
		f()
	}
}

// Quit ends the program: its windows close, and all calls to it fail.
func (p *Program) Quit() {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if p.hangs() {
		close(p.gate)
	}
	p.ended = true
	p.pending = nil
	p.watchers.Close()
	for _, w := range p.windows {
		p.d.unstack(w)
	}
	p.d.programs = slices.DeleteFunc(p.d.programs, func(o *Program) bool { return o == p })
}

// After calls f when the time wait has passed, or later when a program that hangs resumes.
func (p *Program) After(wait time.Duration, f func()) {
	time.AfterFunc(wait, func() { p.handle(f) })
}

// handle calls f, or defers it until the program resumes.
func (p *Program) handle(f func()) {
	p.d.mu.Lock()
	late := p.hangs()
	if late {
		p.pending = append(p.pending, f)
	}
	ended := p.ended
	p.d.mu.Unlock()
	if !late && !ended {
		f()
	}
}

// hangs reports whether the program hangs. The caller holds the desktop's lock.
func (p *Program) hangs() bool {
	select {
	case <-p.gate:
		return false
	default:
		return true
	}
}

// lockResponsive waits until the app's program answers, and locks the desktop. Without an error the caller
// unlocks it. If the context ends first, the program runs f when it resumes.
func (d *Desktop) lockResponsive(ctx context.Context, app desktop.App, f func()) (*Program, error) {
	for {
		if err := contextError(ctx); err != nil {
			return nil, err
		}
		d.mu.Lock()
		i := slices.IndexFunc(d.programs, func(p *Program) bool { return p.app.PID == app.PID })
		if i < 0 {
			d.mu.Unlock()
			return nil, notDeliveredError(aai.AppNotRunning, "%s (process %d) has ended", app.Name, app.PID)
		}
		p := d.programs[i]
		if !p.hangs() {
			return p, nil
		}
		gate := p.gate
		d.mu.Unlock()
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, p.unanswered(ctx, f)
		}
	}
}

// unanswered returns the error of a call that reached the program but received no answer until its context
// ended.
func (p *Program) unanswered(ctx context.Context, f func()) error {
	e := aai.AsError(ctx.Err())
	if e.Code == aai.Timeout {
		e.Message = p.app.Name + " did not answer until the deadline"
	}
	e.Delivery = aai.NotDelivered
	if f != nil {
		e.Delivery = aai.DeliveryUnknown
		p.d.mu.Lock()
		if !p.ended {
			p.pending = append(p.pending, f)
		}
		p.d.mu.Unlock()
	}
	return e
}

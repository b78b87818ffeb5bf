package programs

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// installed returns the target for a program that does not run, or is to start with arguments, as
// gates and journal see it. The target has the executable's digest like a running program, but no
// process: starting a program is another permission than operating it.
func (r *Registry) installed(call *aai.Call, name string) (*aai.App, error) {
	_, target, err := r.program(call, name)
	return target, err
}

// newLaunch describes how the call starts the program.
func newLaunch(call *aai.Call, p desktop.Program, program string) *aai.Launch {
	args := arguments(call)
	l := &aai.Launch{
		CommandLine: desktop.CommandLine(p.Command(args)), Digest: program, IsBareProgram: len(p.Args) == 0, HasArgs: len(args) > 0,
		OpensArgs: p.AcceptsArgs(args), RunsCommands: p.RunsCommands,
	}
	if p.Entry != "" {
		l.Digest = digest(program, p.Entry, p.Exec)
	}
	return l
}

// arguments returns the arguments with which the call starts a program.
func arguments(call *aai.Call) []string {
	list, _ := call.Args["arguments"].([]any)
	args := make([]string, len(list))
	for i, a := range list {
		args[i], _ = a.(string)
	}
	return args
}

func (r *Registry) program(call *aai.Call, name string) (desktop.Program, *aai.App, error) {
	programs := r.OpenBackend().Programs
	if programs == nil {
		return desktop.Program{}, nil, guierr.Unsupported("way to start programs")
	}
	p, err := programs.Find(strings.TrimPrefix(name, targetPrefix))
	if err != nil {
		return desktop.Program{}, nil, err
	}
	starts := cmp.Or(p.Target, p.Path)
	executable := starts
	if real, err := filepath.EvalSymlinks(executable); err == nil && filepath.IsAbs(executable) {
		executable = real
	}
	target := NewTarget(desktop.App{ID: cmp.Or(p.ID, filepath.Base(starts)), Name: p.Name, Executable: executable})
	target.Process.Launch = newLaunch(call, p, target.Digest)
	return p, target, nil
}

// Launch starts the program that the gates decided about, and waits until it shows a window. over
// reports whether the returned app ran before. seen reports whether that app was seen to open a
// window, change a title or come to the front.
func (r *Registry) Launch(ctx context.Context, call *aai.Call) (app desktop.App, over, seen bool, err error) {
	name := aai.CleanLabel(call.Target.Name, 60)
	p, target, err := r.program(call, params.String(call, params.AppParam))
	if err != nil {
		return app, false, false, err
	}
	if target.Digest != call.Target.Digest || call.Target.Process.Launch == nil || *target.Process.Launch != *call.Target.Process.Launch {
		return app, false, false, guierr.Failed(aai.NotDelivered, "%s has become another program", name)
	}
	before, err := r.Apps(ctx) // accessibility must be on before the program starts
	if err != nil {
		return app, false, false, err
	}
	l := startedProgram{programs: r, target: target, before: r.windowsOn(ctx), began: time.Now()}
	if l.pid, err = r.OpenBackend().Programs.Start(ctx, p, arguments(call)); err != nil {
		return app, false, false, err
	}
	app, err = l.wait(ctx, name)
	return app, slices.ContainsFunc(before, func(was desktop.App) bool { return conversation.ProcessOf(was) == conversation.ProcessOf(app) }), l.seen, err
}

// windowsOn returns the windows on the screen, to distinguish new windows from old ones.
func (r *Registry) windowsOn(ctx context.Context) map[desktop.WindowID]desktop.WindowInfo {
	if r.OpenBackend().Windows == nil {
		return nil
	}
	all, err := r.OpenBackend().Windows.Windows(ctx)
	if err != nil {
		r.Log.Debug("windows are not known", "error", err) // most programs are found by their process
		return nil
	}
	windows := make(map[desktop.WindowID]desktop.WindowInfo)
	for _, w := range all {
		windows[w.ID] = w
	}
	return windows
}

// Limits for a started program.
const (
	// handoverTimeout limits the wait for a window after the started process has ended or shows
	// none. Another process of the same program may have taken over its work.
	handoverTimeout = 2 * time.Second
	// treeTimeout limits the wait for the tree of a window without one, unless its program has
	// loaded no library that could make a tree.
	treeTimeout = 8 * time.Second
)

// startedProgram is a program that Launch has started and waits for.
type startedProgram struct {
	programs      *Registry
	target        *aai.App
	pid           int
	before        map[desktop.WindowID]desktop.WindowInfo // the windows before the start
	began         time.Time
	seen          bool      // the process that took over showed something new or came to the front
	treelessSince time.Time // since when it shows a window without a tree
}

// wait waits until the started program shows a window.
func (l *startedProgram) wait(ctx context.Context, name string) (desktop.App, error) {
	var ended time.Time
	for {
		runs := l.programs.OpenBackend().Programs.IsRunning(l.pid)
		late := !ended.IsZero() && time.Since(ended) > handoverTimeout
		if app, ok := l.findWindow(ctx, runs, late); ok {
			return app, nil
		}
		if late {
			return desktop.App{}, guierr.Failed(aai.Delivered, "%s was started as process %d and ended without a window", name, l.pid)
		}
		if !runs && ended.IsZero() {
			ended = time.Now()
		}
		if aai.Sleep(ctx, watch.PollInterval) != nil {
			return desktop.App{}, guierr.Failed(aai.Delivered, "%s was started as process %d, but it showed no window until the deadline", name, l.pid)
		}
	}
}

// findWindow returns the program that shows a window for the launch: the process, a descendant, or a process that
// took over the work. The latter ran before, is the same program, and shows a new window or title (Kate waits until a
// file is closed). If the started process has ended, findWindow also accepts a related program that does so, and
// finally one that only came to the front.
func (l *startedProgram) findWindow(ctx context.Context, runs, late bool) (desktop.App, bool) {
	apps, err := l.programs.Apps(ctx)
	if err != nil {
		return desktop.App{}, false
	}
	for _, app := range apps {
		if app.PID == l.pid || l.programs.OpenBackend().Programs.IsDescendant(app.PID, l.pid) {
			return app, l.isVisible(ctx, app)
		}
	}
	if runs && time.Since(l.began) < handoverTimeout {
		return desktop.App{}, false
	}
	fresh := l.changedWindows(ctx)
	var near, heirs []desktop.App
	strange := false // another program shows a new window, and may have taken over
	for _, app := range apps {
		opened, seen := fresh[app.PID]
		if same := NewTarget(app).Digest == l.target.Digest; same && (seen || late) {
			l.seen = seen
			return app, l.isVisible(ctx, app)
		}
		if !l.isSameProgram(app) {
			strange = strange || opened
			continue
		}
		if near = append(near, app); seen {
			heirs = append(heirs, app)
		}
	}
	switch {
	case runs:
	case len(heirs) == 1:
		l.seen = true
		return heirs[0], l.isVisible(ctx, heirs[0])
	case late && len(near) == 1 && !strange: // a browser that a script started opens a tab
		return near[0], l.isVisible(ctx, near[0])
	}
	return desktop.App{}, false
}

// isSameProgram reports whether app has the started program's name or lies in its folder, as
// soffice and soffice.bin do. Only such a program can have taken over the work.
func (l *startedProgram) isSameProgram(app desktop.App) bool {
	return targetPrefix+app.ID == l.target.ID ||
		filepath.Dir(app.Executable) == filepath.Dir(l.target.Source) && app.ID == filepath.Base(l.target.Source)
}

// changedWindows returns the processes that show a new window (true), or a window with a new title
// or newly in front (false).
func (l *startedProgram) changedWindows(ctx context.Context) map[int]bool {
	fresh := make(map[int]bool)
	for id, w := range l.programs.windowsOn(ctx) {
		if before, was := l.before[id]; l.before != nil && (!was || before.Title != w.Title || w.Active && !before.Active) {
			fresh[w.PID] = fresh[w.PID] || !was
		}
	}
	return fresh
}

// isVisible reports whether the program shows a tree, or for treeTimeout a window without one.
func (l *startedProgram) isVisible(ctx context.Context, app desktop.App) bool {
	if shot, err := l.programs.OpenBackend().Tree.Snapshot(ctx, app); err == nil && len(shot.Elements) > 0 {
		return true
	}
	if app.HiddenReason == "" || !l.programs.hasWindow(ctx, app) {
		return false
	}
	if l.treelessSince.IsZero() {
		l.treelessSince = time.Now()
	}
	return l.programs.OpenBackend().Programs.LacksAccessibility(app.PID) || time.Since(l.treelessSince) > treeTimeout
}

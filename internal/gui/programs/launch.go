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

// installed is a program that does not run, or not as it is to, in the words of
// gates and journal. It is bound to its executable as what runs is, but has no
// process: to start something is another permission than to operate it.
func (r *Registry) installed(call *aai.Call, name string) (*aai.App, error) {
	_, target, err := r.program(call, name)
	return target, err
}

// newLaunch is how the call starts the program.
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
	target := NewTarget(desktop.App{ID: filepath.Base(starts), Name: p.Name, Executable: executable})
	target.Launch = newLaunch(call, p, target.Digest)
	return p, target, nil
}

// Launch starts the program that the gates decided about, and waits until it shows
// a window.
// It says too where that is one that ran before, and whether that was seen to open a window, to
// change a title or to come to the front.
func (r *Registry) Launch(ctx context.Context, call *aai.Call) (app desktop.App, over, seen bool, err error) {
	name := aai.CleanLabel(call.Target.Name, 60)
	p, target, err := r.program(call, params.String(call, params.AppParam))
	if err != nil {
		return app, false, false, err
	}
	if target.Digest != call.Target.Digest || call.Target.Launch == nil || *target.Launch != *call.Target.Launch {
		return app, false, false, guierr.Failed(aai.NotDelivered, "%s has become another program", name)
	}
	before, err := r.Apps(ctx) // what is started must find accessibility switched on
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

// windowsOn are the windows that are on the screen, by which what comes is told from what was.
func (r *Registry) windowsOn(ctx context.Context) map[desktop.WindowID]desktop.WindowInfo {
	if r.OpenBackend().Windows == nil {
		return nil
	}
	all, err := r.OpenBackend().Windows.Windows(ctx)
	if err != nil {
		r.Log.Debug("windows are not known", "error", err) // the process is, by which most are found
		return nil
	}
	windows := make(map[desktop.WindowID]desktop.WindowInfo)
	for _, w := range all {
		windows[w.ID] = w
	}
	return windows
}

// How long what is started is waited for.
const (
	// handoverTimeout is how long a window is waited for after the started process has ended, or
	// while it shows none: another one of the same program may have taken its work over.
	handoverTimeout = 2 * time.Second
	// treeTimeout is how long the tree of a window is waited for that shows none, unless its
	// program has loaded nothing that could make one.
	treeTimeout = 8 * time.Second
)

// A launching is a program on its way.
type startedProgram struct {
	programs      *Registry
	target        *aai.App
	pid           int
	before        map[desktop.WindowID]desktop.WindowInfo // the windows there were
	began         time.Time
	seen          bool      // whom it gave its work showed something new, or came to the front
	treelessSince time.Time // since when it shows a window without a tree
}

// wait waits until what was started shows a window.
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

// findWindow looks whether the process shows a window, or one that it started, or whom it gave its
// work: one of the same program that ran before and shows a new window or title, as where Kate is
// told to wait until a file is closed; or, where it has ended, one that is near and does, or in
// the end one that only came to the front.
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
	strange := false // another program shows a new window, and may have taken it
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
	case late && len(near) == 1 && !strange: // a browser that was started by a script opens a tab
		return near[0], l.isVisible(ctx, near[0])
	}
	return desktop.App{}, false
}

// isSameProgram reports whether a program is called as the started one is, or as what lies in its
// folder, as soffice and soffice.bin do: no other is believed to have taken its work over.
func (l *startedProgram) isSameProgram(app desktop.App) bool {
	return targetPrefix+app.ID == l.target.ID ||
		filepath.Dir(app.Executable) == filepath.Dir(l.target.Source) && app.ID == filepath.Base(l.target.Source)
}

// changedWindows are the processes that show a window which was not there before (true), or had another
// title or was not in front (false).
func (l *startedProgram) changedWindows(ctx context.Context) map[int]bool {
	fresh := make(map[int]bool)
	for id, w := range l.programs.windowsOn(ctx) {
		if before, was := l.before[id]; l.before != nil && (!was || before.Title != w.Title || w.Active && !before.Active) {
			fresh[w.PID] = fresh[w.PID] || !was
		}
	}
	return fresh
}

// isVisible reports whether the program shows a tree, or for a while a window that has none.
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

package ax

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
)

// launches reports whether the call is to start a program, if it does not run or
// is to be started with arguments.
func launches(call *aai.Call) bool { return flagArg(call, "launch") }

// installed is a program that does not run, or not as it is to, in the words of
// gates and journal. It is bound to its executable as what runs is, but has no
// process: to start something is another permission than to operate it.
func (d *desk) installed(name string) (*aai.App, error) {
	_, target, err := d.program(name)
	return target, err
}

func (d *desk) program(name string) (desktop.Program, *aai.App, error) {
	programs := d.open().Programs
	if programs == nil {
		return desktop.Program{}, nil, unsupported("way to start programs")
	}
	p, err := programs.Find(strings.TrimPrefix(name, targetPrefix))
	if err != nil {
		return desktop.Program{}, nil, err
	}
	executable := p.Path
	if real, err := filepath.EvalSymlinks(executable); err == nil {
		executable = real
	}
	target := asTarget(desktop.App{ID: filepath.Base(p.Path), Name: p.Name, Executable: executable})
	return p, target, nil
}

// launch starts the program that the gates decided about, and waits until it shows
// a window.
func (d *desk) launch(ctx context.Context, call *aai.Call) (desktop.App, error) {
	name := aai.CleanLabel(call.Target.Name, 60)
	p, target, err := d.program(textArg(call, targetParam))
	if err != nil {
		return desktop.App{}, err
	}
	if target.Digest != call.Target.Digest {
		return desktop.App{}, failed(aai.NotDelivered, "%s has become another program", name)
	}
	if _, err := d.apps(ctx); err != nil { // what is started must find accessibility switched on
		return desktop.App{}, err
	}
	var args []string
	list, _ := call.Args["arguments"].([]any)
	for _, a := range list {
		text, _ := a.(string)
		args = append(args, text)
	}
	programs := d.open().Programs
	pid, err := programs.Start(ctx, p, args)
	if err != nil {
		return desktop.App{}, err
	}
	ended, bare := time.Duration(0), treelessWindow{}
	for {
		runs := programs.Runs(pid)
		app, ok := d.started(ctx, pid, target, runs)
		if ok || bare.stays(ctx, d, app) {
			return app, nil
		}
		if !runs {
			if ended += lookAgain; ended > endPatience {
				return desktop.App{}, failed(aai.Delivered, "%s was started as process %d and ended without a window", name, pid)
			}
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return desktop.App{}, failed(aai.Delivered, "%s was started as process %d, but it showed no window until the deadline", name, pid)
		}
	}
}

// endPatience is how long a window is waited for after the started process has
// ended: another one of the same program may have taken its work over.
const endPatience = 2 * time.Second

// started looks whether the process shows a tree, or one that it started, or,
// where it has ended, one of the same program that ran before.
func (d *desk) started(ctx context.Context, pid int, target *aai.App, runs bool) (desktop.App, bool) {
	apps, err := d.apps(ctx)
	if err != nil {
		return desktop.App{}, false
	}
	for _, app := range apps {
		if app.PID == pid || d.open().Programs.Descends(app.PID, pid) || !runs && asTarget(app).Digest == target.Digest {
			shot, err := d.open().Tree.Snapshot(ctx, app)
			return app, err == nil && len(shot.Elements) > 0 // without a tree it may yet come to have one
		}
	}
	return desktop.App{}, false
}

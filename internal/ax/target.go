package ax

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aai"
	"aai/internal/desktop"
)

// targetPrefix begins the ids of programs, so that none is taken for an app with
// a descriptor.
const targetPrefix = aai.DesktopApp + "/"

// whichApp names the question which of several programs is meant.
const whichApp = "which_app"

// target finds the program that a call touches: by its process id, the session's
// alias, its id, or its name. Several are asked about. One that is to be started is
// found where programs are installed.
func (d *desk) target(ctx context.Context, call *aai.Call, name string) (*aai.App, error) {
	if launches(call) && given(call, "arguments") {
		return d.installed(name)
	}
	apps, err := d.apps(ctx)
	if err != nil {
		return nil, err
	}
	if is, known := d.sessions.of(call).alias(name); known {
		if slices.ContainsFunc(apps, func(a desktop.App) bool { return processOf(a) != is && calledSo(a, name) }) {
			e := aai.Errorf(aai.AmbiguousTarget, "%q is an alias for process %d, and now also the name of a program that runs", aai.CleanLabel(name, 60), is.pid)
			e.Hint = "Give the process id as app; ax_list_apps shows it."
			return nil, e
		}
		for _, app := range apps {
			if processOf(app) == is {
				return d.asTarget(app)
			}
		}
		return nil, aai.Errorf(aai.AppNotRunning, "%q, which was process %d, has ended or has no window any more", aai.CleanLabel(name, 60), is.pid)
	}
	meant := meant(apps, name)
	switch {
	case len(meant) == 0 && launches(call):
		return d.installed(name)
	case len(meant) == 0:
		return nil, notRunning(name, apps)
	case len(meant) == 1:
		return d.asTarget(meant[0])
	}
	if answer, ok := call.Answers[whichApp]; ok {
		for _, app := range meant {
			if strconv.Itoa(app.PID) == answer.Choice {
				return d.asTarget(app)
			}
		}
		return nil, aai.Errorf(aai.PermissionDenied, "the person at this computer chose none of the programs called %q", aai.CleanLabel(name, 60))
	}
	return nil, ambiguousApp(name, meant, d.titles(ctx, meant), d.sessions.of(call).knowsAll())
}

// titles are what the programs' windows are called, by process, where several are called
// by one name; at most so many of each.
func (d *desk) titles(ctx context.Context, apps []desktop.App) map[int]string {
	const most = 3
	windows := d.open().Windows
	if windows == nil || len(apps) < 2 {
		return nil
	}
	all, err := windows.Windows(ctx)
	if err != nil {
		d.log.Debug("windows are not known", "error", err) // they only tell programs apart
		return nil
	}
	titles := make(map[int]string)
	for _, app := range apps {
		var own []string
		for _, w := range all {
			if title := strings.TrimSpace(w.Title); w.PID == app.PID && title != "" && len(own) < most {
				own = append(own, desktop.Quote(title, 60))
			}
		}
		titles[app.PID] = strings.Join(own, ", ")
	}
	return titles
}

// toldApart is the program's name, its process, and by what its windows are called that
// it is told from another of its name.
func toldApart(app desktop.App, titles map[int]string) string {
	text := fmt.Sprintf("%s (process %d)", aai.CleanLabel(app.Name, 60), app.PID)
	if title := titles[app.PID]; title != "" {
		text += " with " + title
	}
	return text
}

// namesakes are those of the programs that are called as another of them is.
func namesakes(apps []desktop.App) []desktop.App {
	count := make(map[string]int)
	for _, app := range apps {
		count[strings.ToLower(app.Name)]++
	}
	return slices.DeleteFunc(slices.Clone(apps), func(a desktop.App) bool { return count[strings.ToLower(a.Name)] < 2 })
}

// apps lists the programs that may be operated: not this one.
func (d *desk) apps(ctx context.Context) ([]desktop.App, error) {
	tree := d.open().Tree
	if tree == nil {
		return nil, unsupported("accessibility trees")
	}
	apps, err := tree.Apps(ctx)
	if err != nil {
		return nil, err
	}
	apps = slices.DeleteFunc(slices.Clone(apps), func(a desktop.App) bool { return a.PID == d.self })
	if ended := d.lately.set(apps, d.runs); len(ended) > 0 {
		d.sessions.forget(ended)
	}
	return apps, nil
}

// runs reports whether the process runs, as far as that can be told.
func (d *desk) runs(pid int) bool {
	programs := d.open().Programs
	return programs != nil && programs.Runs(pid)
}

// meant returns the programs that a name may mean, by the surest of its meanings.
func meant(apps []desktop.App, name string) []desktop.App {
	pid, _ := strconv.Atoi(name)
	id := strings.TrimPrefix(name, targetPrefix)
	for _, is := range []func(desktop.App) bool{
		func(a desktop.App) bool { return pid != 0 && a.PID == pid },
		func(a desktop.App) bool { return a.ID == id },
		func(a desktop.App) bool { return strings.EqualFold(a.Name, name) || strings.EqualFold(a.ID, id) },
		func(a desktop.App) bool {
			return len(name) > 2 && strings.Contains(strings.ToLower(a.Name+" "+a.ID), strings.ToLower(name))
		},
	} {
		var found []desktop.App
		for _, app := range apps {
			if is(app) {
				found = append(found, app)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// asTarget is the program in the words of gates and journal. It is bound to its
// executable: another one of the same name is another program.
func asTarget(app desktop.App) *aai.App {
	sum := sha256.Sum256([]byte(cmp.Or(app.Program, app.Executable) + "\x00" + app.ID))
	return &aai.App{
		ID: targetPrefix + app.ID, Name: aai.CleanLabel(app.Name, 80), Platform: "any",
		Source: app.Executable, Digest: hex.EncodeToString(sum[:]), PID: app.PID,
	}
}

// asTarget is asTarget for a call: it can be asked whether it answers. One without an
// id has ended; nobody can be asked about it.
func (d *desk) asTarget(app desktop.App) (*aai.App, error) {
	if app.ID == "" {
		e := aai.Errorf(aai.AppNotRunning, "%s (process %d) has ended", cmp.Or(aai.CleanLabel(app.Name, 60), "the program"), app.PID)
		e.Delivery = aai.NotDelivered
		e.Hint = "ax_list_apps lists what runs; ax_connect with launch starts it."
		return nil, e
	}
	target := asTarget(app)
	target.Host = d.hosts(app)
	if app.Hidden != "" && d.terminal != nil {
		target.Terminal = func() bool { return d.terminal(app.PID) }
	}
	target.Answers = func(ctx context.Context) error { return d.answers(ctx, app) }
	target.Guards = func(ctx context.Context) string { return d.guards(ctx, app) }
	return target, nil
}

// hosts reports whether the caller runs in the program.
func (d *desk) hosts(app desktop.App) bool { return d.host != nil && d.host(app.PID) }

// running returns the program that the gates decided about.
func (d *desk) running(ctx context.Context, call *aai.Call) (desktop.App, error) {
	if call.Target == nil || call.Target.PID == 0 {
		e := aai.Errorf(aai.InvalidParams, "app: expected the name of a program; this tool does not work on the whole screen")
		e.Hint = "ax_list_apps lists the programs that run."
		return desktop.App{}, e
	}
	is := func(app desktop.App) bool {
		return app.PID == call.Target.PID && asTarget(app).Digest == call.Target.Digest
	}
	if apps := d.lately.get(); slices.ContainsFunc(apps, is) {
		return apps[slices.IndexFunc(apps, is)], nil
	}
	apps, err := d.apps(ctx)
	if err != nil {
		return desktop.App{}, err
	}
	if i := slices.IndexFunc(apps, is); i >= 0 {
		return apps[i], nil
	}
	e := aai.Errorf(aai.AppNotRunning, "%s (process %d) has ended or has no window any more", call.Target.Name, call.Target.PID)
	e.Delivery = aai.NotDelivered
	return desktop.App{}, e
}

func notRunning(name string, apps []desktop.App) error {
	names := make([]string, 0, len(apps))
	for _, a := range apps {
		names = append(names, a.Name, a.ID)
	}
	slices.Sort(names)
	e := aai.Errorf(aai.AppNotFound, "no program %q with a window is running", aai.CleanLabel(name, 60))
	e.Candidates = aai.Nearest(name, slices.Compact(names), 3)
	e.Hint = "ax_list_apps lists what runs; ax_connect with launch starts it."
	return e
}

// ambiguousApp is the error of a name that several programs have. The person is asked with
// what their windows are called; the caller is told that if told it was before.
func ambiguousApp(name string, meant []desktop.App, titles map[int]string, told bool) error {
	e := aai.Errorf(aai.AmbiguousTarget, "%d programs are called %q", len(meant), aai.CleanLabel(name, 60))
	e.Hint = "Give the process id as app; ax_list_apps tells them apart by their windows."
	q := aai.Question{
		ID: whichApp, Channels: []aai.Channel{aai.Native, aai.Terminal, aai.Client},
		Title: "Which program is meant?", Text: fmt.Sprintf("%d programs are called %q.", len(meant), aai.CleanLabel(name, 60)),
		Choices: []aai.Choice{{ID: "none", Label: "None of them"}},
	}
	for _, app := range meant {
		candidate := strconv.Itoa(app.PID) + " " + aai.CleanLabel(app.Name, 60)
		if title := titles[app.PID]; title != "" && told {
			candidate += " with " + title
		}
		e.Candidates = append(e.Candidates, candidate)
		q.Choices = append(q.Choices, aai.Choice{ID: strconv.Itoa(app.PID), Label: toldApart(app, titles)})
	}
	e.Questions = []aai.Question{q}
	return e
}

func unsupported(what string) error {
	e := aai.Errorf(aai.AutomationNotSupported, "this computer offers no %s to the gateway", what)
	e.Delivery = aai.NotDelivered
	e.Hint = "ax_is_accessible says what is missing."
	return e
}

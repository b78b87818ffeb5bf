// Package programs finds the running programs that calls name, starts others, and describes them
// for the gates: identity, responsiveness, and reasons not to operate them. It also blackens the
// parts of the screen that a caller may not see.
package programs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// Registry gives access to the running programs. It is safe for concurrent use.
type Registry struct {
	OpenBackend    func() desktop.Backend // the desktop, as WithInputLock returns it
	IsCallerHost   func(pid int) bool     // whether the caller runs in the process; nil: unknown
	IsTerminal     func(pid int) bool     // whether the process shows a terminal; nil: unknown
	IsScreenLocked func(context.Context) bool
	DashboardHosts func() ([]string, error) // hosts of the gateways' dashboards now; nil: none
	Log            *slog.Logger
	Sessions       *conversation.Sessions
	Cache          conversation.AppCache
	SelfPID        int // the process of the gateway: no call may touch its windows
}

// CheckAlias rejects an alias that is the name, id or process of a running program: that name must
// reach that program.
func (r *Registry) CheckAlias(ctx context.Context, alias string) error {
	if alias == "" {
		return nil
	}
	if _, err := strconv.Atoi(alias); err == nil || strings.HasPrefix(alias, targetPrefix) {
		return aliasTaken(alias, "has the form of a process or an id")
	}
	apps, err := r.Apps(ctx)
	if err != nil {
		return err
	}
	for _, a := range apps {
		if hasName(a, alias) {
			return aliasTaken(alias, "is the name of a program that runs")
		}
	}
	return nil
}

// hasName reports whether a name is the program's full name or ID.
func hasName(a desktop.App, name string) bool {
	return strings.EqualFold(a.Name, name) || strings.EqualFold(a.ID, name)
}

func aliasTaken(alias, why string) error {
	e := aai.Errorf(aai.InvalidParams, "alias: %q %s", aai.CleanLabel(alias, 60), why)
	e.Delivery = aai.NotDelivered
	e.Hint = "Take a word that no program has, such as my-editor."
	return e
}

// Probe returns an error if the tree of the program cannot be read, as while it hangs.
func (r *Registry) Probe(ctx context.Context, app desktop.App) error {
	if _, err := r.OpenBackend().Tree.Snapshot(ctx, app); err != nil {
		return guierr.Unreadable(err)
	}
	return nil
}

// WindowTitles returns the window titles of the programs by PID, at most three each, to distinguish
// programs with the same name. It returns nil for fewer than two programs.
func (r *Registry) WindowTitles(ctx context.Context, apps []desktop.App) map[int]string {
	const most = 3
	windows := r.OpenBackend().Windows
	if windows == nil || len(apps) < 2 {
		return nil
	}
	all, err := windows.Windows(ctx)
	if err != nil {
		r.Log.Debug("windows are not known", "error", err) // the titles only distinguish programs
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

// Apps lists the programs that calls may operate, without the gateway itself.
func (r *Registry) Apps(ctx context.Context) ([]desktop.App, error) {
	tree := r.OpenBackend().Tree
	if tree == nil {
		return nil, guierr.Unsupported("accessibility trees")
	}
	apps, err := tree.Apps(ctx)
	if err != nil {
		return nil, err
	}
	apps = slices.DeleteFunc(slices.Clone(apps), func(a desktop.App) bool { return a.PID == r.SelfPID })
	if ended := r.Cache.Set(apps, r.Runs); len(ended) > 0 {
		r.Sessions.Forget(ended)
	}
	return apps, nil
}

// Runs reports whether the process runs; false if unknown.
func (r *Registry) Runs(pid int) bool {
	programs := r.OpenBackend().Programs
	return programs != nil && programs.IsRunning(pid)
}

// HostsCaller reports whether the caller runs in the program.
func (r *Registry) HostsCaller(app desktop.App) bool {
	return r.IsCallerHost != nil && r.IsCallerHost(app.PID)
}

// AdmittedApp returns the program that the gates decided about.
func (r *Registry) AdmittedApp(ctx context.Context, call *aai.Call) (desktop.App, error) {
	if call.Target == nil || call.Target.PID == 0 {
		e := aai.Errorf(aai.InvalidParams, "app: expected the name of a program; this tool does not work on the whole screen")
		e.Hint = "ax_list_apps lists the programs that run."
		return desktop.App{}, e
	}
	is := func(app desktop.App) bool { return IsTarget(app, call.Target) }
	if apps := r.Cache.Get(); slices.ContainsFunc(apps, is) {
		return apps[slices.IndexFunc(apps, is)], nil
	}
	apps, err := r.Apps(ctx)
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

// targetPrefix is the prefix of program IDs, which distinguishes them from apps with a descriptor.
const targetPrefix = aai.DesktopApp + "/"

// whichApp is the ID of the question that selects one of several programs.
const whichApp = "which_app"

// ResolveApp finds the program of a call: by its PID, the alias of the session, its ID, or its name. If several
// match, it returns an error with a question to the person. For a program to start, it searches the installed ones.
func (r *Registry) ResolveApp(ctx context.Context, call *aai.Call, name string) (*aai.App, error) {
	if params.Launches(call) && params.Has(call, "arguments") {
		return r.installed(call, name)
	}
	apps, err := r.Apps(ctx)
	if err != nil {
		return nil, cmp.Or(r.CheckScreen(ctx), err)
	}
	if is, known := r.Sessions.For(call).Alias(name); known {
		if slices.ContainsFunc(apps, func(a desktop.App) bool { return conversation.ProcessOf(a) != is && hasName(a, name) }) {
			e := aai.Errorf(aai.AmbiguousTarget, "%q is an alias for process %d, and now also the name of a program that runs", aai.CleanLabel(name, 60), is.PID)
			e.Hint = "Give the process id as app; ax_list_apps shows it."
			return nil, e
		}
		for _, app := range apps {
			if conversation.ProcessOf(app) == is {
				return r.newTarget(app)
			}
		}
		return nil, aai.Errorf(aai.AppNotRunning, "%q, which was process %d, has ended or has no window any more", aai.CleanLabel(name, 60), is.PID)
	}
	meant := matchingApps(apps, name)
	switch {
	case len(meant) == 0 && params.Launches(call):
		return r.installed(call, name)
	case len(meant) == 0:
		return nil, notRunning(name, apps)
	case len(meant) == 1:
		return r.newTarget(meant[0])
	}
	if answer, ok := call.Answers[whichApp]; ok {
		for _, app := range meant {
			if strconv.Itoa(app.PID) == answer.Choice {
				return r.newTarget(app)
			}
		}
		return nil, aai.Errorf(aai.PermissionDenied, "the person at this computer chose none of the programs called %q", aai.CleanLabel(name, 60))
	}
	return nil, ambiguousApp(name, meant, r.WindowTitles(ctx, meant), r.Sessions.For(call).HasListed())
}

// Named returns the running program with a name, an ID or a process ID. It fails if none or several are meant. Unlike
// ResolveApp it knows no aliases.
func (r *Registry) Named(ctx context.Context, name string) (desktop.App, error) {
	apps, err := r.Apps(ctx)
	if err != nil {
		return desktop.App{}, err
	}
	switch meant := matchingApps(apps, name); len(meant) {
	case 0:
		return desktop.App{}, notRunning(name, apps)
	case 1:
		return meant[0], nil
	default:
		return desktop.App{}, ambiguousApp(name, meant, r.WindowTitles(ctx, meant), true)
	}
}

// distinctName returns the program's name, PID and window titles, which distinguish it from another
// of its name.
func distinctName(app desktop.App, titles map[int]string) string {
	text := fmt.Sprintf("%s (process %d)", aai.CleanLabel(app.Name, 60), app.PID)
	if title := titles[app.PID]; title != "" {
		text += " with " + title
	}
	return text
}

// WithSameName returns the programs that share their name with another one.
func WithSameName(apps []desktop.App) []desktop.App {
	count := make(map[string]int)
	for _, app := range apps {
		count[strings.ToLower(app.Name)]++
	}
	return slices.DeleteFunc(slices.Clone(apps), func(a desktop.App) bool { return count[strings.ToLower(a.Name)] < 2 })
}

// matchingApps returns the programs that match the name in the most certain way.
func matchingApps(apps []desktop.App, name string) []desktop.App {
	id := strings.TrimPrefix(name, targetPrefix)
	pid, _ := strconv.Atoi(id)
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

// NewTarget returns the program as a target for gates and journal. Its digest binds it to its
// executable: another executable with the same name is another program.
func NewTarget(app desktop.App) *aai.App {
	return &aai.App{
		ID: targetPrefix + app.ID, Name: aai.CleanLabel(app.Name, 80), Platform: "any",
		Source: app.Executable, Digest: digest(cmp.Or(app.ProgramIdentity, app.Executable), app.ID), PID: app.PID,
	}
}

// IsTarget reports whether the target is this run of the program.
func IsTarget(app desktop.App, target *aai.App) bool {
	return app.PID == target.PID && NewTarget(app).Digest == target.Digest
}

// HasName reports whether the name means the program: its process, id or name.
func HasName(app desktop.App, name string) bool {
	return len(matchingApps([]desktop.App{app}, name)) > 0
}

// EndedTarget returns a program that has ended as a target, for reading its events.
func (r *Registry) EndedTarget(app desktop.App) *aai.App {
	target := NewTarget(app)
	target.Process.HostsCaller = r.HostsCaller(app)
	target.Process.LockReason = func(ctx context.Context) string { return r.lockReason(ctx, app) }
	return target
}

// digest returns the hash of the parts in order.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// newTarget is NewTarget for a call, with functions to check the running program. A program without
// an ID has ended and cannot be checked.
func (r *Registry) newTarget(app desktop.App) (*aai.App, error) {
	if app.ID == "" {
		e := aai.Errorf(aai.AppNotRunning, "%s (process %d) has ended", cmp.Or(aai.CleanLabel(app.Name, 60), "the program"), app.PID)
		e.Delivery = aai.NotDelivered
		e.Hint = "ax_list_apps lists what runs; ax_connect with launch starts it."
		return nil, e
	}
	target := NewTarget(app)
	target.Process.HostsCaller = r.HostsCaller(app)
	if app.HiddenReason != "" && r.IsTerminal != nil {
		target.Process.RunsCommands = func() bool { return r.IsTerminal(app.PID) }
	}
	target.Process.Ping = func(ctx context.Context) error { return r.Probe(ctx, app) }
	target.Process.LockReason = func(ctx context.Context) string { return r.lockReason(ctx, app) }
	return target, nil
}

func notRunning(name string, apps []desktop.App) error {
	var names, called []string
	for _, a := range apps {
		if id, whole := strings.CutPrefix(name, targetPrefix); !whole {
			names = append(names, a.Name, a.ID)
		} else if names = append(names, targetPrefix+a.ID); strings.EqualFold(a.Name, id) {
			called = append(called, targetPrefix+a.ID)
		}
	}
	slices.Sort(names)
	slices.Sort(called)
	e := aai.Errorf(aai.AppNotFound, "no program %q with a window is running", aai.CleanLabel(name, 60))
	if e.Candidates = slices.Compact(called); len(called) == 0 {
		e.Candidates = aai.Nearest(name, slices.Compact(names), 3)
	}
	e.Hint = "ax_list_apps lists what runs; ax_connect with launch starts it."
	return e
}

// ambiguousApp returns the error for a name that several programs have. The question to the person
// contains window titles; the error for the caller contains them only if told is true, because it
// had them before.
func ambiguousApp(name string, meant []desktop.App, titles map[int]string, told bool) error {
	e := aai.Errorf(aai.AmbiguousTarget, "%d programs are called %q", len(meant), aai.CleanLabel(name, 60))
	e.Hint = "Give the process id as app; ax_list_apps tells them apart by their windows."
	q := aai.Question{
		ID: whichApp, Channels: []aai.Channel{aai.DesktopDialog, aai.Terminal, aai.Client},
		Title: "Which program is meant?", Text: fmt.Sprintf("%d programs are called %q.", len(meant), aai.CleanLabel(name, 60)),
		Choices: []aai.Choice{{ID: "none", Label: "None of them"}},
	}
	for _, app := range meant {
		candidate := strconv.Itoa(app.PID) + " " + aai.CleanLabel(app.Name, 60)
		if title := titles[app.PID]; title != "" && told {
			candidate += " with " + title
		}
		e.Candidates = append(e.Candidates, candidate)
		q.Choices = append(q.Choices, aai.Choice{ID: strconv.Itoa(app.PID), Label: distinctName(app, titles), IsForeign: true})
	}
	e.Questions = []aai.Question{q}
	return e
}

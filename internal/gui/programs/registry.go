// Package programs finds the running programs that calls name, starts others, and describes them
// for the gates: identity, responsiveness, and reasons not to operate them. It also blackens the
// parts of the screen that a caller may not see.
package programs

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
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
	if ended := r.Cache.Set(apps, r.runs); len(ended) > 0 {
		r.Sessions.Forget(ended)
	}
	return apps, nil
}

// runs reports whether the process runs; false if unknown.
func (r *Registry) runs(pid int) bool {
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
	is := func(app desktop.App) bool {
		return app.PID == call.Target.PID && NewTarget(app).Digest == call.Target.Digest
	}
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

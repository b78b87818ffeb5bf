package programs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

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
	target.HostsCaller = r.HostsCaller(app)
	if app.HiddenReason != "" && r.IsTerminal != nil {
		target.HasTerminal = func() bool { return r.IsTerminal(app.PID) }
	}
	target.Ping = func(ctx context.Context) error { return r.Probe(ctx, app) }
	target.LockReason = func(ctx context.Context) string { return r.lockReason(ctx, app) }
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

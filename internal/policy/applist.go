package policy

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"aai"
)

// AppLists is the gate of the apps that a person allows or denies altogether, for
// every caller at every door. The entries are ids, names, aliases or patterns of
// those (as in path.Match), compared without regard to case; of a program with
// windows the id is also meant without the "desktop/" before it, and of an app from
// the web its host. What is denied is denied even if it is allowed too. Where any
// app is allowed, all others are not. It is safe for concurrent use.
type AppLists struct {
	Allowed, Denied []string
}

// NewAppLists returns the gate, or an error that names a pattern that is none.
func NewAppLists(allowed, denied []string) (AppLists, error) {
	for _, pattern := range slices.Concat(allowed, denied) {
		if _, err := path.Match(pattern, ""); err != nil || strings.TrimSpace(pattern) == "" {
			return AppLists{}, fmt.Errorf("%q is neither an app's id or name nor a pattern such as \"org.example.*\"", aai.CleanLabel(pattern, 60))
		}
	}
	return AppLists{allowed, denied}, nil
}

// Check refuses calls that touch an app that is denied, or is not among those
// allowed. The whole screen shows every app, so it is refused too unless
// "desktop" is allowed by name.
func (l AppLists) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if len(l.Allowed)+len(l.Denied) == 0 || r.App.ID == aai.OwnApp {
		return nil, nil
	}
	if r.Target == r.App && r.App.Targets != nil {
		if !ofNoWindow(r.Tool) && !slices.Contains(l.Allowed, aai.DesktopApp) {
			return nil, blocked(r, "the whole screen shows apps that are blocked")
		}
		return nil, nil
	}
	names := namesOf(r.Target)
	if pattern, denied := matching(l.Denied, names); denied {
		return nil, blocked(r, fmt.Sprintf("%s is denied by %q", r.Target.ID, pattern))
	}
	if _, allowed := matching(l.Allowed, names); len(l.Allowed) > 0 && !allowed {
		return nil, blocked(r, r.Target.ID+" is not among the apps that are allowed")
	}
	return nil, nil
}

// ofNoWindow reports whether a tool is about no window at all, such as one that
// lists the programs that run: it has no parameter for one.
func ofNoWindow(t *aai.Tool) bool { return !slices.Contains(t.Params.Order, t.Target) }

func blocked(r *aai.Request, why string) error {
	e := aai.Errorf(aai.PermissionDenied, "%s is blocked by security policy: %s", r.Tool.Name, why)
	e.Hint = "Only the person at this computer can change the lists, in their configuration (security.allowed_apps, security.denied_apps)."
	return e
}

// namesOf are all names by which an entry may mean the app, in lower case.
func namesOf(app *aai.App) []string {
	names := append([]string{app.ID}, app.Aliases...)
	names = append(names, strings.Split(app.Name, "|")...)
	if program, ok := strings.CutPrefix(app.ID, aai.DesktopApp+"/"); ok {
		names = append(names, program, path.Base(program))
	} else if host, id, ok := strings.Cut(app.ID, "/"); ok {
		names = append(names, host, id)
	}
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return names
}

// matching returns the first pattern that means one of the names.
func matching(patterns, names []string) (string, bool) {
	for _, pattern := range patterns {
		lower := strings.ToLower(strings.TrimSpace(pattern))
		for _, name := range names {
			if ok, err := path.Match(lower, name); name == lower || err == nil && ok {
				return pattern, true
			}
		}
	}
	return "", false
}

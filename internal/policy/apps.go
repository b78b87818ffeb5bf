package policy

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// AppLists is the gate for the configured lists of allowed and denied apps. An entry is a
// name, an ID, an alias, or a pattern of one (path.Match), such as "org.gnome.*". Case is
// ignored; the host of a web app matches too. Denied wins. With a list, calls on the whole
// screen, which shows every app, are refused unless "desktop" itself is in Allowed.
type AppLists struct {
	Allowed []string // empty: every app
	Denied  []string
}

// Check implements aai.Gate. It checks both the target app and the app that
// declares the tool.
func (l AppLists) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.ID == aai.BuiltinApp {
		return nil, nil
	}
	if len(l.Allowed)+len(l.Denied) == 0 {
		return nil, nil
	}
	if r.IsWholeScreen() {
		if coversWholeScreen(r.Tool) && !slices.Contains(l.Allowed, r.App.ID) {
			return nil, appDenied(r.App)
		}
		return nil, nil
	}
	if matchesAny(l.Denied, r.App) {
		return nil, appDenied(r.App)
	}
	return nil, l.CheckApp(r.Call.Target)
}

// CheckApp returns an error if the lists deny the app to every tool.
func (l AppLists) CheckApp(app *aai.App) error {
	if matchesAny(l.Denied, app) || app.Process.Browser != "" && matchesAny(l.Denied, browserOf(app)) || len(l.Allowed) > 0 && !matchesAny(l.Allowed, app) {
		return appDenied(app)
	}
	return nil
}

// browserOf returns the app of the browser that shows an open page. A denied browser denies its pages; an allowed one
// allows none.
func browserOf(page *aai.App) *aai.App {
	return &aai.App{ID: aai.DesktopApp + "/" + page.Process.Browser}
}

// coversWholeScreen reports whether a call of the tool without a window may affect any
// window. Tools without a window parameter cannot.
func coversWholeScreen(t *aai.Tool) bool {
	return t.Params.Source == nil || slices.Contains(t.Params.Order, t.Target)
}

func appDenied(app *aai.App) error {
	e := aai.Errorf(aai.PermissionDenied, "app %q is blocked by the security policy of this computer", aai.CleanLabel(app.ID, 60))
	e.Hint = "Only the person can change that: security.allowed_apps and security.denied_apps in the configuration."
	return e
}

// matchesAny reports whether an entry matches the app.
func matchesAny(entries []string, app *aai.App) bool {
	names := namesOf(app)
	return slices.ContainsFunc(entries, func(entry string) bool {
		entry = strings.ToLower(entry)
		return slices.ContainsFunc(names, func(name string) bool {
			matches, err := path.Match(strings.ReplaceAll(entry, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
			return name == entry || err == nil && matches
		})
	})
}

// namesOf returns all names by which a list may match the app, in lower case.
func namesOf(app *aai.App) []string {
	names := append([]string{app.ID, strings.TrimPrefix(app.ID, aai.DesktopApp+"/")}, app.Aliases...)
	names = append(names, strings.Split(app.Name, "|")...)
	if app.Source != "" && strings.HasPrefix(app.ID, aai.DesktopApp+"/") {
		names = append(names, app.Source, filepath.Base(app.Source))
	}
	if host, id, web := webHost(app); web {
		names = append(names, host, id)
	}
	for i, name := range names {
		names[i] = strings.ToLower(strings.TrimSpace(name))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// FirstInvalidPattern returns the first entry that is blank or not a valid pattern, and whether there
// is one.
func FirstInvalidPattern(entries []string) (entry string, found bool) {
	for _, entry := range entries {
		if _, err := path.Match(entry, ""); err != nil || strings.TrimSpace(entry) == "" {
			return entry, true
		}
	}
	return "", false
}

// DeniedTools returns a function that reports which tools a caller can never call: tools of apps that
// the lists deny, and tools that a person refused for good. Tools that need a question are not denied.
// For apps that operate other apps' windows the target is unknown before the call. If the store is
// unreadable, only the lists count; the gate then refuses calls.
func DeniedTools(store Store, lists AppLists) func(aai.Caller) func(*aai.App, *aai.Tool) bool {
	return func(caller aai.Caller) func(*aai.App, *aai.Tool) bool {
		grants, err := store.Grants()
		if err != nil {
			grants = nil
		}
		refused := slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return g.Decision != Deny })
		now := time.Now()
		return func(app *aai.App, tool *aai.Tool) bool {
			if app.OperatesOthers() || app.ID == aai.BuiltinApp {
				return false
			}
			r := &aai.Request{App: app, Tool: tool, Call: &aai.Call{Caller: caller, App: app.ID, Tool: tool.Name, Target: app}}
			if _, blocked := lists.Check(context.Background(), r); blocked != nil {
				return true
			}
			decided, _ := decide(refused, r, now)
			return decided != nil
		}
	}
}

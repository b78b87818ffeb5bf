package builtin

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/oauth"
)

// Names of the login tools.
const (
	LogIn       = "auth_login"
	LogOut      = "auth_logout"
	LoginStatus = "auth_status"
)

// loginTimeout limits the time for a login on a page or with a code.
const loginTimeout = 16 * time.Minute

// loginTools are the tools that manage logins to web apps.
type loginTools struct {
	logins *oauth.Authorizer // nil: no logins
	known  func() Catalog
	// modelLogin returns the login of a model's service of that name, or nil.
	modelLogin func(name string) *aai.Recipe
}

func (t loginTools) tools() []*aai.Tool {
	if t.logins == nil {
		return nil
	}
	begin := withPrecheck(t.precheckLogin, changeTool(LogIn, "Log in to a web app, or give it a key", loginParams, t.begin))
	begin.Privacy.Secret, begin.Limits.Timeout = []string{"secret", "client_secret"}, loginTimeout
	end := changeTool(LogOut, "Log out of a web app and forget its tokens and keys", logoutParams, t.end)
	end.Limits.Timeout = 2 * time.Minute
	return []*aai.Tool{begin, end, readTool(LoginStatus, "Say which web apps the person is known to, and how", loginStatusParams, t.status)}
}

const (
	loginParams = `{"type": "object", "additionalProperties": false, "required": ["app"], "properties": {
		"app": {"type": "string", "minLength": 1, "description": "The site's host, or an app id"},
		"login": {"type": "string", "description": "Which of the app's further logins, as auth_status lists them"},
		"secret": {"type": "object", "additionalProperties": {"type": "string"}, "description": "What auth_status asks for, by name"},
		"client_id": {"type": "string"}, "client_secret": {"type": "string"},
		"trust": {"type": "array", "items": {"type": "string"}, "description": "Hosts of other sites that may take part"}}}`
	logoutParams      = `{"type": "object", "additionalProperties": false, "required": ["app"], "properties": {"app": {"type": "string", "minLength": 1}}}`
	loginStatusParams = `{"type": "object", "additionalProperties": false, "properties": {"app": {"type": "string"}, "login": {"type": "string"}}}`
)

// precheckLogin returns the error that a login call would fail with.
func (t loginTools) precheckLogin(ctx context.Context, call *aai.Call) error {
	_, err := t.recipe(ctx, text(call, "app"), text(call, "login"))
	return err
}

// begin logs the person in. It stores given secrets, such as a key, first.
func (t loginTools) begin(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r, err := t.recipe(ctx, text(call, "app"), text(call, "login"))
	if err != nil {
		return nil, err
	}
	hosts, _ := call.Args["trust"].([]any)
	for _, host := range hosts {
		name, _ := host.(string)
		if err := t.logins.TrustHost(ctx, r, name); err != nil {
			return nil, err
		}
	}
	if id := text(call, "client_id"); id != "" {
		if err := t.logins.SetClient(ctx, r, id, text(call, "client_secret")); err != nil {
			return nil, err
		}
	}
	if given, _ := call.Args["secret"].(map[string]any); len(given) > 0 {
		values := make(map[string]string, len(given))
		for name, value := range given {
			values[name], _ = value.(string)
		}
		if err := t.logins.StoreCredentials(ctx, r, values); err != nil {
			return nil, err
		}
	}
	if err := t.logins.Login(ctx, r); err != nil {
		return nil, err
	}
	states, err := t.logins.Status(ctx, oauth.Host(r))
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: map[string]any{"host": oauth.Host(r), "logins": states}}, nil
}

func (t loginTools) end(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	name := text(call, "app")
	host := hostOf(name)
	if r, err := t.recipe(ctx, name, ""); err == nil {
		host = oauth.Host(r)
	} // else the app is gone; the tokens stored for its host can still be deleted
	bye, err := t.logins.Logout(ctx, host)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: bye}, nil
}

func (t loginTools) status(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	report := answer.LoginReport{}
	if name := text(call, "app"); name != "" {
		r, err := t.recipe(ctx, name, text(call, "login"))
		if err != nil {
			return nil, err
		}
		a := r.HTTP.Auth
		report = answer.LoginReport{
			Host: oauth.Host(r), App: r.App, Kind: a.Kind, Asks: oauth.RequiredFields(r), Untrusted: t.logins.UntrustedHosts(ctx, r),
			ObtainURL: cmp.Or(a.ObtainURL, a.LoginURL), Instructions: a.Instructions,
		}
		if app, err := t.known().Find(ctx, r.App); err == nil {
			for _, h := range app.Site.Logins {
				report.Further = append(report.Further, h.Auth.Login)
			}
		}
	}
	var err error
	if report.Logins, err = t.logins.Status(ctx, report.Host); err != nil {
		return nil, err
	}
	return &aai.Result{Data: report}, nil
}

// recipe finds the login recipe of the app with that id, name or host: the one of that name among
// several.
func (t loginTools) recipe(ctx context.Context, name, login string) (*aai.Recipe, error) {
	r, err := t.firstRecipe(ctx, name)
	if err != nil || login == "" {
		return r, err
	}
	app, err := t.known().Find(ctx, r.App)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, h := range app.Site.Logins {
		if names = append(names, h.Auth.Login); h.Auth.Login == login {
			return &aai.Recipe{App: app.ID, Platform: app.Platform, HTTP: h}, nil
		}
	}
	e := aai.Errorf(aai.InvalidParams, "login: %s has no login %q; expected one of its further logins", app.ID, aai.CleanLabel(login, 60))
	e.Candidates = names
	return nil, e
}

// firstRecipe finds the recipe of the app's first login.
func (t loginTools) firstRecipe(ctx context.Context, name string) (*aai.Recipe, error) {
	if t.modelLogin != nil {
		if r := t.modelLogin(name); r != nil {
			return r, nil
		}
		if strings.HasPrefix(name, "vlm:") {
			return nil, aai.Errorf(aai.InvalidParams, "%s: expected vlm: and the name of a service for pictures that takes a key; a server on this computer gets none over http", aai.CleanLabel(name, 60))
		}
	}
	host := hostOf(name)
	var found []*aai.Recipe
	var ids []string
	for _, app := range t.known().Apps() {
		if r := recipeOf(app); r != nil && (oauth.Host(r) == host || app.ID == name) {
			found, ids = append(found, r), append(ids, app.ID)
		}
	}
	if len(found) > 1 {
		e := aai.Errorf(aai.AmbiguousTarget, "%d apps are at %q; expected the id of one", len(found), aai.CleanLabel(name, 100))
		e.Candidates = ids
		return nil, e
	}
	if len(found) == 1 {
		return found[0], nil
	}
	app, err := t.known().Find(ctx, name)
	if err != nil {
		return nil, err
	}
	if r := recipeOf(app); r != nil {
		return r, nil
	}
	return nil, aai.Errorf(aai.InvalidParams, "%s asks nobody to log in", app.ID)
}

// recipeOf returns the login recipe of the app, or nil.
func recipeOf(app *aai.App) *aai.Recipe {
	if app.Server != nil && app.Server.MCP.URL != "" {
		return &aai.Recipe{Kind: app.Server.Kind, App: app.ID, Platform: app.Platform, HTTP: app.Server.MCP.Login()}
	}
	if app.Site.Auth == nil {
		return nil
	}
	return &aai.Recipe{App: app.ID, Platform: app.Platform, HTTP: &aai.HTTPRecipe{BaseURL: app.Site.BaseURL, Origin: app.Site.Origin, Auth: app.Site.Auth}}
}

// hostOf returns the host of typed, which is a host or a URL.
func hostOf(typed string) string {
	if !strings.Contains(typed, "://") {
		typed = "https://" + typed
	}
	u, err := url.Parse(typed)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Host), ":443")
}

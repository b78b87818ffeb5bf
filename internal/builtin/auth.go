package builtin

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
)

// The names of the tools about logins.
const (
	LogIn       = "auth_login"
	LogOut      = "auth_logout"
	LoginStatus = "auth_status"
)

// loginTimeout is how long a person may take to log in at a page or with a code.
const loginTimeout = 16 * time.Minute

// loginTools are the tools about how the person is known to web apps.
type loginTools struct {
	logins *oauth.Authorizer // nil: there are none
	known  func() Catalog
}

func (t loginTools) tools() []*aai.Tool {
	if t.logins == nil {
		return nil
	}
	begin := withPrecheck(t.precheckLogin, changeTool(LogIn, "Log in to a web app, or give it a key", loginParams, t.begin))
	begin.Secret, begin.Timeout = []string{"secret", "client_secret"}, loginTimeout
	end := changeTool(LogOut, "Log out of a web app and forget its tokens and keys", logoutParams, t.end)
	end.Timeout = 2 * time.Minute
	return []*aai.Tool{begin, end, readTool(LoginStatus, "Say which web apps the person is known to, and how", loginStatusParams, t.status)}
}

const (
	loginParams = `{"type": "object", "additionalProperties": false, "required": ["app"], "properties": {
		"app": {"type": "string", "minLength": 1, "description": "The site's host, or an app id"},
		"secret": {"type": "object", "additionalProperties": {"type": "string"}, "description": "What auth_status asks for, by name"},
		"client_id": {"type": "string"}, "client_secret": {"type": "string"},
		"trust": {"type": "array", "items": {"type": "string"}, "description": "Hosts of other sites that may take part"}}}`
	logoutParams      = `{"type": "object", "additionalProperties": false, "required": ["app"], "properties": {"app": {"type": "string", "minLength": 1}}}`
	loginStatusParams = `{"type": "object", "additionalProperties": false, "properties": {"app": {"type": "string"}}}`
)

// precheckLogin says why a call to log in would come to nothing.
func (t loginTools) precheckLogin(ctx context.Context, call *aai.Call) error {
	_, err := t.recipe(ctx, text(call, "app"))
	return err
}

// begin logs the person in. What they gave with it, such as a key, is kept first.
func (t loginTools) begin(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	r, err := t.recipe(ctx, text(call, "app"))
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
	if r, err := t.recipe(ctx, name); err == nil {
		host = oauth.Host(r)
	} // else the app is gone, and what is kept for its host stays to be forgotten
	bye, err := t.logins.Logout(ctx, host)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: bye}, nil
}

// loginReport is what auth_status answers.
type loginReport struct {
	Logins []oauth.LoginStatus `json:"logins"`
	// About one app alone:
	Host         string        `json:"host,omitempty"`
	App          string        `json:"app,omitempty"`
	Kind         string        `json:"kind,omitempty"`
	Asks         []oauth.Field `json:"asks,omitempty"`      // what a person gives once
	Untrusted    []string      `json:"untrusted,omitempty"` // hosts of other sites that nobody agreed to
	ObtainURL    string        `json:"obtain_url,omitempty"`
	Instructions string        `json:"instructions,omitempty"` // the app's words
}

func (t loginTools) status(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	report := loginReport{}
	if name := text(call, "app"); name != "" {
		r, err := t.recipe(ctx, name)
		if err != nil {
			return nil, err
		}
		a := r.HTTP.Auth
		report = loginReport{
			Host: oauth.Host(r), App: r.App, Kind: a.Kind, Asks: oauth.RequiredFields(r), Untrusted: t.logins.UntrustedHosts(ctx, r),
			ObtainURL: cmp.Or(a.ObtainURL, a.LoginURL), Instructions: a.Instructions,
		}
	}
	var err error
	if report.Logins, err = t.logins.Status(ctx, report.Host); err != nil {
		return nil, err
	}
	return &aai.Result{Data: report}, nil
}

// recipe finds how people are known to the app of that id, name or host.
func (t loginTools) recipe(ctx context.Context, name string) (*aai.Recipe, error) {
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

// recipeOf is how people are known to the app, or nil.
func recipeOf(app *aai.App) *aai.Recipe {
	if app.Server != nil && app.Server.MCP.URL != "" {
		return &aai.Recipe{Kind: app.Server.Kind, App: app.ID, Platform: app.Platform, HTTP: app.Server.MCP.Login()}
	}
	if app.Auth == nil {
		return nil
	}
	return &aai.Recipe{App: app.ID, Platform: app.Platform, HTTP: &aai.HTTPRecipe{BaseURL: app.BaseURL, Origin: app.Origin, Auth: app.Auth}}
}

// hostOf is the host in what a person typed: a host, or an address.
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

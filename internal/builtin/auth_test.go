package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// shops returns two apps at one site, and one that needs a key.
func shops() []*aai.App {
	auth := &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "X-Key", ObtainURL: "https://shop.example/keys", Instructions: "Click Keys"}
	return []*aai.App{
		{ID: "shop.example/com.example.shop", Name: "Shop", Platform: "web", Site: aai.Site{Origin: "https://shop.example", BaseURL: "https://api.other.example/v1", Auth: auth}},
		{ID: "org.example.one", Name: "One", Platform: "web", Site: aai.Site{BaseURL: "https://twin.example/1", Auth: auth}},
		{ID: "org.example.two", Name: "Two", Platform: "web", Site: aai.Site{BaseURL: "https://twin.example/2", Auth: auth}},
		{ID: "org.example.open", Name: "Open", Platform: "web", Site: aai.Site{BaseURL: "https://open.example"}},
	}
}

type authReport struct {
	Host, Kind   string
	Asks         []struct{ Name, Label string }
	Untrusted    []string
	ObtainURL    string `json:"obtain_url"`
	Instructions string
	Logins       []struct{ Host, App, State string }
}

func report(t *testing.T, w *world, args string) authReport {
	t.Helper()
	b, err := json.Marshal(w.callBuiltin(t, builtin.LoginStatus, args).Data)
	var r authReport
	err = errors.Join(err, json.Unmarshal(b, &r))
	assert.NilError(t, err)
	return r
}

// TestKeyOfAnApp checks the fields, the trusted host, the key and the logout. The key is in
// neither the journal nor a result.
func TestKeyOfAnApp(t *testing.T) {
	const key = "canary-K3Y"
	w := newWorld(t, nil)
	w.otherApps = shops()
	w.open()
	before := report(t, w, `{"app": "https://shop.example/some/page"}`)
	assert.Check(t, is.Equal(fmt.Sprint(before), "{shop.example apiKey [{key API key}] [api.other.example] https://shop.example/keys Click Keys []}"))
	person := aai.Caller{Door: aai.DoorCLI, Name: "terminal"}
	e := w.refuses(t, aai.AuthInvalid, person, aai.BuiltinApp, builtin.LogIn, `{"app": "shop.example", "secret": {"key": "`+key+`"}}`)
	assert.Assert(t, is.Contains(e.Hint, "--trust api.other.example"), "%+v", e)
	result, err := w.do(t, person, aai.BuiltinApp, builtin.LogIn, `{"app": "shop.example", "secret": {"key": "`+key+`"}, "trust": ["api.other.example"]}`)
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, !strings.Contains(fmt.Sprint(result.Data), key), "%+v", result)
	after := report(t, w, `{}`)
	assert.Assert(t, is.Len(after.Logins, 1), "%+v", after)
	assert.Equal(t, after.Logins[0].State, "key kept", "%+v", after)
	assert.Equal(t, after.Logins[0].Host, "shop.example", "%+v", after)
	text, err := os.ReadFile(w.journal)
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(string(text), key), "the journal holds the key, or nothing: %v", err)
	assert.Assert(t, is.Contains(string(text), `"redacted":true`))
	bye := fmt.Sprint(loginJSON(t, w.callBuiltin(t, builtin.LogOut, `{"app": "shop.example"}`).Data))
	if bye != `{"host":"shop.example","forgotten":1,"revoked":0}` || len(report(t, w, `{}`).Logins) != 0 {
		t.Errorf("%s; %+v", bye, report(t, w, `{}`))
	}
	// A removed app can be logged out.
	w.otherApps = nil
	w.open()
	w.callBuiltin(t, builtin.LogOut, `{"app": "shop.example"}`)
}

func loginJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	assert.NilError(t, err)
	return string(b)
}

// TestWhichAppIsMeant checks that a host selects a single app, and an id always does. An app
// without login says so.
func TestWhichAppIsMeant(t *testing.T) {
	w := newWorld(t, nil)
	w.otherApps = shops()
	w.open()
	person := aai.Caller{Door: aai.DoorCLI}
	for args, want := range map[string]aai.Code{
		`{"app": "twin.example"}`: aai.AmbiguousTarget, `{"app": "open.example"}`: aai.AppNotFound, `{"app": "org.example.open"}`: aai.InvalidParams,
		`{"app": "nosuch.example"}`: aai.AppNotFound, `{"app": "://"}`: aai.AppNotFound,
	} {
		_ = w.refuses(t, want, person, aai.BuiltinApp, builtin.LoginStatus, args)
	}
	r := report(t, w, `{"app": "org.example.two"}`)
	assert.Check(t, is.Equal(r.Host, "twin.example"), "%+v", r)
	assert.Check(t, r.Untrusted == nil, "%+v", r)
}

// TestLogInByDevice checks that the tool waits for the person, and meanwhile reports the page to
// visit.
func TestLogInByDevice(t *testing.T) {
	w := newWorld(t, nil)
	done := make(chan struct{})
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("POST /device", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"device_code": "d", "user_code": "ABCD-1234", "verification_uri": server.URL + "/go", "expires_in": 600, "interval": 0.05})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-done:
			answer(w, 200, map[string]any{"access_token": "t", "token_type": "Bearer"})
		default:
			answer(w, 400, map[string]any{"error": "authorization_pending"})
		}
	})
	w.otherApps = []*aai.App{{ID: "org.example.phone", Platform: "web", Site: aai.Site{BaseURL: server.URL, Auth: &aai.AuthRecipe{
		Kind: aai.AuthOAuth2, AuthorizationEndpoint: server.URL + "/authorize", TokenEndpoint: server.URL + "/token", DeviceEndpoint: server.URL + "/device", PKCE: "S256",
	}}}}
	w.open()
	said := make(chan string, 100)
	ctx := gateway.WithProgress(t.Context(), func(_, _ float64, message string) { said <- message })
	ended := make(chan error, 1)
	go func() {
		_, err := w.gateway.Do(ctx, &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI}, App: aai.BuiltinApp, Tool: builtin.LogIn, Args: map[string]any{"app": "org.example.phone"}})
		ended <- err
	}()
	for message := range said {
		if strings.Contains(message, "visit "+server.URL+"/go and type ABCD-1234") {
			break
		}
	}
	close(done)
	assert.NilError(t, <-ended)
	u, err := url.Parse(server.URL)
	assert.NilError(t, err)
	r := report(t, w, `{"app": "`+u.Host+`"}`)
	assert.Assert(t, is.Len(r.Logins, 1), "%+v", r)
	assert.Equal(t, r.Logins[0].State, "logged in", "%+v", r)
}

// TestKeyOfAModel checks that the key of a model's service is kept under its name, sealed, and forgotten again.
func TestKeyOfAModel(t *testing.T) {
	const key = "canary-M0D3L"
	w := newWorld(t, nil)
	w.deps.ModelLogin = func(name string) *aai.Recipe {
		if name != "vlm:eyes" {
			return nil
		}
		auth := &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "X-Api-Key", ObtainURL: "https://eyes.example/keys"}
		return &aai.Recipe{App: name, Platform: "web", HTTP: &aai.HTTPRecipe{BaseURL: "https://api.eyes.example", Auth: auth}}
	}
	w.open()
	before := report(t, w, `{"app": "vlm:eyes"}`)
	assert.Check(t, is.Equal(fmt.Sprint(before), "{api.eyes.example apiKey [{key API key}] [] https://eyes.example/keys  []}"))
	result, err := w.do(t, aai.Caller{Door: aai.DoorCLI, Name: "terminal"}, aai.BuiltinApp, builtin.LogIn, `{"app": "vlm:eyes", "secret": {"key": "`+key+`"}}`)
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, !strings.Contains(fmt.Sprint(result.Data), key), "%+v", result)
	after := report(t, w, `{"app": "vlm:eyes"}`)
	assert.Assert(t, is.Len(after.Logins, 1), "%+v", after)
	assert.Equal(t, after.Logins[0].App, "vlm:eyes", "%+v", after)
	text, err := os.ReadFile(w.journal)
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(string(text), key), "the journal holds the key, or nothing: %v", err)
	w.callBuiltin(t, builtin.LogOut, `{"app": "vlm:eyes"}`)
	after = report(t, w, `{"app": "vlm:eyes"}`)
	assert.Check(t, is.Len(after.Logins, 0), "%+v", after)
}

// noKeychain is an environment without a place for a key.
func noKeychain(name string) string {
	if name == "XDG_RUNTIME_DIR" {
		return "/nonexistent"
	}
	return ""
}

func statusOf(t *testing.T, w *world) answer.Keychain {
	t.Helper()
	b, err := json.Marshal(w.callBuiltin(t, builtin.Keychain, `{}`).Data)
	var s answer.Keychain
	err = errors.Join(err, json.Unmarshal(b, &s))
	assert.NilError(t, err)
	return s
}

// TestKeychainStatus checks that the status reflects the vault, and holds no secret.
func TestKeychainStatus(t *testing.T) {
	w := newWorld(t, nil)
	folder := filepath.Join(t.TempDir(), "secrets")
	w.deps.Vault = secrets.New(secrets.Config{Folder: folder, Getenv: noKeychain, AllowInsecureFile: true})
	w.deps.UnsealedReason = func() string { return "" }
	w.open()
	s := statusOf(t, w)
	assert.Assert(t, !s.Exists, "before: %+v", s)
	assert.Equal(t, s.Place, "insecure file", "%+v", s)
	assert.Equal(t, s.Folder, folder, "%+v", s)
	assert.Equal(t, s.Problem, "", "%+v", s)
	assert.Equal(t, s.Unsealed, "", "%+v", s)
	assert.Assert(t, is.Len(s.Places, 5), "%+v", s)
	assert.NilError(t, w.deps.Vault.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("canary"), nil }))
	s = statusOf(t, w)
	assert.Assert(t, s.Exists, "after: %+v", s)
	assert.Equal(t, s.Records, 1, "%+v", s)
	assert.Equal(t, len(s.Key), 8, "%+v", s)
	assert.Assert(t, s.Warning != "", "after: %+v", s)
	text := fmt.Sprintf("%+v", s)
	assert.Check(t, !strings.Contains(text, "canary"), text)
}

// TestNothingIsSealed checks the reason for unsealed storage, also of consents.
func TestNothingIsSealed(t *testing.T) {
	w := newWorld(t, apps())
	w.deps.Vault = secrets.New(secrets.Config{Folder: filepath.Join(t.TempDir(), "secrets"), Getenv: noKeychain})
	w.deps.UnsealedReason = func() string { return "no key" }
	w.open()
	s := statusOf(t, w)
	assert.Assert(t, !s.Exists, "%+v", s)
	assert.Equal(t, s.Place, "", "%+v", s)
	assert.Assert(t, is.Contains(s.Problem, "no place here can keep the key"), "%+v", s)
	assert.Equal(t, s.Unsealed, s.Problem, "%+v", s)
	assert.Assert(t, is.Contains(s.Hint, "make a key file"), "%+v", s)
	warning := w.callBuiltin(t, builtin.ListConsents, `{}`).Warning
	assert.Check(t, is.Equal(warning, "the consents are in a plain file: "+s.Problem), "the list of consents warns: %q", warning)
	w.deps.UnsealedReason = func() string { return "" }
	w.open()
	warning = w.callBuiltin(t, builtin.ListConsents, `{}`).Warning
	assert.Check(t, is.Equal(warning, ""), "the list of consents warns: %q", warning)
}

func TestDiscoverGivesTheGuide(t *testing.T) {
	w := newWorld(t, nil)
	result, err := w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.com"}`)
	assert.NilError(t, err)
	assert.Equal(t, result.UntrustedSource, "https://example.com", "%+v", result)
	assert.Assert(t, is.Contains(result.Text, "- id: example.com/com.example.notes"), "%+v", result)
	assert.Assert(t, result.Data != nil, "%+v", result)
	_ = w.refuses(t, aai.AppNotRunning, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.org"}`)
	_ = w.refuses(t, aai.InvalidParams, agent(), aai.BuiltinApp, builtin.Discover, `{}`)
}

// TestHintsStandBesideTheGuide checks that hints accompany the app, replace a missing app, and
// never replace the error of an unreachable site.
func TestHintsStandBesideTheGuide(t *testing.T) {
	w := newWorld(t, nil)
	var asked []string
	var failure error
	hints := any([]string{"llms.txt"})
	w.deps.SiteHints = func(_ context.Context, address string) (string, any, error) {
		asked = append(asked, address)
		return "## Hints", hints, failure
	}
	w.open()
	with := func(address string) (*aai.Result, error) {
		return w.do(t, person(), aai.BuiltinApp, builtin.Discover, `{"url": "`+address+`", "hints": true}`)
	}
	result, err := with("example.com")
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, is.Contains(result.Text, "- id: example.com/com.example.notes"), "%+v", result)
	assert.Assert(t, strings.HasSuffix(result.Text, "## Hints"), "%+v", result)
	data, _ := result.Data.(map[string]any)
	assert.Assert(t, data["hints"] != nil, "the data is %v", data)
	assert.Assert(t, data["app"] != nil, "the data is %v", data)
	result, err = with("none.example")
	assert.NilError(t, err, "%+v", result)
	assert.Equal(t, result.Text, "## Hints", "%+v", result)
	assert.Assert(t, result.Warning != "", "a site without an app: %+v, %v", result, err)
	assert.Assert(t, result.UntrustedSource != "", "a site without an app: %+v, %v", result, err)
	hints = nil
	_, err = with("none.example")
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.AppNotFound), "a site with nothing: %v", err)
	hints, failure = nil, aai.Errorf(aai.RateLimited, "too often")
	result, err = with("example.com")
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, result.Warning != "", "hints that failed: %+v, %v", result, err)
	assert.Assert(t, !strings.Contains(result.Text, "## Hints"), "hints that failed: %+v, %v", result, err)
	asked = nil
	_, err = with("example.org")
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.AppNotRunning), err)
	assert.Check(t, is.Len(asked, 0), err)
	_ = w.refuses(t, aai.PermissionDenied, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.com", "hints": true}`)
	assert.Check(t, is.Len(asked, 0), err)
}

// TestOnlyThePersonNamesSites: an agent that names sites could redirect "my bank".
func TestOnlyThePersonNamesSites(t *testing.T) {
	w := newWorld(t, nil)
	w.screen.answer = "no"
	_, err := w.do(t, agent(), aai.BuiltinApp, builtin.NameSite, `{"name": "bank", "url": "evil.example"}`)
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.PermissionDenied), err)
	w.screen.answer = "yes"
	w.callBuiltin(t, builtin.NameSite, `{"name": "bank", "url": "bank.example"}`)
	assert.Check(t, slices.Equal(w.web.names, []string{"bank bank.example"}), "the names are %q", w.web.names)
}

// TestNoWebNoTools checks that a gateway without a web has no web tools.
func TestNoWebNoTools(t *testing.T) {
	w := newWorld(t, nil)
	w.deps.Web = nil
	w.open()
	app, err := w.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err, app)
	assert.Assert(t, app.Tool(builtin.Discover) == nil, app)
	assert.Assert(t, app.Tool(builtin.NameSite) == nil, app)
}

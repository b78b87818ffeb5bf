package builtin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/gateway"
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
	_, err := w.do(t, person, aai.BuiltinApp, builtin.LogIn, `{"app": "shop.example", "secret": {"key": "`+key+`"}}`)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "a host that nobody agreed to: %v", err)
	assert.Equal(t, e.Code, aai.AuthInvalid, err)
	assert.Assert(t, is.Contains(e.Hint, "--trust api.other.example"), err)
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
		_, err := w.do(t, person, aai.BuiltinApp, builtin.LoginStatus, args)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v", args, err)
		assert.Equal(t, e.Code, want, "%s %v", args, err)
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

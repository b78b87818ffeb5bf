package builtin_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
)

func TestDiscoverGivesTheGuide(t *testing.T) {
	w := newWorld(t, nil)
	result, err := w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.com"}`)
	if err != nil {
		t.Fatal(err)
	}
	if result.UntrustedSource != "https://example.com" || !strings.Contains(result.Text, "- id: example.com/com.example.notes") || result.Data == nil {
		t.Errorf("got %+v", result)
	}
	if _, err := w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.org"}`); aai.AsError(err).Code != aai.AppNotRunning {
		t.Errorf("got %v", err)
	}
	if _, err := w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{}`); aai.AsError(err).Code != aai.InvalidParams {
		t.Errorf("got %v", err)
	}
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
	if err != nil || !strings.Contains(result.Text, "- id: example.com/com.example.notes") || !strings.HasSuffix(result.Text, "## Hints") {
		t.Fatalf("%+v, %v", result, err)
	}
	data, _ := result.Data.(map[string]any)
	if data["hints"] == nil || data["app"] == nil {
		t.Errorf("the data is %v", data)
	}
	if result, err = with("none.example"); err != nil || result.Text != "## Hints" || result.Warning == "" || result.UntrustedSource == "" {
		t.Errorf("a site without an app: %+v, %v", result, err)
	}
	hints = nil
	if _, err = with("none.example"); aai.AsError(err).Code != aai.AppNotFound {
		t.Errorf("a site with nothing: %v", err)
	}
	hints, failure = nil, aai.Errorf(aai.RateLimited, "too often")
	if result, err = with("example.com"); err != nil || result.Warning == "" || strings.Contains(result.Text, "## Hints") {
		t.Errorf("hints that failed: %+v, %v", result, err)
	}
	asked = nil
	if _, err = with("example.org"); aai.AsError(err).Code != aai.AppNotRunning || len(asked) > 0 {
		t.Errorf("a site that cannot be reached: %v, asked %q", err, asked)
	}
	if _, err := w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.com", "hints": true}`); aai.AsError(err).Code != aai.PermissionDenied || len(asked) > 0 {
		t.Errorf("an agent: %v, asked %q", err, asked)
	}
}

// TestOnlyThePersonNamesSites: an agent that names sites could redirect "my bank".
func TestOnlyThePersonNamesSites(t *testing.T) {
	w := newWorld(t, nil)
	w.screen.answer = "no"
	if _, err := w.do(t, agent(), aai.BuiltinApp, builtin.NameSite, `{"name": "bank", "url": "evil.example"}`); aai.AsError(err).Code != aai.PermissionDenied {
		t.Errorf("got %v", err)
	}
	w.screen.answer = "yes"
	w.callBuiltin(t, builtin.NameSite, `{"name": "bank", "url": "bank.example"}`)
	if !slices.Equal(w.web.names, []string{"bank bank.example"}) {
		t.Errorf("the names are %q", w.web.names)
	}
}

// TestNoWebNoTools checks that a gateway without a web has no web tools.
func TestNoWebNoTools(t *testing.T) {
	w := newWorld(t, nil)
	w.deps.Web = nil
	w.open()
	app, err := w.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	if err != nil || app.Tool(builtin.Discover) != nil || app.Tool(builtin.NameSite) != nil {
		t.Errorf("%v, %v", app, err)
	}
}

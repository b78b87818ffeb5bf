package builtin_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
)

func TestDiscoverGivesTheGuide(t *testing.T) {
	w := newWorld(t, nil)
	result, err := w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.com"}`)
	assert.NilError(t, err)
	assert.Equal(t, result.UntrustedSource, "https://example.com", "%+v", result)
	assert.Assert(t, is.Contains(result.Text, "- id: example.com/com.example.notes"), "%+v", result)
	assert.Assert(t, result.Data != nil, "%+v", result)
	_, err = w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.org"}`)
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.AppNotRunning), err)
	_, err = w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{}`)
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.InvalidParams), err)
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
	_, err = w.do(t, agent(), aai.BuiltinApp, builtin.Discover, `{"url": "example.com", "hints": true}`)
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.PermissionDenied), err)
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

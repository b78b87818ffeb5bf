package webapi

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

func TestCompileNamesTheField(t *testing.T) {
	d := newDriver(t)
	for _, c := range []struct {
		field  string
		change func(*aai.Recipe)
	}{
		{"execution", func(r *aai.Recipe) { r.HTTP = nil }},
		{"method", func(r *aai.Recipe) { r.HTTP.Method = "get" }},
		{"method", func(r *aai.Recipe) { r.HTTP.Method = "CONNECT" }},
		{"method", func(r *aai.Recipe) { r.HTTP.Method = "GET / HTTP/1.1\r\nHost: evil" }},
		{"output_parser", func(r *aai.Recipe) { r.OutputParser = "xml" }},
		{"parameters", func(r *aai.Recipe) { r.Params = []string{"id", "x", "id"} }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "//api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "http://api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "http://127.0.0.1.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "ftp://127.0.0.1" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "file:///etc/passwd" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://ann:secret@api.example.com" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com?x=1" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com?" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com#x" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com/a/../b" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com/a/%2e%2e/b" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com/a//b" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://аpple.com" }}, // a Cyrillic а
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://[fe80::1%25eth0]" }},
		{"base_url", func(r *aai.Recipe) { r.HTTP.BaseURL = "https://api.example.com:x" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "items" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "//evil.example.com/" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = `/\evil.example.com` }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/../b" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/%2E%2e" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/..%2fb" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a/." }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a?admin=1" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a#b" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/a%zz" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{nobody}" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{id" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/id}" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{}" }},
		{"path", func(r *aai.Recipe) { r.HTTP.Path = "/{{id}}" }},
		{"headers.Content-Type", func(r *aai.Recipe) {
			r.HTTP.Method, r.HTTP.Headers = http.MethodPost, map[string]string{"Content-Type": "text/xml"}
		}},
		{"headers.x-a", func(r *aai.Recipe) { r.HTTP.Headers = map[string]string{"X-A": "1", "x-a": "2"} }},
		{"headers.X-Key", func(r *aai.Recipe) {
			r.HTTP.Headers = map[string]string{"X-Key": "mine"}
			r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "x-key"}
		}},
		{"parameters", func(r *aai.Recipe) {
			r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "query", Name: "q"}
		}},
	} {
		r := recipe("https://api.example.com/v1", http.MethodGet, "/items/{id}", "id", "q")
		c.change(r)
		action, err := d.Compile(r)
		e := aai.AsError(err)
		if action != nil || e == nil || e.Code != aai.DescriptorInvalid || !strings.HasPrefix(e.Message, c.field+":") {
			t.Errorf("expected AAI_JSON_INVALID of %s for %+v, got %v", c.field, r.HTTP, err)
		}
		if e != nil && strings.Contains(e.Message, "secret") {
			t.Errorf("a password is told: %s", e.Message)
		}
	}
}

func TestCompileTakes(t *testing.T) {
	d := newDriver(t)
	for _, c := range []struct{ base, path string }{
		{"https://api.example.com", "/"},
		{"https://api.example.com/", "/items/"},
		{"https://api.example.com:8443/v1/", "/items/{id}"},
		{"HTTPS://API.example.com/v1", "/items/{id}.json"},
		{"https://xn--pple-43d.com", "/items/{id}:cancel"},
		{"https://[2001:db8::1]/v1", "/{id}-{q}"},
		{"http://localhost:8080", "/a%20b/{id}"},
		{"http://127.0.0.1:8080/x", "/käse"},
		{"http://[::1]", "/a..b/..."},
	} {
		_, err := d.Compile(recipe(c.base, http.MethodGet, c.path, "id", "q"))
		assert.Check(t, err, "%s %s", c.base, c.path)
	}
}

// A driver without a client reaches nothing, and fails at Compile.
func TestWithoutAClient(t *testing.T) {
	_, err := New(Config{}).Compile(recipe("https://api.example.com", http.MethodGet, "/"))
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.PermissionDenied, err)
}

func TestOriginOf(t *testing.T) {
	for base, want := range map[string]string{
		"https://API.example.com:443/v1": "https://api.example.com",
		"https://api.example.com:8443":   "https://api.example.com:8443",
		"http://localhost:80":            "http://localhost",
		"http://[::1]:8080/":             "http://[::1]:8080",
	} {
		a, err := newBase(base, "")
		assert.NilError(t, err, "%s %+v", base, a)
		assert.Equal(t, a.origin, want, "%s %+v", base, a)
	}
}

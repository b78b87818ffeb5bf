package oauth_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
)

// untouched configures a client that must not be used.
func untouched(dials *atomic.Int64) func(*world, *loginConfig) {
	return func(_ *world, c *loginConfig) {
		c.Client = &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, errors.New("nothing may be dialled")
		}}}
	}
}

func TestRow01OnlyHTTPS(t *testing.T) {
	for _, c := range []struct {
		name   string
		dev    bool
		change func(*aai.HTTPRecipe)
	}{
		{"token endpoint", false, func(h *aai.HTTPRecipe) { h.Auth.TokenEndpoint = "http://auth.example.com/token" }},
		{"token endpoint, for developers too", true, func(h *aai.HTTPRecipe) { h.Auth.TokenEndpoint = "http://auth.example.com/token" }},
		{"authorization endpoint", false, func(h *aai.HTTPRecipe) { h.Auth.AuthorizationEndpoint = "http://example.com/authorize" }},
		{"revocation endpoint", false, func(h *aai.HTTPRecipe) { h.Auth.RevocationEndpoint = "http://example.com/revoke" }},
		{"device endpoint", false, func(h *aai.HTTPRecipe) { h.Auth.DeviceEndpoint = "http://example.com/device" }},
		{"base_url", true, func(h *aai.HTTPRecipe) { h.BaseURL = "http://example.com/v1" }},
		{"loopback", false, func(h *aai.HTTPRecipe) { h.Auth.TokenEndpoint = "http://127.0.0.1:1/token" }},
		{"another scheme", true, func(h *aai.HTTPRecipe) { h.Auth.TokenEndpoint = "ftp://example.com/token" }},
		{"script", true, func(h *aai.HTTPRecipe) { h.Auth.AuthorizationEndpoint = "javascript:alert(1)" }},
		{"a user in it", false, func(h *aai.HTTPRecipe) { h.Auth.TokenEndpoint = "https://user@example.com/token" }},
		{"a fragment", false, func(h *aai.HTTPRecipe) { h.Auth.TokenEndpoint = "https://example.com/token#x" }},
		{"no host", false, func(h *aai.HTTPRecipe) { h.Auth.TokenEndpoint = "https:///token" }},
	} {
		var dials atomic.Int64
		w := &world{t: t, secrets: &folder{path: t.TempDir()}}
		w.logins = w.open(untouched(&dials), func(_ *world, cfg *loginConfig) { cfg.AllowLoopbackHTTP = c.dev })
		r := webRecipe("https://example.com")
		c.change(r.HTTP)
		w.recipe = r
		req, err := http.NewRequest(http.MethodGet, r.HTTP.BaseURL+"/things", nil)
		assert.NilError(t, err)
		ends(t, w.logins.Authorize(t.Context(), r, req), aai.AuthInvalid)
		if n := dials.Load(); n != 0 || w.windows.Load() != 0 || len(w.secrets.all()) != 0 {
			t.Errorf("%s: %d connections, %d windows", c.name, n, w.windows.Load())
		}
	}
}

// webRecipe returns the recipe of a web app with all hosts in one site.
func webRecipe(origin string) *aai.Recipe {
	return &aai.Recipe{App: "com.example.app", Tool: "list", Platform: "web", HTTP: &aai.HTTPRecipe{
		Origin: origin, BaseURL: "https://api.example.com/v1", Method: http.MethodGet,
		Auth: &aai.AuthRecipe{Kind: aai.AuthOAuth2, AuthorizationEndpoint: "https://auth.example.com/authorize", TokenEndpoint: "https://auth.example.com/token", PKCE: "S256"},
	}}
}

func TestRow02WhatABrowserIsGiven(t *testing.T) {
	for _, bad := range []string{
		"", "-a", "--version", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https:", "https:opaque", "//example.com", "example.com",
		"http://example.com/", "http://127.0.0.1.example.com/", "https://user:pass@example.com/", "vbscript:x", "ms-settings:", "https://exa mple.com/",
		"https://example.com\n/", "https://$(id).example.com/", "https://`id`/", "https://a&calc/", "\"https://example.com/\"", " https://example.com/", "https://ex'ample.com/",
	} {
		if safe, err := oauth.BrowserAddress(bad); err == nil {
			t.Errorf("%q is opened as %s", bad, safe)
		} else if aai.AsError(err).Code != aai.AuthInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for given, want := range map[string]string{
		"https://example.com/a?b=c&d=e":       "https://example.com/a?b=c&d=e",
		"https://example.com/a?b=$(id)":       "https://example.com/a?b=%24%28id%29",
		"https://example.com/`id`":            "https://example.com/%60id%60",
		"https://example.com/?x=\"&calc":      "https://example.com/?x=%22&calc",
		"https://example.com/?x='|^<>":        "https://example.com/?x=%27%7C%5E%3C%3E",
		"https://example.com/ü?q=ü":           "https://example.com/%C3%BC?q=%C3%BC",
		"https://example.com/a#-fragment":     "https://example.com/a",
		"http://127.0.0.1:80/x":               "http://127.0.0.1:80/x",
		"HTTPS://EXAMPLE.COM/":                "https://EXAMPLE.COM/",
		"https://[::1]:8443/x":                "https://[::1]:8443/x",
		"https://example.com/%2e%2e/?a=%26b":  "https://example.com/%2e%2e/?a=%26b",
		"https://xn--bcher-kva.example/!*();": "https://xn--bcher-kva.example/%21%2A%28%29;",
	} {
		safe, err := oauth.BrowserAddress(given)
		assert.NilError(t, err, "%q", given)
		assert.Equal(t, safe, want, "%q", given)
	}
}

func FuzzRow02BrowserAddress(f *testing.F) {
	for _, seed := range []string{"https://example.com/&calc", "https://example.com/$(id)", "-a", "https://e/`x`", "http://127.0.0.1/?a=%zz", "https://a/\x00", "https://[::1]%25/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		safe, err := oauth.BrowserAddress(address)
		if err != nil {
			return
		}
		u, err := url.Parse(safe)
		assert.NilError(t, err, "%q %q", address, safe)
		assert.Assert(t, u.Host != "", "%q became %q", address, safe)
		assert.Assert(t, u.Scheme == "https" || u.Scheme == "http", "%q became %q", address, safe)
		assert.Assert(t, strings.HasPrefix(safe, "https://") || strings.HasPrefix(safe, "http://127.") || strings.HasPrefix(safe, "http://[::1]") || strings.HasPrefix(strings.ToLower(safe), "http://localhost") || strings.HasPrefix(safe, "http://["), "%q became %q", address, safe)
		assert.Assert(t, !strings.ContainsAny(safe, " \t\r\n\x00\"'`$()<>|^\\{}!*"), "%q became %q", address, safe)
		name, args := oauth.BrowserCommand(safe)
		assert.Assert(t, name != "", "%q is started as %q %q", address, name, args)
		assert.Equal(t, args[len(args)-1], safe, "%q %q %q", address, name, args)
		assert.Assert(t, !strings.HasPrefix(args[0], "-"), "%q is started as %q %q", address, name, args)
		again, err := oauth.BrowserAddress(safe)
		assert.NilError(t, err, "%q", address)
		assert.Equal(t, again, safe, "%q", address)
	})
}

// TestRow05TheirOwnBrowser: the system's own program opens the page and gets the address as one
// argument; there is no web view and no shell.
func TestRow05TheirOwnBrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		name, args := oauth.BrowserCommand("https://example.com/")
		assert.Check(t, name != "", "the browser is %q %q", name, args)
		assert.Check(t, len(args) != 0, "the browser is %q %q", name, args)
		return
	}
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	script := "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; done > " + seen + ".new && mv " + seen + ".new " + seen + "\n"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	assert.NilError(t, oauth.OpenBrowser(t.Context(), "https://example.com/a?b=$(touch "+dir+"/bad)&c=`id`", nil))
	got, err := os.ReadFile(seen)
	assert.NilError(t, err)
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	assert.Assert(t, is.Len(lines, 1))
	assert.Assert(t, strings.HasPrefix(lines[0], "https://example.com/a?b=%24%28touch%20"), "the program got %q", lines)
	assert.NilError(t, oauth.OpenFile(t.Context(), "/home/a `id`/50% x/page.html", nil))
	got, err = os.ReadFile(seen)
	assert.NilError(t, err, "%q", got)
	assert.Equal(t, string(got), "file:///home/a%20%60id%60/50%25%20x/page.html\n", "%q", got)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nexit 3\n"), 0o700))
	assert.Check(t, oauth.OpenBrowser(t.Context(), "https://example.com/", nil) != nil, "a program that fails passes for one that works")
}

// TestForeignHosts: a descriptor must not send logins to another site unless the user agreed, and
// a request must not carry a token to any host but base_url.
func TestForeignHosts(t *testing.T) {
	var dials atomic.Int64
	w := &world{t: t, secrets: &folder{path: t.TempDir()}}
	l := w.open(untouched(&dials), idleBrowser)
	r := webRecipe("https://example.com")
	hosts := oauth.ForeignHosts(r)
	assert.Check(t, is.Len(hosts, 0), "foreign are %q", hosts)
	r.HTTP.Auth.TokenEndpoint, r.HTTP.BaseURL = "https://login.other.org:8443/token", "https://api.third.net/v1"
	hosts = oauth.ForeignHosts(r)
	assert.Check(t, is.Equal(strings.Join(hosts, " "), "api.third.net login.other.org:8443"), "foreign are %q", hosts)
	ask := func(l *oauth.Authorizer, address string) error {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		assert.NilError(t, err)
		return l.Authorize(contextWithNearDeadline(t), r, req)
	}
	e := ends(t, ask(l, "https://api.third.net/v1/x"), aai.AuthInvalid)
	if !strings.Contains(e.Message, "api.third.net") || !strings.Contains(e.Hint, "aai-gateway auth login example.com --trust api.third.net") || dials.Load() != 0 {
		t.Errorf("%v; %s; %d connections", e.Message, e.Hint, dials.Load())
	}
	err := l.TrustHost(t.Context(), r, "evil.example")
	assert.Assert(t, aai.AsError(err) != nil, "a host that takes no part is trusted: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams, err)
	for _, host := range oauth.ForeignHosts(r) {
		assert.NilError(t, l.TrustHost(t.Context(), r, host))
	}
	ends(t, ask(l, "https://api.third.net/v1/x"), aai.AppNotRunning) // authorized, but nothing may be dialled
	other := *r
	otherHTTP := *r.HTTP
	otherHTTP.Origin = "https://evil.example"
	other.HTTP = &otherHTTP
	req, _ := http.NewRequest(http.MethodGet, "https://api.third.net/v1/x", nil)
	ends(t, l.Authorize(t.Context(), &other, req), aai.AuthInvalid) // trusted only for example.com
	configured := w.open(untouched(&dials), idleBrowser, func(w *world, c *loginConfig) {
		w.secrets = &folder{path: t.TempDir()}
		c.Secrets, c.Sites = w.secrets, map[string]oauth.SiteSettings{"example.com": {Hosts: oauth.ForeignHosts(r)}}
	})
	ends(t, ask(configured, "https://api.third.net/v1/x"), aai.AppNotRunning)
	for _, elsewhere := range []string{"https://api.third.net:444/x", "http://api.third.net/x", "https://example.com/x", "https://a@api.third.net/x"} {
		ends(t, ask(l, elsewhere), aai.AuthInvalid)
	}
}

package catalog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// webApp returns a descriptor of a web app with the auth given as JSON; without any if it is "".
func webApp(auth string) string {
	if auth != "" {
		auth = `"auth": ` + auth + `,`
	}
	return `{"schema_version": "1.0", "version": "1.0.0", "platform": "web", "app": {"id": "com.example.api", "name": "A", "description": "D"},
		"execution": {"type": "http", "base_url": "https://api.example.com/v1"}, ` + auth + `
		"tools": [{"name": "t", "description": "D", "parameters": {}, "path": "/t", "method": "GET"}]}`
}

// TestAuthKinds checks every kind, in the spellings of every version of the protocol.
func TestAuthKinds(t *testing.T) {
	oauth := &aai.AuthRecipe{
		Kind: aai.AuthOAuth2, AuthorizationEndpoint: "https://example.com/a?x=1", TokenEndpoint: "https://example.com/t",
	}
	with := func(a *aai.AuthRecipe, change func(*aai.AuthRecipe)) *aai.AuthRecipe {
		changed := *a
		change(&changed)
		return &changed
	}
	key := &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "X-API-Key"}
	bearer := &aai.AuthRecipe{Kind: aai.AuthBearer, In: "header", Name: "Authorization", Prefix: "Bearer "}
	tests := []struct {
		auth string
		want *aai.AuthRecipe
	}{
		{``, nil},
		{`null`, nil},
		{`{"type": "oauth2", "oauth2": {"authorization_endpoint": "https://example.com/a?x=1", "token_endpoint": "https://example.com/t"}}`, oauth},
		{`{"type": "oauth2", "auth_url": "https://example.com/a?x=1", "token_url": "https://example.com/t", "token_placement": "header", "token_prefix": "Bearer"}`, oauth},
		{
			`{"type": "oauth2", "oauth2": {"authorizationEndpoint": "https://example.com/a?x=1", "tokenEndpoint": "https://example.com/t",
				"deviceAuthorizationEndpoint": "https://example.com/d", "revocationEndpoint": "https://example.com/r", "clientId": "me",
				"scopes": ["a:b", "c"], "pkce": {"method": "S256"}, "instructions": "Log\u202e in."}}`,
			with(oauth, func(a *aai.AuthRecipe) {
				a.DeviceEndpoint, a.RevocationEndpoint, a.ClientID = "https://example.com/d", "https://example.com/r", "me"
				a.Scopes, a.PKCE, a.Instructions = []string{"a:b", "c"}, "S256", "Log in."
			}),
		},
		{
			`{"type": "oauth2", "oauth2": {"authorization_endpoint": "https://example.com/a?x=1", "token_endpoint": "https://example.com/t", "scope": "a  b"}}`,
			with(oauth, func(a *aai.AuthRecipe) { a.Scopes = []string{"a", "b"} }),
		},
		{`{"type": "api_key", "key_placement": "header", "key_name": "X-API-Key"}`, key},
		{
			`{"type": "api_key", "key_placement": "query", "key_name": "k", "env_var": "AAI_K"}`,
			&aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "query", Name: "k", EnvVar: "AAI_K"},
		},
		{`{"type": "apiKey", "api_key": {"location": "header", "name": "X-API-Key"}}`, key},
		{
			`{"type": "apiKey", "apiKey": {"location": "header", "name": "Authorization", "prefix": "Token token=", "obtainUrl": "https://example.com/keys",
				"instructions": {"short": "Get one.", "helpUrl": "https://example.com/help"}}}`,
			&aai.AuthRecipe{
				Kind: aai.AuthAPIKey, In: "header", Name: "Authorization", Prefix: "Token token=",
				ObtainURL: "https://example.com/keys", Instructions: "Get one.",
			},
		},
		{`{"type": "bearer"}`, bearer},
		{`{"type": "bearer", "token_placement": "header", "token_prefix": "Bearer", "env_var": "T"}`, with(bearer, func(a *aai.AuthRecipe) { a.EnvVar = "T" })},
		{`{"type": "bearer", "bearer": {"token_prefix": ""}}`, with(bearer, func(a *aai.AuthRecipe) { a.Prefix = "" })},
		{`{"type": "bearer", "bearer": {"tokenPlacement": "query"}}`, &aai.AuthRecipe{Kind: aai.AuthBearer, In: "query", Name: "access_token"}},
		{
			`{"type": "appCredential", "appCredential": {"tokenEndpoint": "https://example.com/t", "tokenType": "tenantAccessToken", "expiresIn": 60, "instructions": {"short": "S", "help_url": "https://example.com/h"}}}`,
			&aai.AuthRecipe{
				Kind: aai.AuthAppCredential, TokenEndpoint: "https://example.com/t", TokenType: "tenantAccessToken",
				ExpiresIn: time.Minute, Instructions: "S", ObtainURL: "https://example.com/h",
			},
		},
		{
			`{"type": "app_credential", "app_credential": {"token_endpoint": "https://example.com/t", "token_type": "app_access_token"}}`,
			&aai.AuthRecipe{Kind: aai.AuthAppCredential, TokenEndpoint: "https://example.com/t", TokenType: "appAccessToken", ExpiresIn: 2 * time.Hour},
		},
		{
			`{"type": "cookie", "cookie": {"loginUrl": "https://www.example.com", "requiredCookies": ["a", "b"], "domain": ".example.com", "instructions": "Log in."}}`,
			&aai.AuthRecipe{Kind: aai.AuthCookie, LoginURL: "https://www.example.com", Domain: "example.com", Cookies: []string{"a", "b"}, Instructions: "Log in."},
		},
		{
			`{"type": "cookie", "login_url": "https://www.example.com", "required_cookies": ["a"]}`,
			&aai.AuthRecipe{Kind: aai.AuthCookie, LoginURL: "https://www.example.com", Domain: "api.example.com", Cookies: []string{"a"}},
		},
	}
	for _, test := range tests {
		d := mustParse(t, webApp(test.auth), Options{})
		diff := cmp.Diff(test.want, d.App.Site.Auth)
		assert.Check(t, is.Equal(diff, ""), test.auth)
		assert.Check(t, is.Len(d.Warnings, 0), test.auth)
		assert.Check(t, is.Equal(d.Recipes[0].HTTP.Auth, d.App.Site.Auth), test.auth)
		assert.Check(t, is.Equal(d.App.Site.BaseURL, "https://api.example.com/v1"), test.auth)
	}
}

// TestAuthEndpoints checks that misleading URLs, and URLs of other servers than web servers, are
// rejected (row 2 of the checklist for logins).
func TestAuthEndpoints(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.b": true, "https://a.b:8443/x?y=z": true, "https://[2001:db8::1]/": true, "http://127.0.0.1:8080/x": true, "http://[::1]/": true, "http://localhost/": true,
		"https://xn--exmple-cua.com/": true,
		"http://a.b":                  false, "javascript:alert(1)": false, "data:text/html,x": false, "file:///etc/passwd": false, "//a.b/x": false, "/x": false,
		"https://u:p@a.b/": false, "https://a.b/#f": false, "https://a.b/?q#f": false, "https://": false, "https:a.b": false, "https://exämple.com/": false,
		"https://a b/": false, "https://a..b/": false, "https://a.b./": false, "https://$(id).b/": false, "https://a.b`id`/": false, "https://-a.b\n": false,
		"http://127.0.0.1.evil.example/": false, "http://localhost.evil.example/": false, "http://app.localhost/": false, "http://0.0.0.0/": false, "http://127.1/": false, "ftp://a.b/": false, "HTTPS://A.B/": true,
		"https://a.b/" + strings.Repeat("x", maxURL):  false,
		"https://" + strings.Repeat("a.", 126) + "b/": true, "https://" + strings.Repeat("a.", 126) + "bc/": false, // 253 bytes are a name
	} {
		assert.Check(t, is.Equal(secureEndpoint(address), want), "%q %v", address, !want)
	}
}

// TestAuthOfASection checks the auth of a multi-platform descriptor's section.
func TestAuthOfASection(t *testing.T) {
	d := mustParse(t, withPlatforms(`{"web": {"automation": "http", "base_url": "https://a.b", "auth": {"type": "bearer"}, "tools": [
		{"name": "t", "description": "D", "parameters": {}, "path": "/t", "method": "GET"}]}}`), Options{})
	if d.App.Site.Auth == nil || d.App.Site.Auth.Kind != aai.AuthBearer || len(d.Warnings) > 0 {
		t.Errorf("auth = %+v, warnings %v", d.App.Site.Auth, d.Warnings)
	}
	d = mustParse(t, linuxTool(`"method": "M"`), Options{})
	assert.Assert(t, d.App.Site.Auth == nil, "app = %+v", d.App)
	assert.Equal(t, d.App.Site.BaseURL, "", "%+v", d.App)
	assert.Assert(t, d.App.Site.Hosts == nil, "app = %+v", d.App)
	assert.Equal(t, d.App.Site.Origin, "", "%+v", d.App)
}

// TestDashboardHosts checks that the hosts are those that a person would not expect.
func TestDashboardHosts(t *testing.T) {
	source := func(base, auth string) string {
		return strings.Replace(webApp(`{"type": "oauth2", "oauth2": {"authorization_endpoint": "`+auth+`/a", "token_endpoint": "`+auth+`/t"}}`),
			"https://api.example.com/v1", base, 1)
	}
	tests := []struct {
		origin, base, auth string
		want               string
	}{
		{"https://example.com", "https://api.example.com", "https://login.example.com:8443", ""},
		{"https://www.example.com", "https://example.com", "https://EXAMPLE.com", ""},
		{"https://example.com", "https://api.example.net", "https://login.example.com", "api.example.net"},
		{"https://example.com", "https://b.a", "https://B.a:443", "b.a"},
		{"https://example.com", "https://z.example:444", "https://a.example", "a.example z.example:444"},
		{"https://a.co.uk", "https://b.co.uk", "https://x.a.co.uk", "b.co.uk"},
		{"https://ann.github.io", "https://eve.github.io", "https://ann.github.io", "eve.github.io"},
		{"https://203.0.113.7", "https://203.0.113.8", "https://203.0.113.7", "203.0.113.8"},
		{"https://example.com", "https://notexample.com", "https://example.com.evil.org", "example.com.evil.org notexample.com"},
		{"", "https://api.example.com", "https://login.example.com", "api.example.com login.example.com"},
	}
	for _, test := range tests {
		app := mustParse(t, source(test.base, test.auth), Options{Origin: test.origin}).App
		got := strings.Join(app.Site.Hosts, " ")
		assert.Check(t, is.Equal(got, test.want), "%s %s", test.base, test.auth)
		assert.Check(t, is.Equal(app.Site.Origin, test.origin), "%s %s", test.base, test.auth)
	}
}

// TestForeignAuth checks members that a file may have, but a web descriptor may not.
func TestForeignAuth(t *testing.T) {
	web := Options{Origin: "https://example.com"}
	d := mustParse(t, webApp(`{"type": "bearer", "env_var": "AWS_SECRET_ACCESS_KEY"}`), web)
	if d.App.Site.Auth.EnvVar != "" || len(d.Warnings) != 1 || d.Warnings[0].Path != "auth.env_var" {
		t.Errorf("auth = %+v, warnings %v", d.App.Site.Auth, d.Warnings)
	}
	local := strings.Replace(webApp(`{"type": "cookie", "login_url": "http://[::1]:9/", "required_cookies": ["c"]}`), "https://api.example.com/v1", "http://127.0.0.1:631", 1)
	mustParse(t, local, Options{})
	mustParse(t, local, Options{Origin: "http://127.0.0.1:8080"})
	_, faults := new(reader).parse([]byte(strings.Replace(local, "http://127.0.0.1:631", "https://0.0.0.0:631", 1)), web)
	var paths []string
	for _, f := range faults.List {
		paths = append(paths, f.Path)
	}
	if !slices.Equal(paths, []string{"execution.base_url", "auth.login_url"}) {
		t.Errorf("faults: %v", faults.List)
	}
}

// TestGuideOfAuth checks that the guide has the person's steps, and no secret.
func TestGuideOfAuth(t *testing.T) {
	for auth, want := range map[string]string{
		`{"type": "bearer", "obtain_url": "https://example.com/t"}`:                                                 "Bearer token: the user gets one at example.com and gives it to the gateway, which sends it in the header Authorization.",
		`{"type": "api_key", "key_placement": "query", "key_name": "k"}`:                                            "API key: the user gets one and gives it to the gateway, which sends it in the query k.",
		`{"type": "app_credential", "token_endpoint": "https://b.example/t", "token_type": "userAccessToken"}`:      "App credential: the user gives the gateway an app id and secret for tokens at b.example.",
		`{"type": "cookie", "login_url": "https://c.example", "required_cookies": ["c"], "instructions": "a\n# b"}`: "Cookies: the user logs in at c.example and gives the gateway the cookies of that session.\n\n> \"a # b\"\n",
	} {
		guide := Guide(mustParse(t, webApp(auth), Options{}).App)
		assert.Check(t, is.Contains(guide, "\n## Authentication\n\n"+want+"\n"), auth)
	}
	guide := Guide(mustParse(t, webApp(""), Options{}).App)
	assert.Check(t, !strings.Contains(guide, "Authentication"), guide)
}

package oauth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestRow11Issuer(t *testing.T) {
	for name, change := range map[string]func(*fake){
		"another issuer":                 func(f *fake) { f.metadata["issuer"] = "https://evil.example" },
		"the same but for a slash":       func(f *fake) { f.metadata["issuer"] = f.URL + "/" },
		"no issuer":                      func(f *fake) { delete(f.metadata, "issuer") },
		"another authorization endpoint": func(f *fake) { f.metadata["authorization_endpoint"] = f.URL + "/other" },
		"another token endpoint":         func(f *fake) { f.metadata["token_endpoint"] = "https://evil.example/token" },
		"no JSON": func(f *fake) {
			f.handle["/.well-known/oauth-authorization-server"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, "{") //nolint:errcheck // a test's server
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, change)
			ends(t, s.authorize(t.Context()), aai.AuthInvalid)
			if s.windows.Load() != 0 || len(s.fake.asked("/token")) != 0 {
				t.Errorf("%d windows, %d requests for a token", s.windows.Load(), len(s.fake.asked("/token")))
			}
		})
	}
}

// TestRow11Unreachable: an unreachable server is not one without metadata.
func TestRow11Unreachable(t *testing.T) {
	s := newStage(t)
	s.fake.setHandler("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) })
	ends(t, s.authorize(t.Context()), aai.AppNotRunning)
	s.fake.Close()
	ends(t, s.authorize(t.Context()), aai.AppNotRunning)
	n := s.windows.Load()
	assert.Check(t, n == 0, "%d windows", n)
}

// TestRow11Forms: metadata are fetched in MCP's order, and a page for every address is not
// metadata.
func TestRow11Forms(t *testing.T) {
	for issuer, want := range map[string]string{
		"https://a.example":         "https://a.example/.well-known/oauth-authorization-server https://a.example/.well-known/openid-configuration",
		"https://a.example/t/1":     "https://a.example/.well-known/oauth-authorization-server/t/1 https://a.example/.well-known/openid-configuration/t/1 https://a.example/t/1/.well-known/openid-configuration",
		"https://a.example:8443/t/": "https://a.example:8443/.well-known/oauth-authorization-server/t https://a.example:8443/.well-known/openid-configuration/t https://a.example:8443/t/.well-known/openid-configuration",
	} {
		assert.Check(t, is.Equal(strings.Join(oauth.WellKnown(issuer), " "), want), issuer)
	}
	s := newStage(t, func(f *fake) {
		f.handle["/.well-known/openid-configuration"] = f.handle["/.well-known/oauth-authorization-server"]
		f.handle["/.well-known/oauth-authorization-server"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<h1>Welcome</h1>") //nolint:errcheck // a test's server
		}
		f.metadata["authorization_response_iss_parameter_supported"] = true
	})
	ended := s.ask(t.Context())
	_, _ = get(t, (<-s.requests).answer(nil)) // without iss, which the second document promises
	ends(t, <-ended, aai.AuthInvalid)
}

// TestRow11OddEndpoints: endpoints in metadata alone are used only if they belong to the server.
func TestRow11OddEndpoints(t *testing.T) {
	s := newStage(t, func(f *fake) {
		for _, field := range []string{"registration_endpoint", "revocation_endpoint", "pushed_authorization_request_endpoint", "device_authorization_endpoint"} {
			f.metadata[field] = "https://evil.example/" + field
		}
		f.metadata["require_pushed_authorization_requests"] = true
	})
	s.logIn()
	assert.Check(t, is.Equal(s.fake.asked("/token")[0].Get("client_id"), "aai-gateway"))
	bye, err := s.logins.Logout(t.Context(), strings.TrimPrefix(s.fake.URL, "http://"))
	assert.NilError(t, err, "%+v", bye)
	assert.Equal(t, bye.Revoked, 0, "%+v", bye)
	assert.Equal(t, bye.Forgotten, 1, "%+v", bye)
	assert.Assert(t, is.Len(bye.Warnings, 1), "%+v", bye)
}

// refusedBy returns an API's response to a request that Authorize passed.
func (s *fakeServerWorld) refusedBy(status int, challenge, token string) *http.Response {
	req, err := http.NewRequest(http.MethodGet, s.recipe.HTTP.BaseURL+"/things", nil)
	assert.NilError(s.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	return &http.Response{StatusCode: status, Request: req, Header: http.Header{"Www-Authenticate": {challenge}}, Body: http.NoBody}
}

func TestRow12ResourceMetadata(t *testing.T) {
	for base, want := range map[string]string{
		"https://a.example/v1/x": "https://a.example/.well-known/oauth-protected-resource/v1/x https://a.example/.well-known/oauth-protected-resource",
		"https://a.example/":     "https://a.example/.well-known/oauth-protected-resource",
	} {
		assert.Check(t, is.Equal(strings.Join(oauth.ResourceWellKnown(base), " "), want), base)
	}
	for _, c := range []struct {
		name, at, resource string
		inHeader           bool
		want               aai.Code
	}{
		{"of its path", "/.well-known/oauth-protected-resource/v1", "/v1", false, ""},
		{"of its root", "/.well-known/oauth-protected-resource", "", false, ""},
		{"where the challenge says", "/somewhere", "/v1", true, ""},
		{"of another origin", "/somewhere", "https://evil.example/v1", true, aai.AuthInvalid},
		{"of another path", "/somewhere", "/v", true, aai.AuthInvalid},
		{"of nothing", "/somewhere", "none", true, aai.AuthInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t)
			resource := c.resource
			if !strings.Contains(resource, ":") && resource != "none" {
				resource = s.fake.URL + resource
			}
			s.fake.handle[c.at] = func(w http.ResponseWriter, _ *http.Request) {
				writeJSON(w, http.StatusOK, map[string]any{"resource": resource, "authorization_servers": []string{s.fake.URL}})
			}
			s.logIn()
			challenge := `Bearer error="invalid_token"`
			if c.inHeader {
				challenge += `, resource_metadata="` + s.fake.URL + c.at + `"`
			}
			again, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(401, challenge, "an-access-token"))
			if c.want != "" {
				ends(t, err, c.want)
				return
			}
			assert.NilError(t, err, again)
			assert.Assert(t, again, again)
			if c.resource == "" {
				return // same resource as before: the token was refreshed
			}
			ended := s.ask(t.Context())
			at := <-s.requests
			assert.Check(t, is.Equal(at.query.Get("resource"), resource), "the next login is for %q", at.query.Get("resource"))
			_, _ = get(t, at.answer(nil))
			assert.Check(t, <-ended)
		})
	}
}

// TestRow12TenantIssuer: an API may name an issuer with a path if its endpoints are the
// descriptor's.
func TestRow12TenantIssuer(t *testing.T) {
	s := newStage(t, func(f *fake) {
		tenant := map[string]any{"authorization_response_iss_parameter_supported": true}
		for k, v := range f.metadata {
			tenant[k] = v
		}
		tenant["issuer"] = f.URL + "/tenant"
		f.metadata = nil
		f.handle["/.well-known/oauth-authorization-server/tenant"] = func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, tenant) }
		f.handle["/.well-known/oauth-protected-resource/v1"] = func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, map[string]any{"resource": f.URL + "/v1", "authorization_servers": []string{f.URL + "/tenant"}})
		}
		f.handle["/elsewhere"] = func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, map[string]any{"resource": f.URL + "/v1", "authorization_servers": []string{f.URL + "/other"}})
		}
	})
	s.logIn()
	again, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(401, "Bearer", "an-access-token"))
	assert.NilError(t, err, again)
	assert.Assert(t, again, again)
	ended := s.ask(t.Context())
	_, _ = get(t, (<-s.requests).answer(url.Values{"iss": {s.fake.URL + "/tenant"}}))
	assert.NilError(t, <-ended)
	for _, told := range []string{"/elsewhere", "https://evil.example/x", "http://evil.example/x"} {
		if strings.HasPrefix(told, "/") {
			told = s.fake.URL + told
		}
		_, err = s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(401, `Bearer resource_metadata="`+told+`"`, "an-access-token"))
		ends(t, err, aai.AuthInvalid)
	}
}

func TestRow12Challenges(t *testing.T) {
	for _, c := range []struct{ header, want string }{
		{`Bearer`, `[bearer] [map[]]`},
		{`Bearer realm="a \"b\", c", error=insufficient_scope , scope="x y"`, `[bearer] [map[error:insufficient_scope realm:a "b", c scope:x y]]`},
		{`Basic realm="x", DPoP algs="ES256", error="use_dpop_nonce"`, `[basic dpop] [map[realm:x] map[algs:ES256 error:use_dpop_nonce]]`},
		{`Negotiate YWJjZGVmZ2hpamtsbW5vcA==, Bearer error="invalid_token"`, `[negotiate bearer] [map[] map[error:invalid_token]]`},
		{`BEARER ERROR = "a", error="b"`, `[bearer] [map[error:a]]`},
		{`,, ,Bearer a=b,`, `[bearer] [map[a:b]]`},
		{`Bearer scope="never ends`, `[bearer] [map[]]`},
		{`"`, `[] []`}, {``, `[] []`}, {`=`, `[] []`},
	} {
		schemes, params := oauth.Challenges(c.header)
		assert.Check(t, is.Equal(fmt.Sprint(schemes, params), strings.Replace(c.want, "] [", "] [", 1)), "%s %s", c.header, c.want)
	}
}

func FuzzRow12Challenges(f *testing.F) {
	for _, seed := range []string{`Bearer a="b"`, `Basic realm="x", Bearer`, `Negotiate abc==`, `Bearer a="\`, `a b c=d e`, "\x00=,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		schemes, params := oauth.Challenges(header)
		assert.Assert(t, is.Len(schemes, len(params)), "%q %d", header, len(params))
		assert.Assert(t, len(schemes) <= len(header), "%q has %d schemes and %d parameters", header, len(schemes), len(params))
	})
}

// TestRow13Resource: the real server issued the token for this API only.
func TestRow13Resource(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	token := w.token()
	about := w.as.introspect(token)
	assert.Check(t, is.Equal(about["aud"], w.api.URL), about)
	assert.Check(t, is.Equal(about["client_id"], "aai-gateway"), about)
	w.clock.pass(beyondTokenLife)
	w.works()
	about = w.as.introspect(w.token())
	assert.Check(t, w.token() != token, "the server says of the refreshed token: %v", about)
	assert.Check(t, is.Equal(about["aud"], w.api.URL), about)
}

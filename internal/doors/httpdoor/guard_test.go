package httpdoor_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
)

// TestOpenToOthersNeedsAuthentication checks that a server for other computers needs
// tokens.
func TestOpenToOthersNeedsAuthentication(t *testing.T) {
	for _, bind := range []string{"0.0.0.0", "::", "192.0.2.1", "example.com", "localhost.example.com"} {
		_, err := httpdoor.New(httpdoor.Config{Bind: bind}, httpdoor.Hooks{})
		assert.Check(t, is.ErrorContains(err, "other computers"), bind)
		newEcho(t, httpdoor.Config{Bind: bind, Verifier: bearer.NewSecretVerifier("secret")}, httpdoor.Hooks{})
	}
	for _, bind := range []string{"", "localhost", "127.0.0.1", "127.1.2.3", "::1"} {
		newEcho(t, httpdoor.Config{Bind: bind}, httpdoor.Hooks{})
	}
}

// TestPagesOfThisComputer checks that a page of this computer may use a server that is for
// this computer alone, and no other server.
func TestPagesOfThisComputer(t *testing.T) {
	for _, c := range []struct {
		bind, origin string
		admitted     bool
	}{
		{"127.0.0.1", "http://localhost:3000", true}, {"127.0.0.1", "http://[::1]:3000", true}, {"127.0.0.1", "https://evil.example", false},
		{"0.0.0.0", "http://localhost:3000", false}, {"0.0.0.0", "http://192.0.2.1:8741", true}, {"127.0.0.1", "file://localhost", false},
	} {
		s := newEcho(t, httpdoor.Config{Bind: c.bind, Verifier: bearer.NewSecretVerifier("secret")}, httpdoor.Hooks{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/open", nil)
		r.Host = "127.0.0.1:8741"
		if c.bind == "0.0.0.0" {
			r.Host = "192.0.2.1:8741"
		}
		r.Header.Set("Origin", c.origin)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); (w.Code == http.StatusNoContent) != c.admitted {
			t.Errorf("bound to %s, from %s: %d %s", c.bind, c.origin, w.Code, w.Body)
		}
	}
}

// TestHostsOfOtherBinds: a page can make a name resolve to this server, but not an address.
func TestHostsOfOtherBinds(t *testing.T) {
	for _, c := range []struct {
		bind, host string
		admitted   bool
	}{
		{"0.0.0.0", "192.0.2.1:8741", true}, {"0.0.0.0", "[2001:db8::1]:8741", true}, {"0.0.0.0", "evil.example", false}, {"0.0.0.0", "localhost", true},
		{"192.0.2.1", "192.0.2.1", true}, {"192.0.2.1", "192.0.2.2", false}, {"192.0.2.1", "evil.example", false},
		{"box.example", "box.example:1", true}, {"box.example", "evil.example", false},
		{"127.0.0.1", "[::1]:8741", true}, {"127.0.0.1", "192.0.2.1", false}, {"::", "192.0.2.1", true},
	} {
		s := newEcho(t, httpdoor.Config{Bind: c.bind, Verifier: bearer.NewSecretVerifier("secret")}, httpdoor.Hooks{})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/open", nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); (w.Code == http.StatusNoContent) != c.admitted {
			t.Errorf("bound to %s, called %s: %d %s", c.bind, c.host, w.Code, w.Body)
		}
	}
}

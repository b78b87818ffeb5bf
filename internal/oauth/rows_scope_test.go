package oauth_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestRow23StepUp: the real server and an API that requires another scope for another request. The
// next login requests both scopes.
func TestRow23StepUp(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	about := w.as.introspect(w.token())
	assert.Check(t, is.Equal(about["scope"], "read"), "the first login is for %v; expected the descriptor's scopes alone", about["scope"])
	status, err := w.call(t.Context(), w.logins, http.MethodPost)
	assert.NilError(t, err)
	assert.Equal(t, status, http.StatusOK)
	about = w.as.introspect(w.token())
	assert.Check(t, is.Equal(fmt.Sprint(about["scope"]), "read write"), "the second login is for %v", about["scope"])
	n := w.windows.Load()
	assert.Check(t, n == 2, "%d windows", n)
	w.works() // the old token is deleted, and the new one serves both
}

// TestRow23Limit: an API that always requires more scopes gets three step-ups.
func TestRow23Limit(t *testing.T) {
	s := newStage(t)
	s.recipe.HTTP.Auth.Scopes = []string{"read"}
	s.logIn()
	for i := 1; i <= 3; i++ {
		again, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(403, fmt.Sprintf(`Bearer error="insufficient_scope", scope="more%d"`, i), "an-access-token"))
		assert.Assert(t, again, again)
		assert.NilError(t, err, again)
		ended := s.ask(t.Context())
		at := <-s.requests
		assert.Check(t, is.Equal(len(strings.Fields(at.query.Get("scope"))), i+1), "step %d asks for %q", i, at.query.Get("scope"))
		_, _ = get(t, at.answer(nil))
		assert.NilError(t, <-ended)
	}
	_, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(403, `Bearer error="insufficient_scope", scope="more4"`, "an-access-token"))
	ends(t, err, aai.AuthDenied)
	for name, challenge := range map[string]string{
		"what it has":  `Bearer error="insufficient_scope", scope="read more1"`,
		"nothing":      `Bearer error="insufficient_scope"`,
		"no real word": "Bearer error=\"insufficient_scope\", scope=\"\xff\"",
	} {
		again, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(403, challenge, "an-access-token"))
		assert.Check(t, !again, "asked for %s, it is tried again", name)
		ends(t, err, aai.AuthDenied)
	}
}

// TestRow24Logout: the real server revokes both tokens, the refresh token first.
func TestRow24Logout(t *testing.T) {
	var order []string
	w := newWorld(t, testkit.OIDCOptions{}, func(w *world, c *loginConfig) {
		c.Client = &http.Client{Transport: through(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/revocation") {
				order = append(order, formOfRequest(t, r).Get("token_type_hint"))
			}
			return http.DefaultTransport.RoundTrip(r)
		})}
	})
	w.works()
	_, kept := w.kept()
	host := strings.TrimPrefix(w.api.URL, "http://")
	if bye, err := w.logins.Logout(t.Context(), "another.example"); err != nil || bye.Forgotten != 0 || bye.Revoked != 0 {
		t.Errorf("a logout elsewhere: %+v, %v", bye, err)
	}
	bye, err := w.logins.Logout(t.Context(), host)
	assert.NilError(t, err, "%+v", bye)
	assert.Equal(t, bye.Revoked, 2, "%+v", bye)
	assert.Equal(t, bye.Forgotten, 1, "%+v", bye)
	assert.Assert(t, is.Len(bye.Warnings, 0), "%+v", bye)
	assert.Check(t, is.Equal(strings.Join(order, " "), "refresh_token access_token"), "taken back were %q", order)
	for _, token := range []string{kept.Access, kept.Refresh} {
		about := w.as.introspect(token)
		assert.Check(t, is.Equal(about["active"], false), "the server says %v", about)
	}
	all := w.secrets.all()
	assert.Check(t, is.Len(all, 0), "kept is still %v", all)
	states, err := w.logins.Status(t.Context(), "")
	assert.NilError(t, err)
	assert.Assert(t, is.Len(states, 0))
	w.works() // with a new login
	n := w.windows.Load()
	assert.Check(t, n == 2, "%d windows", n)
}

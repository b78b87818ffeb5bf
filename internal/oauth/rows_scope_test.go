package oauth_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestRow23StepUp: the real server and an API that requires another scope for another request. The
// next login requests both scopes.
func TestRow23StepUp(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	if about := w.as.introspect(w.token()); about["scope"] != "read" {
		t.Errorf("the first login is for %v; expected the descriptor's scopes alone", about["scope"])
	}
	if status, err := w.call(t.Context(), w.logins, http.MethodPost); err != nil || status != http.StatusOK {
		t.Fatalf("%d, %v", status, err)
	}
	if about := w.as.introspect(w.token()); fmt.Sprint(about["scope"]) != "read write" {
		t.Errorf("the second login is for %v", about["scope"])
	}
	if n := w.windows.Load(); n != 2 {
		t.Errorf("%d windows", n)
	}
	w.works() // the old token is deleted, and the new one serves both
}

// TestRow23Limit: an API that always requires more scopes gets three step-ups.
func TestRow23Limit(t *testing.T) {
	s := newStage(t)
	s.recipe.HTTP.Auth.Scopes = []string{"read"}
	s.logIn()
	for i := 1; i <= 3; i++ {
		again, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(403, fmt.Sprintf(`Bearer error="insufficient_scope", scope="more%d"`, i), "an-access-token"))
		if !again || err != nil {
			t.Fatalf("%v, %v", again, err)
		}
		ended := s.ask(t.Context())
		at := <-s.requests
		if got := len(strings.Fields(at.query.Get("scope"))); got != i+1 {
			t.Errorf("step %d asks for %q", i, at.query.Get("scope"))
		}
		_, _ = get(t, at.answer(nil))
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(403, `Bearer error="insufficient_scope", scope="more4"`, "an-access-token"))
	ends(t, err, aai.AuthDenied)
	for name, challenge := range map[string]string{
		"what it has":  `Bearer error="insufficient_scope", scope="read more1"`,
		"nothing":      `Bearer error="insufficient_scope"`,
		"no real word": "Bearer error=\"insufficient_scope\", scope=\"\xff\"",
	} {
		again, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(403, challenge, "an-access-token"))
		if again {
			t.Errorf("asked for %s, it is tried again", name)
		}
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
	if err != nil || bye.Revoked != 2 || bye.Forgotten != 1 || len(bye.Warnings) != 0 {
		t.Errorf("%+v, %v", bye, err)
	}
	if strings.Join(order, " ") != "refresh_token access_token" {
		t.Errorf("taken back were %q", order)
	}
	for _, token := range []string{kept.Access, kept.Refresh} {
		if about := w.as.introspect(token); about["active"] != false {
			t.Errorf("the server says %v", about)
		}
	}
	if all := w.secrets.all(); len(all) != 0 {
		t.Errorf("kept is still %v", all)
	}
	if states, err := w.logins.Status(t.Context(), ""); err != nil || len(states) != 0 {
		t.Errorf("%+v, %v", states, err)
	}
	w.works() // with a new login
	if n := w.windows.Load(); n != 2 {
		t.Errorf("%d windows", n)
	}
}

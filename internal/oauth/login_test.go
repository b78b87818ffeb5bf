package oauth_test

import (
	"net/http"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestLogIn runs a login with a real authorization server: discovery, the page, the callback, the
// token, the call, and the next call without a window.
func TestLogIn(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	w.works()
	if n := w.windows.Load(); n != 1 {
		t.Errorf("%d windows were opened", n)
	}
	states, err := w.logins.Status(t.Context(), "")
	if err != nil || len(states) != 1 || states[0].State != "logged in" || !states[0].AutoRenews || states[0].Issuer != w.as.Issuer {
		t.Errorf("the status is %+v, %v", states, err)
	}
	// Another web app at the same API does not get the token.
	other := *w.recipe
	http1 := *w.recipe.HTTP
	http1.Origin = "http://127.0.0.1:1"
	other.HTTP = &http1
	w.recipe = &other
	if status, err := w.call(t.Context(), w.open(withoutBrowser), http.MethodGet); aai.AsError(err) == nil {
		t.Errorf("another origin's call gave %d", status)
	}
}

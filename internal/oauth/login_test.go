package oauth_test

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestLogIn runs a login with a real authorization server: discovery, the page, the callback, the
// token, the call, and the next call without a window.
func TestLogIn(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	w.works()
	n := w.windows.Load()
	assert.Check(t, n == 1, "%d windows were opened", n)
	states, err := w.logins.Status(t.Context(), "")
	assert.NilError(t, err)
	assert.Assert(t, is.Len(states, 1))
	assert.Equal(t, states[0].State, "logged in")
	assert.Assert(t, states[0].AutoRenews, "the status is %+v, %v", states, err)
	assert.Equal(t, states[0].Issuer, w.as.Issuer)
	// Another web app at the same API does not get the token.
	other := *w.recipe
	http1 := *w.recipe.HTTP
	http1.Origin = "http://127.0.0.1:1"
	other.HTTP = &http1
	w.recipe = &other
	status, err := w.call(t.Context(), w.open(withoutBrowser), http.MethodGet)
	assert.Check(t, aai.AsError(err) != nil, "another origin's call gave %d", status)
}

package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestRow19Proofs uses a real server and an API that checks every proof. The nonces of both are
// learned and sent.
func TestRow19Proofs(t *testing.T) {
	for name, l := range map[string]testkit.OIDCOptions{"plain": {DPoP: true}, "with nonces": {DPoP: true, Nonce: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, l)
			if l.Nonce {
				first := "nonce-1"
				w.api.nonce.Store(&first)
			}
			w.works()
			_, kept := w.kept()
			assert.Equal(t, kept.Type, "DPoP", "%+v", kept)
			assert.Assert(t, is.Contains(string(kept.Key), `"d":`), "%+v", kept)
			if l.Nonce {
				second := "nonce-2"
				w.clock.pass(31 * time.Second) // an earlier one counts as an attack
				w.api.nonce.Store(&second)
			}
			w.works()
			// The server rejects proofs of another hour, so the test expires the token.
			w.editToken(func(m map[string]any) { m["Expires"] = time.Now() })
			w.works()
			assert.Check(t, w.token() != kept.Access, "the token was not refreshed")
		})
	}
}

// TestRow19Stolen: refresh and access tokens are useless without their key.
func TestRow19Stolen(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{DPoP: true})
	w.works()
	id, kept := w.kept()
	response, err := http.PostForm(w.as.Issuer+"/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {kept.Refresh}, "client_id": {"aai-gateway"}})
	assert.NilError(t, err)
	var said struct{ Error string }
	_ = json.NewDecoder(response.Body).Decode(&said)
	_ = response.Body.Close()
	if response.StatusCode == http.StatusOK || said.Error != "invalid_grant" {
		t.Errorf("the server answers a thief: %d %s", response.StatusCode, said.Error)
	}
	req, _ := http.NewRequest(http.MethodGet, w.api.URL+"/v1/things", nil)
	req.Header.Set("Authorization", "DPoP "+kept.Access)
	response, err = http.DefaultClient.Do(req)
	assert.NilError(t, err, response)
	assert.Equal(t, response.StatusCode, http.StatusUnauthorized, response)
	_ = response.Body.Close()

	// A thief with the record and another key.
	other := newWorld(t, testkit.OIDCOptions{DPoP: true})
	other.works()
	_, theirs := other.kept()
	w.editToken(func(m map[string]any) { m["Key"] = theirs.Key })
	w.clock.pass(beyondTokenLife)
	w.fails(t.Context(), aai.AuthExpired)
	again, _ := w.kept()
	assert.Check(t, again != id, "a dead login is kept")
}

// TestRow19NonceOnce: an API that refuses each of its nonces is not retried forever.
func TestRow19NonceOnce(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{DPoP: true})
	w.works()
	tries := 0
	for range 10 {
		req, _ := http.NewRequest(http.MethodGet, w.recipe.HTTP.BaseURL+"/things", nil)
		assert.NilError(t, w.logins.Authorize(t.Context(), w.recipe, req))
		tries++
		again, err := w.logins.HandleRefusal(t.Context(), w.recipe, &http.Response{StatusCode: http.StatusUnauthorized, Request: req, Header: http.Header{
			"Www-Authenticate": {`DPoP error="use_dpop_nonce"`}, "Dpop-Nonce": {strings.Repeat("n", tries)},
		}})
		assert.NilError(t, err)
		if !again {
			break
		}
	}
	assert.Check(t, is.Equal(tries, 2), "it was tried %d times", tries)
}

package oauth_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// spellings returns the encodings of a secret.
func spellings(secret string) []string {
	quoted, _ := json.Marshal(secret)
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`), hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
}

// finds returns one of the secrets that the text contains, or "".
func finds(text string, secrets []string) string {
	for _, secret := range secrets {
		for _, written := range spellings(secret) {
			if written != "" && strings.Contains(text, written) {
				return written
			}
		}
	}
	return ""
}

// TestRow18NoSecretIsShown uses a server with canaries for tokens, which repeats its input in
// errors. None may appear in an error, the log, the progress, an address, a page or the id of a
// record.
func TestRow18NoSecretIsShown(t *testing.T) {
	const code, access, refresh, next = "canary-code~1", "canary-access~1", "canary-refresh~1", "canary-access~2"
	s := newStage(t, func(f *fake) {
		f.metadata["revocation_endpoint"] = f.URL + "/revoke"
		f.metadata["dpop_signing_alg_values_supported"] = []string{"ES256"}
	})
	repeat := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, status, map[string]string{"error": code, "error_description": "you sent " + r.Form.Encode() + fmt.Sprint(r.Form)})
		}
	}
	give := func(access, refresh string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "DPoP", "expires_in": 600})
		}
	}
	var shown strings.Builder
	var verifiers []string
	logIn := func() error {
		ended := s.ask(t.Context())
		at := <-s.requests
		_, page := get(t, at.answer(url.Values{"code": {code}}))
		shown.WriteString(page)
		return <-ended
	}
	note := func(err error) {
		if err != nil {
			e := aai.AsError(err)
			_, _ = fmt.Fprintf(&shown, "%v\n%s\n%s\n%v\n%+v\n", e.Message, e.Hint, e.LoginURL, e.Err, e)
		}
	}
	s.fake.setHandler("/token", repeat(400, "invalid_request"))
	note(logIn())
	s.clock.pass(beyondTokenLife)
	s.fake.setHandler("/token", repeat(400, code)) // as its error code
	note(logIn())
	s.clock.pass(beyondTokenLife)
	s.fake.setHandler("/token", give(access, refresh))
	note(logIn())
	s.clock.pass(beyondTokenLife)
	for _, bad := range []http.HandlerFunc{repeat(400, "invalid_request"), repeat(500, "server_error"), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }} {
		s.fake.setHandler("/token", bad)
		err := s.authorize(t.Context())
		assert.Assert(t, err != nil, "it succeeded")
		note(err)
	}
	s.fake.setHandler("/token", give(next, refresh))
	assert.NilError(t, s.authorize(t.Context()))
	s.fake.setHandler("/revoke", repeat(400, "invalid_request"))
	states, err := s.logins.Status(t.Context(), "")
	note(err)
	bye, err := s.logins.Logout(t.Context(), strings.TrimPrefix(s.fake.URL, "http://"))
	note(err)
	_, _ = fmt.Fprintf(&shown, "%+v\n%+v\n%s\n%s\n", states, bye, s.logs.String(), s.said.String())
	s.visited.Range(func(address, _ any) bool { _, _ = fmt.Fprintln(&shown, address); return true })
	s.fake.mu.Lock()
	for _, r := range s.fake.requests {
		_, _ = fmt.Fprintln(&shown, r.URL) // as in a server's log
		if v := r.Form.Get("code_verifier"); v != "" {
			verifiers = append(verifiers, v)
		}
	}
	s.fake.mu.Unlock()
	if found := finds(shown.String(), append([]string{code, access, refresh, next}, verifiers...)); found != "" || len(verifiers) != 3 {
		t.Errorf("%q is shown (%d verifiers):\n%s", found, len(verifiers), shown.String())
	}
	for name := range s.secrets.all() {
		assert.Check(t, is.Equal(finds(name, []string{code, access, refresh, next}), ""), name)
	}
}

// TestRow18Keys: a key from the user appears in no error and no log.
func TestRow18Keys(t *testing.T) {
	const key = "canary key~1" // the space makes it invalid
	s := newStage(t)
	s.recipe.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "header", Name: "X-Key"}
	err := s.logins.StoreCredentials(t.Context(), s.recipe, map[string]string{"key": key})
	assert.Assert(t, aai.AsError(err) != nil, "a key that cannot be right is kept: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams, err)
	assert.Check(t, is.Equal(finds(fmt.Sprint(err, aai.AsError(err).Hint, aai.AsError(err).Err, s.logs.String()), []string{key}), ""))
}

// TestRow26NotForwarded: the authorizer forwards no token of a caller, and the API accepts no
// token for another API.
func TestRow26NotForwarded(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	req, _ := http.NewRequest(http.MethodGet, w.recipe.HTTP.BaseURL+"/things", nil)
	req.Header.Set("Authorization", "Bearer of-the-mcp-client")
	req.Header.Set("DPoP", "of-the-mcp-client")
	assert.NilError(t, w.logins.Authorize(t.Context(), w.recipe, req))
	assert.Check(t, is.Equal(fmt.Sprint(req.Header), "map[Authorization:[Bearer "+w.token()+"]]"), "the request goes out with %v", req.Header)
	other := worldWith(t, w.as)
	req, _ = http.NewRequest(http.MethodGet, other.api.URL+"/v1/things", nil)
	req.Header.Set("Authorization", "Bearer "+w.token())
	response, err := http.DefaultClient.Do(req)
	assert.NilError(t, err, response)
	assert.Equal(t, response.StatusCode, http.StatusUnauthorized, response)
	if response != nil {
		_ = response.Body.Close()
	}
	// The authorizer refuses to send it there.
	req, _ = http.NewRequest(http.MethodGet, other.api.URL+"/v1/things", nil)
	ends(t, w.logins.Authorize(t.Context(), w.recipe, req), aai.AuthInvalid)
	assert.Check(t, is.Equal(req.Header.Get("Authorization"), ""), "the token was added all the same")
}

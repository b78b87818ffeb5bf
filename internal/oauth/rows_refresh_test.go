package oauth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// keptToken is the part of a stored token that the tests read.
type keptToken struct {
	Access, Refresh, Type string
	Key                   json.RawMessage
}

// kept returns the only stored token, and its id.
func (w *world) kept() (id string, t keptToken) {
	w.t.Helper()
	for name, raw := range w.secrets.all() {
		if strings.HasPrefix(name, "login/token/") {
			assert.Equal(w.t, id, "", "several tokens are kept")
			id = name
			assert.NilError(w.t, json.Unmarshal([]byte(raw), &t))
		}
	}
	return id, t
}

func (w *world) token() string { _, t := w.kept(); return t.Access }

// editToken edits the stored token.
func (w *world) editToken(edit func(map[string]any)) {
	w.t.Helper()
	id, _ := w.kept()
	err := w.secrets.Update(w.t.Context(), id, func(old []byte) ([]byte, error) {
		var m map[string]any
		if err := json.Unmarshal(old, &m); err != nil {
			return nil, err
		}
		edit(m)
		return json.Marshal(m)
	})
	assert.NilError(w.t, err)
}

// TestRow14WriteThenUse: a refreshed token is used only after it is stored.
func TestRow14WriteThenUse(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	before := w.token()
	w.clock.pass(beyondTokenLife)
	failing := &failingSecrets{folder: w.secrets}
	l := w.open(func(_ *world, c *loginConfig) { c.Secrets = failing })
	req, _ := http.NewRequest(http.MethodGet, w.recipe.HTTP.BaseURL+"/things", nil)
	err := l.Authorize(t.Context(), w.recipe, req)
	assert.Assert(t, err != nil, "a token that could not be kept was used: %v", err)
	assert.Equal(t, req.Header.Get("Authorization"), "", err)
	assert.Assert(t, failing.wrote.Load(), "the store was not asked to write, or wrote")
	assert.Equal(t, w.token(), before, "the store was not asked to write, or wrote")
}

type failingSecrets struct {
	*folder
	wrote atomic.Bool
}

func (f *failingSecrets) Update(ctx ctx, id string, edit func([]byte) ([]byte, error)) error {
	return f.folder.Update(ctx, id, func(old []byte) ([]byte, error) {
		b, err := edit(old)
		if err == nil && strings.HasPrefix(id, "login/token/") {
			f.wrote.Store(true)
			return nil, errors.New("the disk is full")
		}
		return b, err
	})
}

// TestRow15Replay: after another party used the refresh token, the real server ends the login; the
// user can log in again.
func TestRow15Replay(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	_, stolen := w.kept()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {stolen.Refresh}, "client_id": {"aai-gateway"}}
	response, err := http.PostForm(w.as.Issuer+"/token", form)
	assert.NilError(t, err, response)
	assert.Equal(t, response.StatusCode, http.StatusOK, response)
	_ = response.Body.Close()
	w.clock.pass(beyondTokenLife)
	e := w.fails(t.Context(), aai.AuthExpired)
	assert.Check(t, is.Contains(e.Hint, "aai-gateway auth login"))
	about := w.as.introspect(stolen.Access)
	assert.Check(t, is.Equal(about["active"], false), "the login lives: %v", about)
	id, _ := w.kept()
	assert.Check(t, is.Equal(id, ""), "a dead login is kept")
	w.works()
	n := w.windows.Load()
	assert.Check(t, n == 2, "%d windows", n)
}

// TestRow15Revoked: after the user revoked the grant at the server, the API refuses the token, and
// the server its refresh.
func TestRow15Revoked(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	_, t1 := w.kept()
	response, err := http.PostForm(w.as.Issuer+"/token/revocation", url.Values{"token": {t1.Refresh}, "client_id": {"aai-gateway"}})
	assert.NilError(t, err, response)
	assert.Equal(t, response.StatusCode, http.StatusOK, response)
	_ = response.Body.Close()
	w.fails(t.Context(), aai.AuthExpired)
	w.works()
}

// TestRow15RefusedToken: a token that the API refuses is refreshed once, even if it has not
// expired.
func TestRow15RefusedToken(t *testing.T) {
	w := newWorld(t, testkit.OIDCOptions{})
	w.works()
	w.editToken(func(m map[string]any) { m["Access"] = "made-up" })
	w.works()
	if w.token() == "made-up" || w.windows.Load() != 1 {
		t.Errorf("the token is %s, after %d windows", w.token(), w.windows.Load())
	}
	// A token obtained after a refusal and refused too is not renewed again.
	s := newStage(t)
	s.logIn()
	again, err := s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(401, "Bearer", "an-access-token"))
	assert.Assert(t, again, again)
	assert.NilError(t, err, again)
	_, err = s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(401, "Bearer", "an-access-token"))
	ends(t, err, aai.AuthDenied)
	again, err = s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(403, "", "an-access-token"))
	assert.Assert(t, !again, "a refusal that is not about the login: %v, %v", again, err)
	assert.NilError(t, err, again)
	again, err = s.logins.HandleRefusal(t.Context(), s.recipe, s.refusedBy(401, "Bearer", "an-older-token"))
	assert.Assert(t, again, "a refusal of a token that was replaced since: %v, %v", again, err)
	assert.NilError(t, err, again)
}

// TestRow15Outage: the stored token survives an outage of the server.
func TestRow15Outage(t *testing.T) {
	s := newStage(t)
	s.logIn()
	good := s.fake.handlerFor("/token")
	before := s.secrets.all()
	for name, bad := range map[string]http.HandlerFunc{
		"503": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) },
		"429": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusTooManyRequests) },
		"a cut connection": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		},
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"access_token":"x"`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.fake.setHandler("/token", bad)
			s.clock.ahead.Store(int64(9*beyondTokenLife/11 + 30e9)) // half a minute before its expiry: the old one still serves
			err := s.authorize(t.Context())
			assert.Check(t, err, "a token that has not ended: %v", err)
			s.clock.ahead.Store(int64(beyondTokenLife))
			ends(t, s.authorize(t.Context()), aai.AppNotRunning)
			assert.Check(t, is.Len(s.secrets.all(), len(before)), before)
			s.clock.ahead.Store(0)
		})
	}
	s.fake.setHandler("/token", good)
	s.clock.pass(beyondTokenLife)
	s.t = t
	assert.Check(t, s.authorize(t.Context()))
	n := s.windows.Load()
	assert.Check(t, n == 1, "%d windows", n)
}

// TestRow16Redirects: no redirect of a secret request is followed.
func TestRow16Redirects(t *testing.T) {
	var reached atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer target.Close()
	away := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, status) }
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := newStage(t, func(f *fake) {
			f.metadata["revocation_endpoint"] = f.URL + "/revoke"
			f.handle["/revoke"] = away(status)
		})
		// Regardless of the client's settings.
		s.logins = s.open(s.watched, func(_ *world, c *loginConfig) { c.Client = &http.Client{Transport: http.DefaultTransport} })
		good := s.fake.handlerFor("/token")
		s.fake.setHandler("/token", away(status))
		ended := s.ask(t.Context())
		_, _ = get(t, (<-s.requests).answer(nil))
		ends(t, <-ended, aai.AuthInvalid)

		s.fake.setHandler("/token", good)
		s.clock.pass(beyondTokenLife) // no failure is stored
		s.logIn()
		s.fake.setHandler("/token", away(status))
		s.clock.pass(beyondTokenLife)
		ends(t, s.authorize(t.Context()), aai.AuthInvalid)
		bye, err := s.logins.Logout(t.Context(), strings.TrimPrefix(s.fake.URL, "http://"))
		assert.NilError(t, err, "%+v", bye)
		assert.Equal(t, bye.Revoked, 0, "%+v", bye)
		assert.Equal(t, bye.Forgotten, 1, "%+v", bye)
	}
	n := reached.Load()
	assert.Check(t, n == 0, "the target was reached %d times", n)
}

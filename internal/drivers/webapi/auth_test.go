package webapi

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// The secrets of the tests. No response may contain one.
const (
	firstToken  = "tok-first-4711+/="
	secondToken = "tok-second-0815"
)

// login adds credentials with add and answers refusals with refused.
type login struct {
	add     func(r *aai.Recipe, req *http.Request, n int) error
	refused func(resp *http.Response) (bool, error)

	mu       sync.Mutex
	added    int
	statuses []int
}

func (l *login) Authorize(_ context.Context, r *aai.Recipe, req *http.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added++
	return l.add(r, req, l.added)
}

func (l *login) HandleRefusal(_ context.Context, _ *aai.Recipe, resp *http.Response) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses = append(l.statuses, resp.StatusCode)
	if l.refused == nil {
		return false, nil
	}
	return l.refused(resp)
}

// bearer adds the first token, and from the second time on the second.
func bearer(_ *aai.Recipe, req *http.Request, n int) error {
	token := firstToken
	if n > 1 {
		token = secondToken
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}

// knownPersonRecipe returns a recipe of an app with logins.
func knownPersonRecipe(base, method, path string, params ...string) *aai.Recipe {
	r := recipe(base, method, path, params...)
	r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthOAuth2}
	return r
}

func withLogin(t testing.TB, l *login) *Driver {
	c := fast(plainClient(t))
	c.Authorizer = l
	return New(c)
}

func TestAuthorized(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "hello"))
	r := knownPersonRecipe(s.URL, http.MethodPost, "/", "a")
	r.HTTP.Headers = map[string]string{"X-App": "1"}
	run(t, compile(t, withLogin(t, &login{add: bearer}), r), map[string]any{"a": "b"})
	got := s.last(t)
	assert.Check(t, is.Equal(got.Header.Get("Authorization"), "Bearer "+firstToken), got.Header)
	assert.Check(t, is.Equal(got.body, `{"a":"b"}`), got.Header)
	// An app without logins gets no credentials.
	run(t, compile(t, withLogin(t, &login{add: bearer}), recipe(s.URL, http.MethodPost, "/")), nil)
	assert.Check(t, is.Equal(s.last(t).Header.Get("Authorization"), ""))
}

func TestNobodyCanLogIn(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "hello"))
	fail(t, compile(t, newDriver(t), knownPersonRecipe(s.URL, http.MethodGet, "/")), nil, aai.AuthRequired, aai.NotDelivered)
	want := &aai.Error{Code: aai.AuthRequired, Message: "log in first", LoginURL: "https://auth.example.com/x"}
	l := &login{add: func(*aai.Recipe, *http.Request, int) error { return want }}
	e := fail(t, compile(t, withLogin(t, l), knownPersonRecipe(s.URL, http.MethodGet, "/")), nil, aai.AuthRequired, aai.NotDelivered)
	if e.LoginURL != want.LoginURL || e.Message != want.Message || want.Delivery != "" || l.added != 1 {
		t.Errorf("got %+v after %d tries", e, l.added)
	}
	assert.Check(t, is.Equal(len(s.requests()), 0))
}

// The server no longer accepts the first token. Even a POST may be repeated then.
func TestRefusedAndRenewed(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secondToken {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte("who are you?"))
		}
	})
	l := &login{add: bearer, refused: func(*http.Response) (bool, error) { return true, nil }}
	run(t, compile(t, withLogin(t, l), knownPersonRecipe(s.URL, http.MethodPost, "/", "a")), map[string]any{"a": "b"})
	all := s.requests()
	assert.Assert(t, is.Len(all, 2))
	assert.Equal(t, all[1].body, `{"a":"b"}`)
	assert.Assert(t, is.Len(l.statuses, 1))
	assert.Equal(t, l.statuses[0], 401)
}

func TestRefusedForGood(t *testing.T) {
	for _, c := range []struct {
		name     string
		status   int
		add      func(*aai.Recipe, *http.Request, int) error
		refused  func(*http.Response) (bool, error)
		code     aai.Code
		requests int
	}{
		{"the new one is refused, too", 401, bearer, func(*http.Response) (bool, error) { return true, nil }, aai.AuthExpired, 2},
		{"there is no new one", 401, bearer, nil, aai.AuthExpired, 1},
		{"nothing was added", 401, func(*aai.Recipe, *http.Request, int) error { return nil }, nil, aai.AuthRequired, 1},
		{"the login says why", 401, bearer, func(*http.Response) (bool, error) {
			return false, &aai.Error{Code: aai.AuthInvalid, Message: "not so"}
		}, aai.AuthInvalid, 1},
		{"the login fails", 401, bearer, func(*http.Response) (bool, error) { return true, errors.New("oops") }, aai.AutomationFailed, 1},
		{"may not", 403, bearer, nil, aai.AuthDenied, 1},
		{"may not, with more rights either", 403, bearer, func(*http.Response) (bool, error) { return true, nil }, aai.AuthDenied, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, answers(c.status, "text/plain", "no: "+firstToken+" "+secondToken))
			l := &login{add: c.add, refused: c.refused}
			e := fail(t, compile(t, withLogin(t, l), knownPersonRecipe(s.URL, http.MethodGet, "/")), nil, c.code, aai.Delivered)
			n := len(s.requests())
			assert.Check(t, is.Equal(n, c.requests))
			assert.Check(t, is.Len(l.statuses, 1))
			told := e.Message + e.Hint
			assert.Check(t, c.name == "nothing was added" || !strings.Contains(told, firstToken), "a token is told: %s", told)
			assert.Check(t, c.requests != 2 || !strings.Contains(told, secondToken), "a token is told: %s", told)
		})
	}
}

// Without a login, the error for a 401 explains that.
func TestUnauthorizedWithoutALogin(t *testing.T) {
	s := serve(t, answers(http.StatusUnauthorized, "", ""))
	l := &login{add: bearer}
	e := fail(t, compile(t, withLogin(t, l), recipe(s.URL, http.MethodGet, "/")), nil, aai.AuthRequired, aai.Delivered)
	assert.Assert(t, is.Contains(e.Hint, "descriptor does not describe one"), "%+v", e)
	assert.Assert(t, is.Len(l.statuses, 0), "%+v", e)
}

// Credentials are redacted in all parts of a response: in text, in JSON with escapes, in names,
// headers and errors.
func TestSecretsDoNotComeBack(t *testing.T) {
	const apiKey = "key 7&8=9/ä"
	add := func(_ *aai.Recipe, req *http.Request, _ int) error {
		req.Header.Set("Authorization", "Bearer "+firstToken)
		req.AddCookie(&http.Cookie{Name: "session", Value: "cookie-12345"})
		q := req.URL.Query()
		q.Set("key", apiKey)
		req.URL.RawQuery = q.Encode()
		return nil
	}
	escaped := strings.NewReplacer("-", `\u002d`, "/", `\/`).Replace(firstToken)
	for _, c := range []struct {
		status            int
		contentType, body string
	}{
		{200, "text/plain", "Authorization: Bearer " + firstToken + "\nsession=cookie-12345\n?key=key+7%268%3D9%2F%C3%A4\n" + apiKey},
		{200, "application/json", `{"` + escaped + `": ["Bearer ` + escaped + `", "cookie\u002d12345"]}`},
		{200, "application/json", `{"broken": "` + firstToken},
		{400, "application/json", `{"error": {"message": "bad token ` + escaped + `"}}`},
		{500, "text/plain", "GET /?key=key+7%268%3D9%2F%C3%A4 with " + firstToken},
		{200, "text/plain", "?t=" + url.QueryEscape(firstToken) + " Basic " + base64.StdEncoding.EncodeToString([]byte(firstToken))},
		{200, "application/json", `{"sent": "{\"key\": \"` + strings.ReplaceAll(url.QueryEscape(firstToken), "%", `\u0025`) + `\"}"}`},
		{500, "text/plain", "at /?t=" + url.QueryEscape(firstToken)},
		{302, "", ""},
		{201, "", ""},
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "https://"+strings.TrimSuffix(firstToken, "+/=")+".example.com/?"+r.URL.RawQuery)
			answers(c.status, c.contentType, c.body)(w, r)
		})
		action := compile(t, withLogin(t, &login{add: add}), knownPersonRecipe(s.URL, http.MethodPost, "/", "a"))
		result, err := action(soon(t), &aai.Call{})
		told := ""
		if err != nil {
			e := aai.AsError(err)
			told = e.Message + e.Hint
			for cause := e.Err; cause != nil; cause = errors.Unwrap(cause) {
				told += cause.Error()
			}
		} else {
			told = result.Text + result.Warning + compact(result.Data)
		}
		for _, secret := range []string{firstToken, "tok-first-4711%2B", base64.StdEncoding.EncodeToString([]byte(firstToken))[:12], "cookie-12345", apiKey, "key+7%268"} {
			assert.Check(t, !strings.Contains(told, secret), "%d %s: %q is told: %s", c.status, c.body, secret, told)
		}
	}
}

// Binary content is searched before encoding: in base64 a secret at an odd offset would not be
// found.
func TestSecretsAreNotInFiles(t *testing.T) {
	add := func(_ *aai.Recipe, req *http.Request, _ int) error {
		req.Header.Set("Authorization", "Bearer "+firstToken)
		return nil
	}
	var wide []byte
	for _, c := range []byte(firstToken) {
		wide = append(wide, 0, c)
	}
	for name, c := range map[string]struct{ contentType, body string }{
		"at the beginning": {"application/octet-stream", firstToken + "\x00\x01"},
		"a byte later":     {"application/octet-stream", "\x00\x01" + firstToken},
		"in wide letters":  {"application/octet-stream", "\x00\x01\x02" + string(wide)},
		"in a picture":     {"image/png", "\x89PNG\r\n\x1a\n" + firstToken},
		"in a PDF":         {"application/pdf", "%PDF-1.7\x00 " + firstToken},
	} {
		s := serve(t, answers(http.StatusOK, c.contentType, c.body))
		result, err := compile(t, withLogin(t, &login{add: add}), knownPersonRecipe(s.URL, http.MethodPost, "/", "a"))(soon(t), &aai.Call{})
		assert.NilError(t, err)
		if strings.Contains(compact(result.Data), "base64") || len(result.Images) > 0 || !strings.Contains(result.Text, "content is omitted") {
			t.Errorf("%s: %q, %s, %d pictures", name, result.Text, compact(result.Data), len(result.Images))
		}
	}
	s := serve(t, answers(http.StatusOK, "application/octet-stream", "\x00\x01nothing of it"))
	result, err := compile(t, withLogin(t, &login{add: add}), knownPersonRecipe(s.URL, http.MethodPost, "/", "a"))(soon(t), &aai.Call{})
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, is.Contains(compact(result.Data), "base64"), "%+v", result)
}

// A key in the query appears in the client's errors, and must not go further.
func TestSecretsAreNotInErrors(t *testing.T) {
	add := func(_ *aai.Recipe, req *http.Request, _ int) error {
		req.URL.RawQuery = "key=" + secondToken
		return nil
	}
	action := compile(t, withLogin(t, &login{add: add}), knownPersonRecipe("http://"+closedAddress, http.MethodPost, "/"))
	e := fail(t, action, nil, aai.AppNotRunning, aai.NotDelivered)
	for cause := error(&e); cause != nil; cause = errors.Unwrap(cause) {
		assert.Check(t, !strings.Contains(cause.Error(), secondToken), "the key is told: %v", cause)
	}
}

// An authorizer must not redirect the request.
func TestTheLoginStaysWithTheRequest(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "", ""))
	for name, add := range map[string]func(*aai.Recipe, *http.Request, int) error{
		"host":   func(_ *aai.Recipe, req *http.Request, _ int) error { req.URL.Host = "127.0.0.1:1"; return nil },
		"name":   func(_ *aai.Recipe, req *http.Request, _ int) error { req.Host = "evil.example.com"; return nil },
		"path":   func(_ *aai.Recipe, req *http.Request, _ int) error { req.URL.Path = "/admin"; return nil },
		"scheme": func(_ *aai.Recipe, req *http.Request, _ int) error { req.URL.Scheme = "https"; return nil },
		"method": func(_ *aai.Recipe, req *http.Request, _ int) error { req.Method = http.MethodDelete; return nil },
	} {
		e := fail(t, compile(t, withLogin(t, &login{add: add}), knownPersonRecipe(s.URL, http.MethodGet, "/x")), nil, aai.Internal, aai.NotDelivered)
		assert.Check(t, is.Equal(len(s.requests()), 0), "%s %s", name, e.Message)
	}
}

// An argument cannot replace the key.
func TestArgumentsAreNotTheKey(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "", ""))
	add := func(_ *aai.Recipe, req *http.Request, _ int) error {
		q := req.URL.Query()
		q.Add("key", firstToken)
		req.URL.RawQuery = q.Encode()
		return nil
	}
	r := knownPersonRecipe(s.URL, http.MethodGet, "/")
	r.HTTP.Auth = &aai.AuthRecipe{Kind: aai.AuthAPIKey, In: "query", Name: "key"}
	action := compile(t, withLogin(t, &login{add: add}), r)
	fail(t, action, map[string]any{"key": "mine"}, aai.InvalidParams, aai.NotDelivered)
	run(t, action, map[string]any{"key2": "mine"})
	got := s.last(t).URL.Query()["key"]
	assert.Assert(t, is.Len(got, 1))
	assert.Equal(t, got[0], firstToken)
}

const benchAnswer = `{"id": "7", "title": "A thing", "tags": ["a", "b", "c"], "size": 12345}`

// BenchmarkCall measures a call of a tool, and the same request by Go's own client.
func BenchmarkCall(b *testing.B) {
	s := httptest.NewServer(answers(http.StatusOK, "application/json", benchAnswer))
	b.Cleanup(s.Close)
	client := plainClient(b)
	b.Run("Bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Get(s.URL + "/things/7?v=hello")
			assert.NilError(b, err)
			_, _ = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
	})
	b.Run("Tool", func(b *testing.B) {
		action := compile(b, New(fast(client)), recipe(s.URL, http.MethodGet, "/things/{id}", "id", "v"))
		call := &aai.Call{Args: map[string]any{"id": "7", "v": "hello"}}
		b.ReportAllocs()
		for b.Loop() {
			_, err := action(b.Context(), call)
			assert.NilError(b, err)
		}
	})
}

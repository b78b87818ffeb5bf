package webapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestStatuses(t *testing.T) {
	for status, want := range map[int]aai.Code{
		301: aai.APIRequestFailed, 304: aai.APIRequestFailed, 400: aai.InvalidParams, 401: aai.AuthRequired, 402: aai.APIRequestFailed,
		403: aai.AuthDenied, 404: aai.APIRequestFailed, 405: aai.APIRequestFailed, 408: aai.Timeout, 409: aai.APIRequestFailed,
		410: aai.APIRequestFailed, 412: aai.APIRequestFailed, 413: aai.InvalidParams, 414: aai.InvalidParams, 415: aai.APIRequestFailed,
		418: aai.APIRequestFailed, 422: aai.InvalidParams, 429: aai.RateLimited, 451: aai.APIRequestFailed, 500: aai.APIRequestFailed,
		501: aai.APIRequestFailed, 502: aai.APIRequestFailed, 503: aai.AppNotRunning, 504: aai.Timeout, 599: aai.APIRequestFailed,
	} {
		s := serve(t, answers(status, "text/plain", "words of the server"))
		e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodPost, "/items/{id}", "id")), map[string]any{"id": "s3cret"}, want, aai.Delivered)
		assert.Check(t, strings.HasPrefix(e.Message, "POST /items/{id} of "+s.URL+" answered "+statusText(status)), "%d %s", status, e.Message)
		assert.Check(t, is.Equal(strings.Contains(e.Message, `with the text: "words of the server"`), (status >= 400)), "%d %s", status, e.Message)
		assert.Check(t, !strings.Contains(e.Message, "s3cret"), "%d: a value is told: %s", status, e.Message)
		n := len(s.requests())
		assert.Check(t, is.Equal(n, 1), "%d: a POST was sent %d times", status, n)
		assert.Check(t, status < 400 || status == 402 || status == 405 || status == 415 || status == 418 || status == 451 || e.Hint != "", "%d has no hint", status)
	}
}

func TestWordsOfTheServer(t *testing.T) {
	for _, c := range []struct{ contentType, body, want string }{
		{"application/problem+json", `{"type":"about:blank","title":"Bad name","detail":"A name has letters.","status":400}`, "Bad name: A name has letters."},
		{"application/json", `{"error":{"code":7,"message":"no such calendar"}}`, "no such calendar"},
		{"application/json", `{"error":"invalid_scope","error_description":"ask for more"}`, "invalid_scope: ask for more"},
		{"application/json", `{"message":"Validation Failed","errors":[{"field":"x"}]}`, "Validation Failed"},
		{"application/json", `{"errors":[{"title":"Odd","detail":"It is odd"}]}`, "Odd: It is odd"},
		{"application/json", `{"detail":[{"loc":["body","n"],"msg":"not a number"}]}`, "not a number"},
		{"application/json", `["first","second"]`, "first"},
		{"application/json", `{"ok":false,"why":{"n":1}}`, `{"ok":false,"why":{"n":1}}`},
		{"application/json", `{"error": broken`, `{"error": broken`},
		{"text/html", "<html><head><TITLE>Down for\n repair</TITLE><style>x</style>", "Down for repair"},
		{"text/html", "<html><p>no title", ""},
		{"text/plain", "a\x1b[2Jb \u202e c\n\nd", "a[2Jb c d"},
		{"text/plain", strings.Repeat("ab ", 200), strings.Repeat("ab ", 98) + "ab…"},
		{"image/png", "\x89PNG\r\n\x1a\n", ""},
		{"text/plain", "", ""},
	} {
		s := serve(t, answers(http.StatusBadRequest, c.contentType, c.body))
		e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, aai.InvalidParams, aai.Delivered)
		_, said, found := strings.Cut(e.Message, "with the text: ")
		want := ""
		if c.want != "" {
			want = `"` + strings.ReplaceAll(c.want, `"`, `\"`) + `"`
		}
		assert.Check(t, is.Equal(said, want), c.body)
		assert.Check(t, is.Equal(found, (want != "")), c.body)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"7", "", 7 * time.Second},
		{" 7 ", "", 7 * time.Second},
		{"0", "", 0},
		{"-7", "", 0},
		{"soon", "", 0},
		{"7.5", "", 0},
		{"99999999999", "", maxRetryAfter},
		{"18446744073709551615", "", maxRetryAfter},
		{"18446744073709551616", "", 0},
		{at(time.Minute), "", time.Minute},
		{at(-time.Minute), "", 0},
		{at(400 * 24 * time.Hour), "", maxRetryAfter},
		{at(time.Hour + time.Minute), at(time.Hour), time.Minute}, // with a clock that is an hour fast
	} {
		h := http.Header{}
		h.Set("Retry-After", c.value)
		h.Set("Date", c.date)
		assert.Check(t, is.Equal(retryAfter(h, now), c.want), "%q %q", c.value, c.date)
	}
}

func TestRateLimitedByTheServer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, aai.RateLimited, aai.Delivered)
	assert.Check(t, is.Equal(e.RetryAfter, time.Hour))
	assert.Check(t, is.Len(s.requests(), 1))
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other := serve(t, answers(http.StatusOK, "text/plain", "other"))
	for _, c := range []struct{ location, says string }{
		{other.URL + "/private?token=abcdef", "points to " + other.URL},
		{"/elsewhere?token=abcdef", "points to another path of the same server"},
		{"//127.0.0.1:9/x", "points to http://127.0.0.1:9"},
		{"javascript:alert(1)", "points to javascript://"},
		{"http://\x7f/", "the server's answer cannot be read"},
		{"", "redirects are not followed"},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.location != "" {
					w.Header()["Location"] = []string{c.location}
				}
				w.WriteHeader(status)
			})
			e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, aai.APIRequestFailed, aai.Delivered)
			assert.Assert(t, strings.HasSuffix(e.Message, c.says), "%d %s %s", status, c.location, e.Message)
			assert.Assert(t, !strings.Contains(e.Message, "abcdef"), "%d %s %s", status, c.location, e.Message)
		}
	}
	n := len(other.requests())
	assert.Check(t, is.Equal(n, 0), "%d redirects were followed", n)
}

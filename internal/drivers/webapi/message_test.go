package webapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

func TestLeftoversGoToTheQuery(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete} {
		action := compile(t, newDriver(t), recipe(s.URL, method, "/{id}", "z", "id", "tags", "none", "n"))
		run(t, action, map[string]any{
			"id": "1", "tags": []any{"a b", json.Number("2"), true}, "z": "ü&+", "n": json.Number("1e400"), "none": nil, "more": "x",
		})
		got := s.last(t)
		const want = "/1?z=%C3%BC%26%2B&tags=a%20b&tags=2&tags=true&n=1e400&more=x"
		assert.Check(t, is.Equal(got.Method, method), got.Header)
		assert.Check(t, is.Equal(got.RequestURI, want), got.Header)
		assert.Check(t, is.Equal(got.body, ""), got.Header)
		assert.Check(t, is.Equal(got.Header.Get("Content-Type"), ""), got.Header)
	}
}

func TestQueryTakesNoObjects(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/", "filter"))
	for _, value := range []any{map[string]any{"a": 1}, []any{[]any{}}, []any{map[string]any{}}, []any{nil}} {
		e := fail(t, action, map[string]any{"filter": value}, aai.InvalidParams, aai.NotDelivered)
		assert.Check(t, strings.HasPrefix(e.Message, "filter: "), "%v %s", value, e.Message)
	}
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 0), "%d requests were sent", n)
}

func TestLeftoversGoToTheBody(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch} {
		action := compile(t, newDriver(t), recipe(s.URL, method, "/{id}", "id", "text", "deep"))
		run(t, action, map[string]any{
			"id": "1", "text": "<a> & \u2028 ü", "deep": map[string]any{"n": json.Number("12345678901234567890"), "none": nil, "list": []any{}},
		})
		got := s.last(t)
		const want = `{"deep":{"list":[],"n":12345678901234567890,"none":null},"text":"<a> & \u2028 ü"}`
		assert.Check(t, is.Equal(got.Method, method), got.Header)
		assert.Check(t, is.Equal(got.RequestURI, "/1"), got.Header)
		assert.Check(t, is.Equal(got.body, want), got.Header)
		assert.Check(t, is.Equal(got.Header.Get("Content-Type"), "application/json"), got.Header)
		run(t, action, map[string]any{"id": "1"})
		got = s.last(t)
		assert.Check(t, is.Equal(got.body, "{}"), "without values the body is %q", got.body)
	}
}

// A tool without parameters for the body sends none.
func TestNoBody(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPost, "/{id}/start", "id")
	r.HTTP.DefaultHeaders = map[string]string{"Content-Type": "application/json"}
	action := compile(t, newDriver(t), r)
	run(t, action, map[string]any{"id": "1"})
	got := s.last(t)
	assert.Check(t, is.Equal(got.body, ""), "%d %v", got.ContentLength, got.Header)
	assert.Check(t, got.ContentLength == 0, "got %q of %d bytes, %v", got.body, got.ContentLength, got.Header)
	assert.Check(t, is.Equal(got.Header.Get("Content-Type"), ""), "%d %v", got.ContentLength, got.Header)
	run(t, action, map[string]any{"id": "1", "more": true}) // allowed by its schema
	got = s.last(t)
	assert.Check(t, is.Equal(got.body, `{"more":true}`), got.Header)
	assert.Check(t, is.Equal(got.Header.Get("Content-Type"), "application/json"), got.Header)
}

func TestFormBody(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPost, "/", "a", "b")
	r.HTTP.Headers = map[string]string{"content-type": "application/x-www-form-urlencoded"}
	action := compile(t, newDriver(t), r)
	run(t, action, map[string]any{"b": []any{"1", "2"}, "a": "x&b=3"})
	got := s.last(t)
	assert.Check(t, is.Equal(got.body, "a=x%26b%3D3&b=1&b=2"), got.Header)
	assert.Check(t, is.Equal(got.Header.Get("Content-Type"), "application/x-www-form-urlencoded"), got.Header)
	fail(t, action, map[string]any{"a": map[string]any{}}, aai.InvalidParams, aai.NotDelivered)
}

// The app's headers override the defaults, and the tool's override those.
func TestHeaders(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPatch, "/", "a")
	r.HTTP.DefaultHeaders = map[string]string{"X-A": "default", "x-b": "default", "Accept-Encoding": "br", "User-Agent": "App/1"}
	r.HTTP.Headers = map[string]string{"x-a": "tool", "Content-Type": "application/merge-patch+json", "X-Empty": ""}
	run(t, compile(t, newDriver(t), r), map[string]any{"a": "1"})
	got := s.last(t).Header
	for name, want := range map[string]string{
		"X-A": "tool", "X-B": "default", "Content-Type": "application/merge-patch+json", "User-Agent": "App/1",
		"Accept": "application/json, text/*;q=0.9, */*;q=0.8", "Accept-Encoding": "gzip", "X-Empty": "",
	} {
		values := got[name]
		assert.Check(t, slices.Equal(values, []string{want}), "%s %q %q", name, values, want)
	}
	assert.Check(t, is.Equal(got.Get("Cookie"), ""), got)
	assert.Check(t, is.Equal(got.Get("Authorization"), ""), got)
	assert.Check(t, is.Equal(got.Get("Referer"), ""), got)
}

// Cookies of a response are not sent with the next request.
func TestNoCookies(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "7"})
	})
	client := plainClient(t)
	client.Jar = jar{}
	action := compile(t, New(fast(client)), recipe(s.URL, http.MethodGet, "/"))
	run(t, action, nil)
	run(t, action, nil)
	got := s.last(t).Header.Get("Cookie")
	assert.Check(t, is.Equal(got, ""), "the cookie came back: %q", got)
}

// jar is a cookie jar with a cookie for every site.
type jar struct{}

func (jar) SetCookies(*url.URL, []*http.Cookie) {}
func (jar) Cookies(*url.URL) []*http.Cookie     { return []*http.Cookie{{Name: "id", Value: "7"}} }

// For all arguments, the server reads exactly the given names and values from the body and the
// query.
func TestArgumentsArriveWhole(t *testing.T) {
	s := serve(t, answers(http.StatusNoContent, "", ""))
	d := newDriver(t)
	get := compile(t, d, recipe(s.URL, http.MethodGet, "/", "a"))
	post := compile(t, d, recipe(s.URL, http.MethodPost, "/", "a"))
	rapid.Check(t, func(rt *rapid.T) {
		args := map[string]any{}
		want := url.Values{}
		for name, value := range rapid.MapOf(rapid.String(), rapid.String()).Draw(rt, "args") {
			args[name] = value
			want.Set(name, value)
		}
		run(t, get, args)
		got, err := url.ParseQuery(s.last(t).URL.RawQuery)
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("%q became the query %q", args, s.last(t).URL.RawQuery)
		}
		if len(args) == 0 {
			return
		}
		run(t, post, args)
		var object map[string]any
		if err := json.Unmarshal([]byte(s.last(t).body), &object); err != nil || !reflect.DeepEqual(object, args) {
			rt.Fatalf("%q became the body %q", args, s.last(t).body)
		}
	})
}

// TestReservedCharacters checks that a parameter's reserved characters are sent as they are, but
// none that begins another parameter.
func TestReservedCharacters(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodGet, "/", "q", "list")
	no := false
	r.HTTP.Send = map[string]aai.SendRecipe{"q": {In: "query", Reserved: true}, "list": {In: "query", Reserved: true, Explode: &no}}
	run(t, compile(t, newDriver(t), r), map[string]any{"q": "a/b:c?d=[e],(f)&g=h#i+j", "list": []any{"a/b", "c,d"}})
	const want = "/?q=a/b:c?d=[e],(f)%26g=h%23i%2Bj&list=a/b,c%2Cd"
	assert.Check(t, is.Equal(s.last(t).RequestURI, want))
}

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

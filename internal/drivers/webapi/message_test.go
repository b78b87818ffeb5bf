package webapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

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

package webapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// A descriptor must not set headers that carry credentials or frame the message. No other header
// creates a second header or a second request.
func TestRow16HeaderInjection(t *testing.T) {
	d := newDriver(t)
	for _, header := range []struct{ name, value string }{
		{"Host", "evil.example.com"}, {"host", "evil.example.com"}, {"Content-Length", "0"}, {"Transfer-Encoding", "chunked"},
		{"Connection", "upgrade"}, {"Keep-Alive", "x"}, {"Upgrade", "h2c"}, {"TE", "trailers"}, {"Trailer", "X"}, {"Expect", "100-continue"},
		{"Authorization", "Bearer x"}, {"authorization", "x"}, {"Cookie", "a=b"}, {"DPoP", "x"}, {"Proxy-Authorization", "x"}, {"Proxy-Connection", "x"},
		{"X-Forwarded-For", "127.0.0.1"}, {"x-forwarded-host", "x"}, {"Forwarded", "for=x"}, {"X-Real-IP", "127.0.0.1"}, {"Via", "x"},
		{"X-HTTP-Method-Override", "DELETE"}, {"X-Original-URL", "/admin"}, {"X-Rewrite-URL", "/admin"}, {"Content-Encoding", "gzip"},
		{"X-A\r\nAuthorization", "x"}, {"X A", "x"}, {"X-A:", "x"}, {"", "x"}, {"Ä", "x"}, {"X-A\x00", "x"},
		{"X-A", "x\r\nAuthorization: y"}, {"X-A", "x\ny"}, {"X-A", "x\x00"}, {"X-A", "x\x7f"}, {"X-A", "\x1b[0m"},
	} {
		for _, field := range []string{"default_headers", "headers"} {
			r := recipe("https://api.example.com", http.MethodGet, "/")
			headers := map[string]string{header.name: header.value}
			if field == "headers" {
				r.HTTP.Headers = headers
			} else {
				r.HTTP.DefaultHeaders = headers
			}
			_, err := d.Compile(r)
			e := aai.AsError(err)
			assert.Assert(t, e != nil, "%q: %q in %s gave %v", header.name, header.value, field, err)
			assert.Equal(t, e.Code, aai.DescriptorInvalid, "%q %q %s %v", header.name, header.value, field, err)
			assert.Assert(t, strings.HasPrefix(e.Message, field+"."), "%q: %q in %s gave %v", header.name, header.value, field, err)
		}
	}
}

// No argument becomes a header.
func TestAttackHeaderInjectionByValues(t *testing.T) {
	s := serve(t, answers(http.StatusNoContent, "", ""))
	d := newDriver(t)
	get := compile(t, d, recipe(s.URL, http.MethodGet, "/{id}", "id", "q"))
	post := compile(t, d, recipe(s.URL, http.MethodPost, "/{id}", "id", "q"))
	const value = "x HTTP/1.1\r\nX-Evil: 1\r\nContent-Length: 0\r\n\r\nGET /admin HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, action := range []aai.Action{get, post} {
		run(t, action, map[string]any{"id": value, "q": value, value: value})
	}
	all := s.requests()
	assert.Assert(t, is.Len(all, 2), "2 calls became %d requests", len(all))
	for _, r := range all {
		names := slices.Sorted(maps.Keys(r.Header))
		assert.Equal(t, r.URL.Path, "/"+value, r.Header)
		assert.Assert(t, !slices.Contains(names, "X-Evil"), r.Header)
		assert.Assert(t, r.Header.Get("Content-Length") != "0", r.Header)
	}
}

// Headers that override the method are not sent.
func TestAttackMethods(t *testing.T) {
	for _, method := range []string{"", "get", "TRACE", "OPTIONS", "CONNECT", "GET ", "PRI", "GET\r\n", "GET /x HTTP/1.1\r\nX: y\r\n\r\nDELETE"} {
		_, err := newDriver(t).Compile(recipe("https://api.example.com", method, "/"))
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%q gave %v", method, err)
		assert.Assert(t, strings.HasPrefix(e.Message, "method:"), "%q gave %v", method, err)
	}
}

// A remote descriptor must not name this computer. The client checks names that resolve to it,
// when it dials.
func TestAttackBaseURLOnThisComputer(t *testing.T) {
	d := newDriver(t)
	for base, allowed := range map[string]bool{
		"http://localhost:8080": false, "https://localhost": false, "https://LOCALHOST": false, "http://127.0.0.1": false, "https://127.9.9.9": false,
		"http://[::1]:9": false, "https://[::ffff:127.0.0.1]": false, "https://0.0.0.0": false, "https://[::]:9": false,
		"https://127.1": false, "https://2130706433": false, "https://localhost.": false, "https://app.localhost": false, "https://api.example.com": true,
	} {
		r := recipe(base, http.MethodGet, "/")
		r.HTTP.Origin = "https://evil.example.com"
		_, err := d.Compile(r)
		e := aai.AsError(err)
		assert.Check(t, is.Equal((e == nil), allowed), "%s %v", base, err)
		assert.Check(t, e == nil || e.Code == aai.DescriptorInvalid && strings.Contains(e.Message, "evil.example.com"), "%s in a descriptor from elsewhere gave %v", base, err)
		for _, origin := range []string{"", "http://localhost:9000", "http://127.0.0.1:9000"} {
			r.HTTP.Origin = origin
			_, err := d.Compile(r)
			assert.Check(t, err, "%s in a descriptor from %q gave %v", base, origin, err)
		}
	}
}

// UntrustedSource is the origin of the response, whatever the descriptor claims.
func TestAttackBaseURLOnAnotherHost(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "x"))
	r := recipe(s.URL, http.MethodGet, "/")
	r.App, r.HTTP.Origin = "good.example.com/org.example.good", "http://localhost:1"
	got := run(t, compile(t, newDriver(t), r), nil).UntrustedSource
	assert.Check(t, is.Equal(got, s.URL), "the words are said to be of %q", got)
}

// A million keys exceed the limit of a response, in every form.
func TestAttackAMillionKeys(t *testing.T) {
	var b strings.Builder
	for i := range 1_000_000 {
		b.WriteString(`,"` + strconv.Itoa(i) + `":0`)
	}
	body := "{" + b.String()[1:] + "}"
	for _, coding := range []string{"", "gzip"} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header()["Content-Encoding"] = []string{coding}
			_, _ = w.Write(compress(coding, body))
		})
		e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, aai.APIRequestFailed, aai.Delivered)
		assert.Check(t, is.Contains(e.Message, "too large"))
	}
}

// A wrong content type is not trusted.
func TestAttackWrongContentType(t *testing.T) {
	const page = "<html><script>alert(1)</script></html>"
	for contentType, want := range map[string]func(*aai.Result) bool{
		"application/json":        func(r *aai.Result) bool { return r.Data == nil && r.Text == page && r.Warning != "" },
		"image/png":               func(r *aai.Result) bool { return len(r.Images) == 0 && r.Data != nil },
		"text/plain":              func(r *aai.Result) bool { return r.Text == page && r.Data == nil },
		"application/pdf":         func(r *aai.Result) bool { return !strings.Contains(r.Text, "script") },
		"text/plain\u202e/json":   func(r *aai.Result) bool { return r.Text == page },
		strings.Repeat("x", 2000): func(r *aai.Result) bool { return len(r.Text) < 300 },
	} {
		r := answer(t, http.StatusOK, contentType, page)
		assert.Check(t, want(r), "%q gave %+v", contentType, r)
	}
}

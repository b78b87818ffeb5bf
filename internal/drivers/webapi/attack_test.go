package webapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// Each test here is one attack by a server or by a descriptor, and named after it.

// A proxy of the environment, a redirect or a default client would bypass the guard. All requests
// go through the configured client.
func TestAttackAroundTheGuardedClient(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "x"))
	guard := &countingTransport{next: http.DefaultTransport}
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	d := New(fast(&http.Client{Transport: guard}))
	for _, method := range methods() {
		run(t, compile(t, d, recipe(s.URL, method, "/", "a")), map[string]any{"a": "b"})
	}
	n := len(s.requests())
	assert.Equal(t, n, len(methods()))
	assert.Equal(t, guard.n, n)
}

type countingTransport struct {
	next http.RoundTripper
	n    int
}

func (c *countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n++
	return c.next.RoundTrip(r)
}

// A redirect to another port must not carry the user's token. The other server proves that it got
// no request.
func TestAttackRedirectToAnotherOrigin(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		thief := serve(t, answers(http.StatusOK, "text/plain", "thanks"))
		s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL, status) })
		client := plainClient(t) // it would follow by default
		c := fast(client)
		c.Authorizer = &login{add: bearer}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			fail(t, compile(t, New(c), knownPersonRecipe(s.URL, method, "/", "a")), map[string]any{"a": "b"}, aai.APIRequestFailed, aai.Delivered)
		}
		n := len(thief.requests())
		assert.Check(t, is.Equal(n, 0), "%d: the other server has seen %d requests", status, n)
		got := s.last(t).Header.Get("Authorization")
		assert.Check(t, got == "Bearer "+firstToken || got == "Bearer "+secondToken, "%d: the server itself got %q", status, got)
	}
}

// 4 GiB of zeros in 4 MiB: reading ends at the limit after decompression.
func TestRow7GzipBomb(t *testing.T) {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	_, _ = w.Write(make([]byte, 16<<20))
	_ = w.Close()
	var sent int
	done := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		for range 4 << 30 / (16 << 20) {
			n, err := w.Write(member.Bytes())
			if sent += n; err != nil {
				return
			}
		}
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodPost, "/")), nil, aai.APIRequestFailed, aai.Delivered)
	runtime.ReadMemStats(&after)
	assert.Check(t, is.Contains(e.Message, "at most 4 MiB"))
	used := after.TotalAlloc - before.TotalAlloc
	assert.Check(t, used <= 64<<20, "%d MiB were allocated", used>>20)
	<-done
}

func TestAttackHugeBody(t *testing.T) {
	body := strings.Repeat("x", maxBody)
	for _, length := range []bool{true, false} {
		serveBody := func(body string) aai.Action {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				if length {
					w.Header().Set("Content-Length", strconv.Itoa(len(body)))
				} else {
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, body)
			})
			return compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/"))
		}
		result := run(t, serveBody(body), nil)
		assert.Check(t, is.Equal(result.Text, body), "what just fits gave %d bytes", len(result.Text))
		e := fail(t, serveBody(body+"x"), nil, aai.APIRequestFailed, aai.Delivered)
		assert.Assert(t, is.Contains(e.Message, "at most 4 MiB are read"))
		assert.Assert(t, is.Contains(e.Hint, "less at a time"))
	}
}

// An endless error page is cut, too, and does not delay the result.
func TestAttackEndlessErrorPage(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusBadRequest)
		for {
			if _, err := io.WriteString(w, strings.Repeat("words ", 1000)); err != nil {
				return
			}
		}
	})
	fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, aai.InvalidParams, aai.Delivered)
}

// rawServer is a server that reads one request header per connection and then runs speak. It ends
// with the test.
func rawServer(t *testing.T, speak func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					speak(conn)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// Servers that violate the protocol, each with the call's result.
func TestAttackProtocol(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	slowly := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			for _, c := range []byte(text) {
				if _, err := conn.Write([]byte{c}); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	says := func(text string) func(net.Conn) {
		return func(conn net.Conn) { _, _ = io.WriteString(conn, text) }
	}
	for _, c := range []struct {
		name     string
		speak    func(net.Conn)
		code     aai.Code // empty: success, with the text
		delivery aai.Delivery
		text     string
	}{
		{"slow headers", slowly(head + "X: " + strings.Repeat("x", 1000)), aai.Timeout, aai.Delivered, ""},
		{"slow body", slowly(head + "Content-Length: 1000\r\n\r\n" + strings.Repeat("x", 1000)), aai.Timeout, aai.Delivered, ""},
		{"huge headers", says(head + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 12_000)), aai.APIRequestFailed, aai.Delivered, ""},
		{"Content-Length says more", says(head + "Content-Length: 100\r\n\r\nshort"), aai.APIRequestFailed, aai.Delivered, ""},
		{"Content-Length says less", says(head + "Content-Length: 5\r\n\r\nshort and more"), "", "", "short"},
		{"Content-Length says minus", says(head + "Content-Length: -5\r\n\r\nshort"), aai.APIRequestFailed, aai.Delivered, ""},
		{"Content-Length says two things", says(head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nshort!"), aai.APIRequestFailed, aai.Delivered, ""},
		{"Content-Length says terabytes", says(head + "Content-Length: 99999999999999\r\n\r\nshort"), aai.APIRequestFailed, aai.Delivered, ""},
		{"Content-Length and chunks", says(head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n0\r\n\r\n"), "", "", "short"},
		{"a chunk of minus", says(head + "Transfer-Encoding: chunked\r\n\r\n-5\r\nshort"), aai.APIRequestFailed, aai.Delivered, ""},
		{"a chunk without an end", says(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"), aai.APIRequestFailed, aai.Delivered, ""},
		{"no HTTP", says("SSH-2.0-OpenSSH_9.2\r\n"), aai.APIRequestFailed, aai.Delivered, ""},
		{"a status of letters", says("HTTP/1.1 abc OK\r\n\r\n"), aai.APIRequestFailed, aai.Delivered, ""},
		{"another protocol", says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), aai.APIRequestFailed, aai.Delivered, ""},
		{"endless hints", says(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", 400_000)), aai.APIRequestFailed, aai.Delivered, ""},
		{"nothing", func(net.Conn) {}, aai.APIRequestFailed, aai.DeliveryUnknown, ""},
		{"gzip cut off", says(head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + string(compress("gzip", strings.Repeat("abc", 1000))[:20])), aai.APIRequestFailed, aai.Delivered, ""},
		{"gzip that is none", says(head + "Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\nnot compressed at all"), aai.APIRequestFailed, aai.Delivered, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			action := compile(t, newDriver(t), recipe(rawServer(t, c.speak), http.MethodPost, "/"))
			if c.code == "" {
				assert.Check(t, is.Equal(run(t, action, nil).Text, c.text))
				return
			}
			limit := 20 * time.Second
			if c.code == aai.Timeout {
				limit = time.Second
			}
			e := failIn(within(t, limit), t, action, nil, c.code, c.delivery)
			assert.Check(t, e.Hint != "" || c.name == "another protocol", "no hint: %s", e.Message)
		})
	}
}

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

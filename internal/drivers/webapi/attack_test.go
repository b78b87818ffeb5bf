package webapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"runtime"
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

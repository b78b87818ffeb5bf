package web_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/web"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestNobodyElseListensAtThePagesName: a name below localhost is both addresses of this computer, and
// Chromium tries ::1 first. A server there with the page's port, such as one of another account, would
// receive the link, and the cookie of every request.
func TestNobodyElseListensAtThePagesName(t *testing.T) {
	w := newWorld(t)
	_, port, err := net.SplitHostPort(w.address)
	assert.NilError(t, err)
	six := net.JoinHostPort("::1", port)
	if l, err := net.Listen("tcp6", six); err == nil {
		_ = l.Close()
		t.Fatalf("another server could listen at %s, where browsers look for the page", six)
	}
	for _, address := range []string{w.address, six} {
		client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.origin()+"/", nil)
		assert.NilError(t, err)
		answer, err := client.Do(r)
		assert.NilError(t, err)
		_ = answer.Body.Close()
		client.CloseIdleConnections()
		assert.Check(t, answer.Header.Get("Content-Security-Policy") != "", "at %s somebody else answers: %v", address, answer.Header)
	}
}

// TestAPortThatIsHalfTaken checks that the page is not opened if one of its addresses is in use.
func TestAPortThatIsHalfTaken(t *testing.T) {
	taken, err := net.Listen("tcp6", "[::1]:0")
	assert.NilError(t, err)
	defer taken.Close() //nolint:errcheck // it ends with the test
	door, err := web.New(web.Config{Gateway: &gateway.Gateway{}})
	assert.NilError(t, err)
	at, _ := taken.Addr().(*net.TCPAddr)
	l, err := door.Listen(t.Context(), at.Port)
	if err == nil {
		_ = l.Close()
		t.Fatal("it is open at 127.0.0.1 while another server is at ::1")
	}
	e := aai.AsError(err)
	assert.Equal(t, e.Code, aai.InvalidParams, "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "httpPort"), "%+v", e)
	assert.Assert(t, e.Hint != "", "%+v", e)
	free, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strings.TrimPrefix(taken.Addr().String(), "[::1]:")))
	assert.NilError(t, err, "what was opened is not closed: %v", err)
	_ = free.Close()
}

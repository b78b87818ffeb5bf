package webapi

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// failing answers the first requests with the status, and later ones with success.
func failing(times int32, status int, header http.Header) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) <= times {
			for name, values := range header {
				w.Header()[name] = values
			}
			w.WriteHeader(status)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func TestIdempotentCallsAreTriedAgain(t *testing.T) {
	for _, c := range []struct {
		method string
		status int
	}{
		{http.MethodGet, 429}, {http.MethodGet, 502}, {http.MethodGet, 503}, {http.MethodGet, 504},
		{http.MethodHead, 503}, {http.MethodPut, 503}, {http.MethodDelete, 503},
	} {
		t.Run(c.method+" "+statusText(c.status), func(t *testing.T) {
			t.Parallel()
			s := serve(t, failing(2, c.status, nil))
			run(t, compile(t, newDriver(t), recipe(s.URL, c.method, "/", "a")), map[string]any{"a": "x"})
			all := s.requests()
			assert.Assert(t, is.Len(all, 3))
			for _, r := range all {
				assert.Check(t, is.Equal(r.body, all[0].body))
				assert.Check(t, is.Equal(r.RequestURI, all[0].RequestURI))
			}
		})
	}
}

func TestOthersAreNot(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPatch} {
		for _, status := range []int{429, 502, 503, 504} {
			s := serve(t, failing(1, status, nil))
			fail(t, compile(t, newDriver(t), recipe(s.URL, method, "/")), nil, codeOf(status), aai.Delivered)
			assert.Check(t, is.Equal(len(s.requests()), 1), "%s %d", method, status)
		}
	}
	for _, status := range []int{400, 404, 408, 409, 500, 501} {
		s := serve(t, failing(1, status, nil))
		fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, codeOf(status), aai.Delivered)
		n := len(s.requests())
		assert.Check(t, is.Equal(n, 1), "GET %d: %d requests", status, n)
	}
}

func TestThreeTriesAtMost(t *testing.T) {
	s := serve(t, failing(99, http.StatusBadGateway, nil))
	e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodDelete, "/")), nil, aai.APIRequestFailed, aai.Delivered)
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 3))
	assert.Check(t, is.Contains(e.Message, "(try 3; an earlier one may have been carried out)"))
}

// The error of a refused second try says that the first may be the reason.
func TestARepeatedDelete(t *testing.T) {
	var n atomic.Int32
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader([]int{0, http.StatusGatewayTimeout, http.StatusNotFound}[n.Add(1)])
	})
	e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodDelete, "/")), nil, aai.APIRequestFailed, aai.Delivered)
	assert.Assert(t, is.Contains(e.Message, "404"))
	assert.Assert(t, is.Contains(e.Message, "an earlier one may have been carried out"))
}

// The server's Retry-After is respected within the deadline. A shorter wait would return too
// early.
func TestRetryAfterIsHonoured(t *testing.T) {
	s := serve(t, failing(1, http.StatusServiceUnavailable, http.Header{"Retry-After": {"1"}}))
	action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/"))
	begun := time.Now()
	run(t, action, nil)
	took := time.Since(begun)
	assert.Check(t, took >= time.Second, "the server was asked again after %s", took)
	s = serve(t, failing(1, http.StatusServiceUnavailable, http.Header{"Retry-After": {"60"}}))
	e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, aai.AppNotRunning, aai.Delivered)
	assert.Check(t, is.Equal(e.RetryAfter, time.Minute))
	assert.Check(t, is.Len(s.requests(), 1))
}

// A request that was certainly not delivered is repeated, for every method.
func TestARefusedConnectionIsTriedAgain(t *testing.T) {
	s := serve(t, answers(http.StatusNoContent, "", ""))
	var dials atomic.Int32
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) < 3 {
				address = closedAddress
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}
	defer client.CloseIdleConnections()
	run(t, compile(t, New(fast(client)), recipe(s.URL, http.MethodPost, "/")), nil)
	if n := len(s.requests()); n != 1 || dials.Load() != 3 {
		t.Errorf("%d requests after %d dials", n, dials.Load())
	}
}

// closedAddress is an address without a listener: no program gets this port by chance, as other test
// suites on this computer could.
const closedAddress = "127.0.0.1:1"

func TestNobodyThere(t *testing.T) {
	e := fail(t, compile(t, newDriver(t), recipe("http://"+closedAddress, http.MethodPost, "/")), nil, aai.AppNotRunning, aai.NotDelivered)
	assert.Assert(t, is.Contains(e.Message, "cannot be reached"))
	assert.Assert(t, is.Contains(e.Message, "(try 3)"))
	assert.Assert(t, e.RetrySafe())
}

func TestUnknownHost(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.invalid", IsNotFound: true}}
	}}}
	e := fail(t, compile(t, New(fast(client)), recipe("https://api.invalid", http.MethodGet, "/")), nil, aai.AppNotRunning, aai.NotDelivered)
	assert.Check(t, !strings.Contains(e.Message, "try"), "a name that does not exist was tried again: %s", e.Message)
}

// The caller gets the client's own refusal.
func TestTheClientRefuses(t *testing.T) {
	refusal := &aai.Error{Code: aai.PermissionDenied, Message: "not there", Hint: "ask", Delivery: aai.DeliveryUnknown}
	var dials atomic.Int32
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: refusal}
	}}}
	e := fail(t, compile(t, New(fast(client)), recipe("https://10.0.0.1", http.MethodGet, "/")), nil, aai.PermissionDenied, aai.NotDelivered)
	if e.Message != "not there" || e.Hint != "ask" || dials.Load() != 1 || refusal.Delivery != aai.DeliveryUnknown {
		t.Errorf("got %+v after %d dials", e, dials.Load())
	}
}

// A client error after sending does not count as not delivered.
func TestTheClientTellsLittle(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.Close()
	})
	client := &http.Client{Transport: uniformErrorTransport{plainClient(t).Transport}}
	e := fail(t, compile(t, New(fast(client)), recipe(s.URL, http.MethodPost, "/")), nil, aai.APIRequestFailed, aai.DeliveryUnknown)
	assert.Check(t, is.Contains(e.Message, "connection was lost"))
	e = fail(t, compile(t, New(fast(client)), recipe("http://"+closedAddress, http.MethodGet, "/")), nil, aai.AppNotRunning, aai.NotDelivered)
	assert.Check(t, is.Equal(e.Message, "it could not be reached (try 3)"))
}

// uniformErrorTransport returns the same text for all errors.
type uniformErrorTransport struct{ next http.RoundTripper }

func (u uniformErrorTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.next.RoundTrip(r)
	if err != nil {
		return nil, &aai.Error{Code: aai.AppNotRunning, Message: "it could not be reached", Err: err}
	}
	return resp, nil
}

func TestACertificateOfNobody(t *testing.T) {
	s := serveTLS(t, answers(http.StatusOK, "text/plain", "secret"))
	e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodPost, "/")), nil, aai.APIRequestFailed, aai.NotDelivered)
	assert.Assert(t, is.Contains(e.Message, "does not prove"))
	assert.Assert(t, is.Len(s.requests(), 0))
	assert.Assert(t, !strings.Contains(e.Message, "try"), e.Message)
}

func TestHTTP2(t *testing.T) {
	s := serveTLS(t, answers(http.StatusOK, "application/json", `{"a":1}`))
	action := compile(t, New(fast(s.Client())), recipe(s.URL, http.MethodPost, "/{id}", "id", "v"))
	result := run(t, action, map[string]any{"id": "a/b", "v": "x"})
	got := s.last(t)
	assert.Check(t, is.Equal(got.Proto, "HTTP/2.0"))
	assert.Check(t, is.Equal(got.RequestURI, "/a%2Fb"))
	assert.Check(t, is.Equal(got.body, `{"v":"x"}`))
	assert.Check(t, result.Data != nil)
}

// The caller may cancel at any time.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/"))
	e := failIn(ctx, t, action, nil, aai.AutomationFailed, aai.DeliveryUnknown)
	assert.Check(t, is.Contains(e.Message, "cancelled"))
	failIn(ctx, t, action, nil, aai.AutomationFailed, aai.NotDelivered)
	assert.Check(t, is.Equal(len(s.requests()), 1))
}

package streamable_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
)

// tokenIsName is a verifier for which each token is the name of its caller.
type tokenIsName struct{}

func (tokenIsName) Verify(_ context.Context, token string) (string, error) { return token, nil }

// toServer passes requests to a server of the test.
type toServer struct{ *url.URL }

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = s.Host
	return http.DefaultTransport.RoundTrip(r)
}

// TestRelayLimitsEachCaller checks that a caller with many conversations leaves room for others, and that each
// conversation reaches its own gateway, with the gateway's token.
func TestRelayLimitsEachCaller(t *testing.T) {
	var started atomic.Int32
	start := func(_ context.Context, principal string) (streamable.Upstream, error) {
		id := principal + strconv.Itoa(int(started.Add(1)))
		gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Check(t, is.Equal(r.Header.Get("Authorization"), "Bearer token of "+id))
			w.Header().Set("Mcp-Session-Id", id)
		}))
		at, err := url.Parse(gateway.URL)
		assert.NilError(t, err)
		ended := make(chan struct{})
		var once atomic.Bool
		return streamable.Upstream{Transport: toServer{at}, Token: "token of " + id, Ended: ended, End: func() {
			if once.CompareAndSwap(false, true) {
				gateway.Close()
				close(ended)
			}
		}}, nil
	}
	relay, err := streamable.NewRelay(streamable.Config{HTTP: httpdoor.Config{Verifier: tokenIsName{}}},
		streamable.RelayConfig{Start: start, Most: 3, MostOfCaller: 2, Log: slog.New(slog.DiscardHandler)})
	assert.NilError(t, err)
	server := httptest.NewServer(relay)
	defer server.Close()
	defer relay.Close()
	do := func(method, caller, session string) (status int, opened string) {
		body := ""
		if method == http.MethodPost {
			body = `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
		}
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/mcp", strings.NewReader(body))
		assert.NilError(t, err)
		r.Header.Set("Authorization", "Bearer "+caller)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(r)
		assert.NilError(t, err)
		assert.NilError(t, answer.Body.Close())
		return answer.StatusCode, answer.Header.Get("Mcp-Session-Id")
	}
	for _, try := range []struct {
		caller string
		want   int
	}{
		{"ben", http.StatusOK}, {"ben", http.StatusOK}, {"ben", http.StatusTooManyRequests}, {"ann", http.StatusOK}, {"ann", http.StatusServiceUnavailable},
	} {
		status, _ := do(http.MethodPost, try.caller, "")
		assert.Check(t, is.Equal(status, try.want), try.caller)
	}
	status, _ := do(http.MethodGet, "ann", "ben1")
	assert.Check(t, is.Equal(status, http.StatusNotFound))
	status, id := do(http.MethodGet, "ben", "ben1")
	assert.Check(t, is.Equal(status, http.StatusOK))
	assert.Check(t, is.Equal(id, "ben1"))
	status, _ = do(http.MethodDelete, "ben", "ben1")
	assert.Check(t, is.Equal(status, http.StatusOK))
}

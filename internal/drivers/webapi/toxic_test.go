package webapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// poisoned puts a proxy with the toxics before a server and returns its address. Each toxic is
// "upstream" or "downstream", its type, and its attributes as JSON.
func poisoned(t *testing.T, s *server, toxics ...[3]string) string {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "site", "127.0.0.1:0", strings.TrimPrefix(s.URL, "http://"))
	assert.NilError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	for _, toxic := range toxics {
		source := fmt.Sprintf(`{"name": "%[2]s-%[1]s", "stream": %[1]q, "type": %[2]q, "toxicity": 1, "attributes": %[3]s}`, toxic[0], toxic[1], toxic[2])
		_, err := proxy.Toxics.AddToxicJson(strings.NewReader(source))
		assert.NilError(t, err, source)
	}
	return "http://" + proxy.Listen
}

// Every network failure has one code and one delivery.
func TestToxics(t *testing.T) {
	body := strings.Repeat("0123456789", 1000)
	const forever = time.Hour
	for _, c := range []struct {
		name     string
		method   string
		toxic    [3]string
		wait     time.Duration
		code     aai.Code // empty: success
		delivery aai.Delivery
		requests int // that reach the server
	}{
		{"latency that can be borne", http.MethodPost, [3]string{"downstream", "latency", `{"latency": 50, "jitter": 20}`}, forever, "", "", 1},
		{"latency beyond the deadline", http.MethodPost, [3]string{"downstream", "latency", `{"latency": 60000}`}, time.Second, aai.Timeout, aai.DeliveryUnknown, 1},
		{"latency on the way there", http.MethodPost, [3]string{"upstream", "latency", `{"latency": 60000}`}, time.Second, aai.Timeout, aai.DeliveryUnknown, 0},
		{"slices", http.MethodPost, [3]string{"downstream", "slicer", `{"average_size": 50, "size_variation": 20, "delay": 10}`}, forever, "", "", 1},
		{"slices of the request", http.MethodPost, [3]string{"upstream", "slicer", `{"average_size": 3, "size_variation": 1, "delay": 10}`}, forever, "", "", 1},
		{"bandwidth too small", http.MethodPost, [3]string{"downstream", "bandwidth", `{"rate": 1}`}, 2 * time.Second, aai.Timeout, aai.Delivered, 1},
		{"reset before the answer", http.MethodPost, [3]string{"downstream", "reset_peer", `{"timeout": 0}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 1},
		{"reset of the request", http.MethodPost, [3]string{"upstream", "reset_peer", `{"timeout": 0}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 0},
		{"reset of a request that reads", http.MethodGet, [3]string{"upstream", "reset_peer", `{"timeout": 0}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 0},
		{"cut off in the headers", http.MethodPost, [3]string{"downstream", "limit_data", `{"bytes": 20}`}, forever, aai.APIRequestFailed, aai.Delivered, 1},
		{"cut off in the body", http.MethodPost, [3]string{"downstream", "limit_data", `{"bytes": 2000}`}, forever, aai.APIRequestFailed, aai.Delivered, 1},
		{"cut off in the body of what reads", http.MethodGet, [3]string{"downstream", "limit_data", `{"bytes": 2000}`}, forever, aai.APIRequestFailed, aai.Delivered, 1},
		{"silence", http.MethodPost, [3]string{"downstream", "timeout", `{"timeout": 0}`}, time.Second, aai.Timeout, aai.DeliveryUnknown, 1},
		{"silence, then closed", http.MethodPost, [3]string{"downstream", "timeout", `{"timeout": 50}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				_, _ = w.Write([]byte(body))
			})
			base := poisoned(t, s, c.toxic)
			action := compile(t, newDriver(t), recipe(base, c.method, "/", "a"))
			if c.code == "" {
				assert.Check(t, is.Equal(run(t, action, map[string]any{"a": body}).Text, body))
			} else {
				e := failIn(within(t, min(c.wait, 30*time.Second)), t, action, map[string]any{"a": "x"}, c.code, c.delivery)
				assert.Check(t, e.Hint != "", "%+v", e)
				assert.Check(t, !e.RetrySafe(), "%+v", e)
			}
			n := s.await(c.requests)
			assert.Check(t, is.Equal(n, c.requests), "%d requests have reached the server, want %d", n, c.requests)
		})
	}
}

// A proxy without a server accepts the connection and closes it, before or after the request is
// written: the reported delivery is correct.
func TestNobodyBehindTheProxy(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "", ""))
	base := poisoned(t, s)
	s.Close()
	_, err := compile(t, newDriver(t), recipe(base, http.MethodPost, "/"))(soon(t), &aai.Call{})
	e := aai.AsError(err)
	switch {
	case e != nil && e.Code == aai.AppNotRunning && e.Delivery == aai.NotDelivered:
	case e != nil && e.Code == aai.APIRequestFailed && e.Delivery == aai.DeliveryUnknown:
	default:
		t.Errorf("got %v", err)
	}
}

// A reading call with a lost connection is repeated.
func TestALostConnectionIsMadeAgain(t *testing.T) {
	var breaks atomic.Bool
	breaks.Store(true)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if breaks.Swap(false) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
			return
		}
		_, _ = w.Write([]byte("well"))
	})
	assert.Check(t, is.Equal(run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil).Text, "well"))
	assert.Check(t, is.Equal(len(s.requests()), 2))
	breaks.Store(true)
	fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodPut, "/")), nil, aai.APIRequestFailed, aai.DeliveryUnknown)
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 3), "what changes something was sent again: %d requests", n-2)
}

package netguard_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/netguard"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(fetchVariable); address != "" {
		fmt.Println(fetchAs(address))
		return
	}
	// The library leaves its own goroutines behind a connection that a toxic cut.
	const toxiproxy = "github.com/Shopify/toxiproxy/v2"
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction(toxiproxy+".(*ToxicLink).read"),
		goleak.IgnoreAnyFunction(toxiproxy+".(*ToxicLink).write"),
		goleak.IgnoreAnyFunction(toxiproxy+"/toxics.(*ToxicStub).Run"))
}

// A site is a real HTTPS server on this computer.
type site struct {
	*httptest.Server
	asked atomic.Int64 // requests
	dials atomic.Int64 // connections
}

func newSite(t *testing.T, handler http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		handler(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.dials.Add(1)
		}
	}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// host is "127.0.0.1:port".
func (s *site) host() string { return s.Listener.Addr().String() }

func (s *site) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// trusting makes a client that trusts the sites, and their authority.
func trusting(t *testing.T, sites ...*site) *netguard.Client {
	t.Helper()
	config := netguard.Config{}
	for _, s := range sites {
		config.AllowPrivate = append(config.AllowPrivate, s.host())
		config.RootCAs = s.roots() // every httptest server has the same
	}
	return newClient(t, config)
}

func newClient(t *testing.T, config netguard.Config) *netguard.Client {
	t.Helper()
	c := netguard.New(config)
	t.Cleanup(c.Close)
	return c
}

func newPlainSite(t *testing.T) *site {
	t.Helper()
	s := &site{Server: httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))}
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, address string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	assert.NilError(t, err)
	return req
}

// contextThatEnds returns a context that is cancelled after a request to the site.
func contextThatEnds(t *testing.T, s *site) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for s.asked.Load() == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}

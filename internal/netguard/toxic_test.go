package netguard_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// through puts a proxy with the toxic in front of the site and returns its address.
func through(t *testing.T, s *site, toxic string) string {
	t.Helper()
	proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), t.Name(), "127.0.0.1:0", s.host())
	assert.NilError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	if toxic != "" {
		_, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
		assert.NilError(t, err)
	}
	return proxy.Listen
}

// TestToxics: every fault of the network is a network failure, and slowness is none.
func TestToxics(t *testing.T) {
	page := strings.Repeat("0123456789abcdef", 4<<10) // 64 KiB
	for _, test := range []struct {
		name, toxic string
		ok          bool
		maybeSent   bool // enough was sent that the server may have received the request
	}{
		{"none", ``, true, false},
		{"latency", `{"type":"latency","attributes":{"latency":50,"jitter":20}}`, true, false},
		{"slicer", `{"type":"slicer","attributes":{"average_size":512,"size_variation":200,"delay":10}}`, true, false},
		{"reset at once", `{"type":"reset_peer","stream":"upstream","attributes":{"timeout":0}}`, false, false},
		{"nothing comes", `{"type":"timeout","attributes":{"timeout":0}}`, false, false},
		{"cut off in the handshake", `{"type":"limit_data","attributes":{"bytes":100}}`, false, false},
		{"cut off in the body", `{"type":"limit_data","attributes":{"bytes":20000}}`, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
			address := through(t, s, test.toxic)
			c := newClient(t, netguard.Config{AllowPrivate: []string{address}, RootCAs: s.roots()})
			c.SetFetchTimeout(2 * time.Second)
			got, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: "https://" + address})
			if test.ok {
				assert.NilError(t, err)
				assert.Equal(t, string(got.Body), page)
				return
			}
			e := aai.AsError(err)
			assert.Assert(t, e != nil, "%+v %v", e, err)
			assert.Equal(t, e.Code, aai.AppNotRunning, "%+v %v", e, err)
			assert.Assert(t, netguard.IsNetworkError(err), "%+v %v", e, err)
			assert.Assert(t, e.RetrySafe() != test.maybeSent, "%+v %v", e, err)
		})
	}
}

// TestUnsafe: a server that TLS cannot verify receives no request, and the error is no network
// failure.
func TestUnsafe(t *testing.T) {
	s := newSite(t, func(http.ResponseWriter, *http.Request) {})
	plain := newPlainSite(t)
	c := newClient(t, netguard.Config{AllowPrivate: []string{s.host(), plain.host()}}) // not with the test's authority
	for _, address := range []string{"https://" + s.host(), "https://" + plain.host()} {
		_, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: address})
		if !netguard.IsTLSError(err) || netguard.IsNetworkError(err) || !aai.AsError(err).RetrySafe() {
			t.Errorf("%s: %v, cause %v", address, err, aai.AsError(err).Err)
		}
	}
	assert.Check(t, s.asked.Load() == 0, "the site was asked")
}

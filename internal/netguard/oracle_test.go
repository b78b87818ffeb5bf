package netguard_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// Facts, row 6: requests for many hosts reveal nothing about this computer's network.
func TestRow6NoScanOracle(t *testing.T) {
	open := newSite(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	closed := listener.Addr().String()
	_ = listener.Close()
	c := newClient(t, netguard.Config{Resolver: newNameServer(t, "10.0.0.1").resolver()})

	var texts []string
	for _, host := range []string{open.host(), closed, "127.0.0.1", "10.0.0.1", "192.168.1.1:8443", "169.254.169.254", "db.intranet.example.com"} {
		begun := time.Now()
		_, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: "https://" + host})
		took := time.Since(begun)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s was reached", host)
		texts = append(texts, strings.ReplaceAll(string(e.Code)+e.Message+e.Hint+string(e.Delivery), host, "HOST"))
		// At least: how much longer is the machine's business, and not the host's.
		assert.Check(t, took >= netguard.MinFailureTime, "%s: told after %v", host, took)
	}
	assert.Check(t, is.Len(slices.Compact(texts), 1), "several texts: %q", texts)
	assert.Check(t, open.dials.Load() == 0, "the open port was dialled")
}

package netguard_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// Facts, row 6: requests for many hosts reveal nothing about this computer's network.
func TestRow6NoScanOracle(t *testing.T) {
	open := newSite(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	c := newClient(t, netguard.Config{Resolver: newNameServer(t, "10.0.0.1").resolver()})

	var texts []string
	for _, host := range []string{open.host(), closed, "127.0.0.1", "10.0.0.1", "192.168.1.1:8443", "169.254.169.254", "db.intranet.example.com"} {
		begun := time.Now()
		_, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: "https://" + host})
		took := time.Since(begun)
		e := aai.AsError(err)
		if e == nil {
			t.Fatalf("%s was reached", host)
		}
		texts = append(texts, strings.ReplaceAll(string(e.Code)+e.Message+e.Hint+string(e.Delivery), host, "HOST"))
		// At least: how much longer is the machine's business, and not the host's.
		if took < netguard.MinFailureTime {
			t.Errorf("%s: told after %v", host, took)
		}
	}
	if len(slices.Compact(texts)) != 1 {
		t.Errorf("several texts: %q", texts)
	}
	if open.dials.Load() != 0 {
		t.Error("the open port was dialled")
	}
}

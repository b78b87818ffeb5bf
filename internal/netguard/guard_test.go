package netguard_test

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// hostileAddresses are where no descriptor may send us.
func hostileAddresses() []string {
	return strings.Fields(`
		127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1
		169.254.169.254 169.254.170.2 100.64.0.1 100.100.100.200 192.0.0.192 192.0.2.1 198.18.0.1
		198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16
		[::1] [::] [::ffff:127.0.0.1] [::ffff:169.254.169.254] [::ffff:7f00:1] [::127.0.0.1]
		[fe80::1] [fc00::1] [fd00:ec2::254] [fd20:ce::254] [ff02::1] [64:ff9b::a9fe:a9fe]
		[64:ff9b:1::a00:1] [2002:7f00:1::] [2001::1] [2001:db8::1] [100::1] [5f00::1]`)
}

// Facts, row 1: private, loopback, metadata, CGNAT, NAT64, 6to4 and the rest.
func TestRow1HostileAddresses(t *testing.T) {
	c := newClient(t, netguard.Config{})
	c.SetMinFailure(0)
	n := len(hostileAddresses())
	assert.Assert(t, n >= 35, "only %d addresses", n)
	for _, address := range hostileAddresses() {
		for _, port := range []string{"", ":443", ":80", ":22", ":8443"} {
			t.Run(address+port, func(t *testing.T) {
				t.Parallel()
				checkRefused(t, c, "https://"+address+port+"/")
			})
		}
	}
}

// checkRefused makes sure that the guard, and nothing else, kept a request back.
func checkRefused(t *testing.T, c *netguard.Client, address string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	assert.NilError(t, err)
	resp, err := c.HTTP().Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatalf("%s was reached: %s", address, resp.Status)
	}
	e := aai.AsError(err)
	if e.Code != aai.AppNotRunning || e.Delivery != aai.NotDelivered || !netguard.IsRefused(err) {
		t.Errorf("%s: %v (delivery %q, refused %v, cause %v)", address, e, e.Delivery, netguard.IsRefused(err), e.Err)
	}
}

// Facts, row 5: trusted hosts may be private, but metadata services are always rejected.
func TestMetadataIsRefusedToTheTrusted(t *testing.T) {
	secret := []string{"169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16",
		"[fd00:ec2::254]", "[fd20:ce::254]", "[::ffff:169.254.169.254]", "[fe80::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]"}
	c := newClient(t, netguard.Config{AllowPrivate: secret, TrustLoopback: true})
	for _, address := range secret {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			checkRefused(t, c, "https://"+address+"/")
		})
	}
}

// TestRow5TrustedHosts: only the host that was named, and only at its port.
func TestRow5TrustedHosts(t *testing.T) {
	hello := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }
	s, other := newSite(t, hello), newSite(t, hello)
	port := netip.MustParseAddrPort(s.host()).Port()
	c := newClient(t, netguard.Config{AllowPrivate: []string{s.host(), "not a host", "10.0.0.1:99999"}, RootCAs: s.roots()})

	resp, err := c.HTTP().Do(get(t, s.URL))
	assert.NilError(t, err)
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	assert.NilError(t, err, "%q", body)
	assert.Equal(t, string(body), "hello", "%q", body)
	checkRefused(t, c, other.URL)
	checkRefused(t, c, "https://[::1]:"+netip.AddrPortFrom(netip.IPv6Loopback(), port).String()[len("[::1]:"):])
	checkRefused(t, c, "https://10.0.0.1/")
	n := other.dials.Load()
	assert.Check(t, n == 0, "the site that is not trusted was dialled %d times", n)
}

// TestHTTPNeedsLoopback: a plain connection never leaves the computer.
func TestHTTPNeedsLoopback(t *testing.T) {
	plain := newPlainSite(t)
	for _, c := range []struct {
		name   string
		config netguard.Config
		url    string
		ok     bool
	}{
		{"nobody said so", netguard.Config{}, plain.URL, false},
		{"dev", netguard.Config{TrustLoopback: true}, plain.URL, true},
		{"trusted", netguard.Config{AllowPrivate: []string{plain.host()}}, plain.URL, true},
		{"another port trusted", netguard.Config{AllowPrivate: []string{"127.0.0.1:1"}}, plain.URL, false},
		{"dev, not loopback", netguard.Config{TrustLoopback: true}, "http://example.com/", false},
		{"trusted, not loopback", netguard.Config{AllowPrivate: []string{"10.0.0.1"}}, "http://10.0.0.1/", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := newClient(t, c.config)
			if !c.ok {
				checkRefused(t, client, c.url)
				return
			}
			resp, err := client.HTTP().Do(get(t, c.url))
			assert.NilError(t, err)
			_ = resp.Body.Close()
		})
	}
}

// TestOtherHostHeader: the guard judges the address, so the header may not name
// another host to a server that serves several.
func TestOtherHostHeader(t *testing.T) {
	s := newSite(t, func(http.ResponseWriter, *http.Request) {})
	req := get(t, s.URL)
	req.Host = "admin.internal"
	_, err := trusting(t, s).HTTP().Do(req)
	assert.Check(t, netguard.IsRefused(err), err)
	assert.Check(t, s.asked.Load() == 0, "the request was sent")
}

func TestCheckTrusted(t *testing.T) {
	for entry, ok := range map[string]bool{
		"jira.example.com": true, "jira.example.com:8443": true, "10.1.2.3": true, "[fd12::1]:8443": true,
		"": false, "https://jira.example.com": false, "jira example": false, "jira:0": false, "*.example.com": false,
	} {
		err := netguard.ValidateTrustedHost(entry)
		assert.Check(t, is.Equal((err == nil), ok), "%q %v", entry, err)
	}
}

// TestContextEnds: the error of the caller's context is returned, not an error of the host.
func TestContextEnds(t *testing.T) {
	s := newSite(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := contextThatEnds(t, s)
	defer cancel()
	_, err := trusting(t, s).HTTP().Do(get(t, s.URL).WithContext(ctx))
	assert.Assert(t, is.ErrorIs(err, ctx.Err()))
	assert.Assert(t, !netguard.IsNetworkError(err), err)
}

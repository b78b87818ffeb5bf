package netguard_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"code.dny.dev/ssrf"
	"golang.org/x/net/dns/dnsmessage"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// A nameServer is a real DNS server with answers set by the test.
type nameServer struct {
	mu      sync.Mutex
	answers []netip.Addr // one after the other, the last one for ever
	asked   int          // for IPv4 addresses
	conn    net.PacketConn
}

func newNameServer(t *testing.T, answers ...string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	assert.NilError(t, err)
	n := &nameServer{conn: conn}
	for _, a := range answers {
		n.answers = append(n.answers, netip.MustParseAddr(a))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.serve()
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return n
}

func (n *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", n.conn.LocalAddr().String())
	}}
}

func (n *nameServer) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		q := m.Questions[0]
		if q.Type == dnsmessage.TypeA {
			header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: n.next().As4()}}}
		}
		if answer, err := m.Pack(); err == nil {
			_, _ = n.conn.WriteTo(answer, from)
		}
	}
}

// times returns the number of queries for an IPv4 address.
func (n *nameServer) times() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

func (n *nameServer) next() netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	answer := n.answers[min(n.asked, len(n.answers)-1)]
	n.asked++
	return answer
}

// Facts, row 2: a name that is public when it is checked and local when it is dialled.
func TestRow2DNSRebinding(t *testing.T) {
	t.Run("check, then use: the attack works", func(t *testing.T) {
		victim := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "SECRET") })
		resolver := newNameServer(t, "93.184.216.34", "127.0.0.1").resolver()
		ips, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.example.com")
		assert.NilError(t, err)
		assert.Assert(t, is.Len(ips, 1))
		assert.NilError(t, ssrf.New().SafeAddr(ips[0]))
		naive := victim.Client()
		naive.Transport.(*http.Transport).DialContext = (&net.Dialer{Resolver: resolver}).DialContext
		_, port, _ := net.SplitHostPort(victim.host())
		resp, err := naive.Do(get(t, "https://rebind.example.com:"+port))
		assert.NilError(t, err)
		defer func() { _ = resp.Body.Close() }()
		body, _ := io.ReadAll(resp.Body)
		assert.Check(t, is.Equal(string(body), "SECRET"), "the name server does not rebind: read %q", body)
	})
	t.Run("ours judges what it dials", func(t *testing.T) {
		dns := newNameServer(t, "127.0.0.1")
		c := newClient(t, netguard.Config{Resolver: dns.resolver()})
		c.SetMinFailure(0)
		_, err := c.HTTP().Do(get(t, "https://rebind.example.com/"))
		if !errors.Is(err, ssrf.ErrProhibitedIP) || !netguard.IsRefused(err) || dns.times() == 0 {
			t.Errorf("asked %d times, got %v", dns.times(), err)
		}
	})
	t.Run("a trusted name cannot mean metadata", func(t *testing.T) {
		c := newClient(t, netguard.Config{Resolver: newNameServer(t, "169.254.169.254").resolver(), AllowPrivate: []string{"jira.example.com"}})
		_, err := c.HTTP().Do(get(t, "https://jira.example.com/"))
		assert.Check(t, netguard.IsRefused(err), err)
	})
	t.Run("localhost cannot mean another computer", func(t *testing.T) {
		c := newClient(t, netguard.Config{Resolver: newNameServer(t, "10.0.0.1").resolver(), TrustLoopback: true})
		_, err := c.HTTP().Do(get(t, "https://app.localhost:8443/"))
		assert.Check(t, netguard.IsRefused(err), err)
	})
}

// fetchVariable makes the test program a client that asks for the address in it.
const fetchVariable = "AAI_EGRESS_TEST_FETCH"

// fetchAs is that client: it returns the result. Its configuration permits the proxy, so that
// only the Client itself avoids it.
func fetchAs(address string) string {
	proxy, err := url.Parse(os.Getenv("HTTPS_PROXY"))
	if err != nil {
		return err.Error()
	}
	c := netguard.New(netguard.Config{AllowPrivate: []string{proxy.Host}})
	c.SetMinFailure(0)
	resp, err := c.HTTP().Get(address)
	switch {
	case err == nil:
		defer func() { _ = resp.Body.Close() }()
		return "reached: " + resp.Status
	case netguard.IsRefused(err):
		return "refused"
	}
	return err.Error()
}

// Facts, row 3: a proxy would dial for us, past the guard. The environment is read once in a
// process, so the client runs in a separate one.
func TestRow3NoProxy(t *testing.T) {
	var proxied atomic.Int64
	proxy := newPlainSite(t)
	proxy.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		proxied.Add(1)
		w.WriteHeader(http.StatusTeapot)
	})
	for _, address := range []string{"https://169.254.169.254/latest/meta-data", "https://10.0.0.1/"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), fetchVariable+"="+address)
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
			cmd.Env = append(cmd.Env, name+"="+proxy.URL)
		}
		cmd.Env = append(cmd.Env, "NO_PROXY=", "no_proxy=")
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s %s", address, out)
		assert.Equal(t, strings.TrimSpace(string(out)), "refused", "%s %s", address, out)
	}
	n := proxied.Load()
	assert.Check(t, n == 0, "the proxy was asked %d times", n)
}

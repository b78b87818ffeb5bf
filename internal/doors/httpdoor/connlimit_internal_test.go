package httpdoor

import (
	"net"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

// TestLimitedListener checks that the number of unauthenticated connections is limited, and
// that authenticated ones are never closed for others.
func TestLimitedListener(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := connLimits{unauthenticated: 6, unauthenticatedPerPeer: 3, authenticated: 5, perPrincipal: 3}
		d := newLimitedListener(nil, limits)
		var open, known []*limitedConn
		steps := map[string]func(*rapid.T){
			"one comes": func(t *rapid.T) {
				here, there := net.Pipe()
				defer there.Close() //nolint:errcheck // nothing is said
				v := &limitedConn{Conn: here, listener: d, peer: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "peer")}
				for {
					leaving, wait := d.admit(v)
					assert.Assert(t, wait <= 0, "it must wait, although the others had their time")
					if leaving == nil {
						break
					}
					if leaving.authenticated || v.peer != "" && d.unauthenticatedByPeer[v.peer] >= limits.unauthenticatedPerPeer && leaving.peer != v.peer {
						t.Fatalf("for %q goes one of %q", v.peer, leaving.peer)
					}
					_ = leaving.Close()
				}
				open = append(open, v)
			},
			"one shows a token": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				v := rapid.SampledFrom(open).Draw(t, "visitor")
				if v.setPrincipal(rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "principal")) && v.authenticated {
					known = append(known, v)
				}
			},
			"one goes": func(t *rapid.T) {
				if len(open) > 0 {
					_ = rapid.SampledFrom(open).Draw(t, "visitor").Close()
				}
			},
			"": func(t *rapid.T) {
				inPeers, inKnown := 0, 0
				for peer, n := range d.unauthenticatedByPeer {
					if inPeers += n; peer != "" && n > limits.unauthenticatedPerPeer {
						t.Fatalf("%d strangers of %s", n, peer)
					}
				}
				for who, n := range d.authenticatedBy {
					if inKnown += n; n > limits.perPrincipal {
						t.Fatalf("%d connections of %s", n, who)
					}
				}
				if n := d.unauthenticated.Len(); n > limits.unauthenticated || n != inPeers || d.authenticated > limits.authenticated || d.authenticated != inKnown {
					t.Fatalf("%d strangers, %d by peer; %d known, %d by name", n, inPeers, d.authenticated, inKnown)
				}
				for _, v := range known {
					assert.Assert(t, v.element == nil, "one that has shown a token is a stranger")
				}
			},
		}
		t.Repeat(steps)
	})
}

// TestUnauthenticatedConnectionHasAGracePeriod checks that an unauthenticated connection
// has its grace period, even if another one waits.
func TestUnauthenticatedConnectionHasAGracePeriod(t *testing.T) {
	d := newLimitedListener(nil, connLimits{unauthenticated: 1, unauthenticatedPerPeer: 1, grace: time.Hour})
	first, second := &limitedConn{listener: d}, &limitedConn{listener: d}
	leaving, wait := d.admit(first)
	assert.Assert(t, leaving == nil, "the first: %v, %v", leaving, wait)
	assert.Assert(t, wait == 0, "the first: %v, %v", leaving, wait)
	leaving, wait = d.admit(second)
	assert.Assert(t, leaving == nil, "the second: %v, %v", leaving, wait)
	assert.Assert(t, wait > 0, "the second: %v, %v", leaving, wait)
}

func TestPeerOf(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1": "", "127.9.9.9": "", "::1": "", "::ffff:127.0.0.1": "",
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::9": "2001:db8:1:2::/64",
	} {
		assert.Check(t, is.Equal(peerOf(&net.TCPAddr{IP: net.ParseIP(address), Port: 1}), want), address)
	}
}

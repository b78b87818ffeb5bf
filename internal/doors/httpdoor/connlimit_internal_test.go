package httpdoor

import (
	"net"
	"testing"
	"time"

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
					if wait > 0 {
						t.Fatal("it must wait, although the others had their time")
					}
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
					if v.element != nil {
						t.Fatal("one that has shown a token is a stranger")
					}
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
	if leaving, wait := d.admit(first); leaving != nil || wait != 0 {
		t.Fatalf("the first: %v, %v", leaving, wait)
	}
	if leaving, wait := d.admit(second); leaving != nil || wait <= 0 {
		t.Errorf("the second: %v, %v", leaving, wait)
	}
}

func TestPeerOf(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1": "", "127.9.9.9": "", "::1": "", "::ffff:127.0.0.1": "",
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::9": "2001:db8:1:2::/64",
	} {
		if got := peerOf(&net.TCPAddr{IP: net.ParseIP(address), Port: 1}); got != want {
			t.Errorf("%s is of %q, expected %q", address, got, want)
		}
	}
}

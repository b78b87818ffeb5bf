package httpdoor

import (
	"net"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever comes and goes, there are only so many strangers, and who has shown a
// token is not among those that must go.
func TestDoorway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := connLimits{strangers: 6, ofPeer: 3, known: 5, ofOne: 3}
		d := newDoorway(nil, limits)
		var open, known []*visitor
		steps := map[string]func(*rapid.T){
			"one comes": func(t *rapid.T) {
				here, there := net.Pipe()
				defer there.Close() //nolint:errcheck // nothing is said
				v := &visitor{Conn: here, door: d, peer: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "peer")}
				for {
					leaving, wait := d.enter(v)
					if wait > 0 {
						t.Fatal("it must wait, although the others had their time")
					}
					if leaving == nil {
						break
					}
					if leaving.known || v.peer != "" && d.from[v.peer] >= limits.ofPeer && leaving.peer != v.peer {
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
				if v.recognize(rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "principal")) && v.known {
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
				for peer, n := range d.from {
					if inPeers += n; peer != "" && n > limits.ofPeer {
						t.Fatalf("%d strangers of %s", n, peer)
					}
				}
				for who, n := range d.known {
					if inKnown += n; n > limits.ofOne {
						t.Fatalf("%d connections of %s", n, who)
					}
				}
				if n := d.strangers.Len(); n > limits.strangers || n != inPeers || d.allKnown > limits.known || d.allKnown != inKnown {
					t.Fatalf("%d strangers, %d by peer; %d known, %d by name", n, inPeers, d.allKnown, inKnown)
				}
				for _, v := range known {
					if v.place != nil {
						t.Fatal("one that has shown a token is a stranger")
					}
				}
			},
		}
		t.Repeat(steps)
	})
}

// A stranger has its time, even if another one waits.
func TestAStrangerHasItsTime(t *testing.T) {
	d := newDoorway(nil, connLimits{strangers: 1, ofPeer: 1, grace: time.Hour})
	first, second := &visitor{door: d}, &visitor{door: d}
	if leaving, wait := d.enter(first); leaving != nil || wait != 0 {
		t.Fatalf("the first: %v, %v", leaving, wait)
	}
	if leaving, wait := d.enter(second); leaving != nil || wait <= 0 {
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

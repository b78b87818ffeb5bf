package httpdoor

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

// TestStarts checks that a caller with hundreds of requests starts a few at a time, and all
// of them in the end. Another caller's request starts at once, and so do the next ones when
// started requests wait.
func TestStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const requests = 200
		const longStart = 100 * time.Millisecond
		most := maxConcurrentStarts()
		var s startLimiter
		var mu sync.Mutex
		beginning, begun := 0, 0
		var all sync.WaitGroup
		for i := range requests {
			all.Go(func() {
				end := s.begin(t.Context(), "many", longStart)
				mu.Lock()
				if begun++; i%2 == 0 {
					beginning++
				}
				assert.Check(t, beginning <= most, "%d begin at a time", beginning)
				mu.Unlock()
				if i%2 == 1 {
					time.Sleep(time.Hour) // for an app that hangs
					end()
					return
				}
				time.Sleep(time.Millisecond)
				mu.Lock()
				beginning--
				mu.Unlock()
				end()
				end()
			})
		}
		synctest.Wait()
		came := time.Now()
		s.begin(t.Context(), "one", longStart)()
		waited := time.Since(came)
		assert.Check(t, waited == 0, "another's request waited %s", waited)
		gone, cancel := context.WithTimeout(t.Context(), time.Microsecond)
		defer cancel()
		assert.Check(t, s.begin(gone, "many", longStart) == nil, "one that nobody waits for any more has begun")
		time.Sleep(requests * longStart)
		mu.Lock()
		assert.Check(t, is.Equal(begun, requests), "%d of %d have begun although the others wait for an app", begun, requests)
		mu.Unlock()
		all.Wait()
		assert.Check(t, is.Len(s.byCaller, 0), "%d callers are remembered", len(s.byCaller))
	})
}

// TestStartsPauseAfterBusyCaller checks that a caller with slow starts pauses as long while
// others call, and not when it is alone.
func TestStartsPauseAfterBusyCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s startLimiter
		begin := func(caller string, took time.Duration) (waited time.Duration) {
			came := time.Now()
			end := s.begin(t.Context(), caller, time.Minute)
			waited = time.Since(came)
			time.Sleep(took)
			end()
			return waited
		}
		fill := func(caller string, took time.Duration) { // all slots but one
			for range maxConcurrentStarts() - 1 {
				s.begin(t.Context(), caller, time.Hour)
			}
			begin(caller, took)
		}
		begin("one", 0)
		fill("many", 20*time.Millisecond)
		for _, step := range []struct{ took, waited time.Duration }{
			{restThreshold, 20 * time.Millisecond}, {time.Second / 2, 0}, {0, maxRest}, {0, 0},
		} {
			assert.Check(t, is.Equal(begin("many", step.took), step.waited))
			begin("one", 0)
		}
		more := s.join("many")                                                                // others of its requests wait
		for i, waited := range []time.Duration{0, 0, 0, restThreshold + restThreshold/2, 0} { // many that are quick
			begin("one", 0)
			got := begin("many", restThreshold/2)
			assert.Check(t, is.Equal(got, waited), "the %d. quick one waited %s; expected %s", i+1, got, waited)
		}
		s.leave("many", more)
		time.Sleep(soleCallerAfter)
		begin("many", 0)
		time.Sleep(soleCallerAfter + 1)
		for range 3 {
			waited := begin("many", 20*time.Millisecond)
			assert.Check(t, waited == 0, "waited %s with nobody beside", waited)
		}
		time.Sleep(time.Hour)
	})
}

// TestStartsHold checks that the bytes of one caller are limited, and that this does not
// delay another.
func TestStartsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s startLimiter
		var free []func()
		for range 16 {
			free = append(free, s.reserveBytes(t.Context(), "many", maxPendingBytes/16))
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.Check(t, s.reserveBytes(short, "many", 1) == nil, "more than is allowed is being sent")
		s.reserveBytes(t.Context(), "one", 1)()
		free[0]()
		free[0]()
		s.reserveBytes(t.Context(), "many", maxPendingBytes/16)()
		for _, f := range free {
			f()
		}
		assert.Check(t, is.Len(s.byCaller, 0), "%d callers are remembered", len(s.byCaller))
	})
}

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

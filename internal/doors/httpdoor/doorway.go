package httpdoor

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A doorway is a listener that keeps strangers from standing in the way of those
// who have a token. A connection is a stranger's until a request on it has shown
// one. Of strangers there are few, and when one more comes the one that has stood
// there for longest is closed; whoever has shown a token is not counted with them.
type doorway struct {
	net.Listener
	limits connLimits
	once   sync.Once
	closed chan struct{}

	mu        sync.Mutex
	strangers *list.List     // of *visitor, the oldest first
	from      map[string]int // strangers by peer
	known     map[string]int // connections by who has shown a token
	allKnown  int
}

// connLimits bound the connections of a doorway.
type connLimits struct {
	strangers int // of all peers
	ofPeer    int // strangers of one other computer
	known     int // connections that have shown a token
	ofOne     int // of one principal
	// grace is how long a stranger has at least: to be read takes its time.
	grace time.Duration
}

// connsFor are the limits of a server. Where nobody is asked for a token all are
// strangers up to their first request.
func connsFor(asksForTokens bool) connLimits {
	l := connLimits{strangers: maxStrangers, ofPeer: maxStrangersOfPeer, known: maxConns, ofOne: maxConns / 2, grace: strangerGrace}
	if !asksForTokens {
		l.strangers, l.ofPeer, l.ofOne = maxConns, maxConns, maxConns
	}
	return l
}

func newDoorway(l net.Listener, limits connLimits) *doorway {
	return &doorway{
		Listener: l, limits: limits, closed: make(chan struct{}), strangers: list.New(),
		from: make(map[string]int), known: make(map[string]int),
	}
}

// A visitor is a connection of a doorway.
type visitor struct {
	net.Conn
	door  *doorway
	peer  string // empty for this computer, where all look alike
	since time.Time

	// What follows is guarded by door.mu.
	place     *list.Element // among the strangers; nil: it is none, or has gone
	principal string
	known     bool
}

type visitorKey struct{}

// withVisitor lets requests find their connection.
func withVisitor(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, visitorKey{}, c)
}

// visitorOf is the connection of a request, or nil where it came by no doorway.
func visitorOf(r *http.Request) *visitor {
	v, _ := r.Context().Value(visitorKey{}).(*visitor)
	return v
}

// Accept implements net.Listener. It waits as long as none of too many strangers
// has had its time.
func (d *doorway) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &visitor{Conn: c, door: d, peer: peerOf(c.RemoteAddr()), since: time.Now()}
	for {
		leaving, wait := d.enter(v)
		switch {
		case leaving != nil:
			_ = leaving.Close() // nobody hears of it
		case wait <= 0:
			return v, nil
		default:
			select {
			case <-time.After(wait):
			case <-d.closed:
				_ = c.Close()
				return nil, net.ErrClosed
			}
		}
	}
}

// enter lets a stranger in. If there are too many it returns the one that must go
// before, or how long that one still has.
func (d *doorway) enter(v *visitor) (leaving *visitor, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.peer != "" && d.from[v.peer] >= d.limits.ofPeer {
		return d.oldest(v.peer), 0 // it is in its own way, and must not be in that of others
	}
	if d.strangers.Len() >= d.limits.strangers {
		first := d.oldest("")
		if wait = d.limits.grace - time.Since(first.since); wait > 0 {
			return nil, wait
		}
		return first, 0
	}
	v.since = time.Now()
	v.place = d.strangers.PushBack(v)
	d.from[v.peer]++
	return nil, 0
}

// oldest is the stranger that has been there for longest, of one peer or of all.
// It is called with d.mu held, and where there is one.
func (d *doorway) oldest(peer string) *visitor {
	for e := d.strangers.Front(); e != nil; e = e.Next() {
		if v, ok := e.Value.(*visitor); ok && (peer == "" || v.peer == peer) {
			return v
		}
	}
	return nil
}

// leave takes a visitor out of the strangers. It is called with d.mu held.
func (d *doorway) leave(v *visitor) {
	if v.place == nil {
		return
	}
	d.strangers.Remove(v.place)
	v.place = nil
	if d.from[v.peer]--; d.from[v.peer] == 0 {
		delete(d.from, v.peer)
	}
}

// recognize notes that a request on the connection has shown whose it is. It
// reports false if there are too many of those, or of this principal's.
func (v *visitor) recognize(principal string) bool {
	d := v.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.known {
		return true
	}
	if v.place == nil || d.allKnown >= d.limits.known || d.known[principal] >= d.limits.ofOne {
		return false
	}
	d.leave(v)
	v.known, v.principal = true, principal
	d.known[principal]++
	d.allKnown++
	return true
}

// isStranger reports whether no request on the connection has shown a token yet.
func (v *visitor) isStranger() bool {
	v.door.mu.Lock()
	defer v.door.mu.Unlock()
	return !v.known
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	d := v.door
	d.mu.Lock()
	d.leave(v)
	if v.known {
		v.known = false
		d.allKnown--
		if d.known[v.principal]--; d.known[v.principal] == 0 {
			delete(d.known, v.principal)
		}
	}
	d.mu.Unlock()
	return v.Conn.Close()
}

// Close implements net.Listener.
func (d *doorway) Close() error {
	d.once.Do(func() { close(d.closed) })
	return d.Listener.Close()
}

// peerOf names the computer at the other end: its address, or of version 6 the
// network of 64 bits that one computer may have for itself. It is empty for this
// computer.
func peerOf(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return ""
	}
	ip, ok := netip.AddrFromSlice(tcp.IP)
	if ip = ip.Unmap(); !ok || ip.IsLoopback() {
		return ""
	}
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return ip.String()
	}
	return network.String()
}

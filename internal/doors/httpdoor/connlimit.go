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
type limitedListener struct {
	net.Listener
	limits connLimits
	once   sync.Once
	closed chan struct{}

	mu                    sync.Mutex
	unauthenticated       *list.List     // of *visitor, the oldest first
	unauthenticatedByPeer map[string]int // strangers by peer
	authenticatedBy       map[string]int // connections by who has shown a token
	authenticated         int
}

// connLimits bound the connections of a doorway.
type connLimits struct {
	unauthenticated        int // of all peers
	unauthenticatedPerPeer int // strangers of one other computer
	authenticated          int // connections that have shown a token
	perPrincipal           int // of one principal
	// grace is how long a stranger has at least: to be read takes its time.
	grace time.Duration
}

// connLimitsFor are the limits of a server. Where nobody is asked for a token all are
// strangers up to their first request.
func connLimitsFor(asksForTokens bool) connLimits {
	l := connLimits{unauthenticated: maxUnauthenticated, unauthenticatedPerPeer: maxUnauthenticatedPerPeer, authenticated: maxConns, perPrincipal: maxConns / 2, grace: unauthenticatedGrace}
	if !asksForTokens {
		l.unauthenticated, l.unauthenticatedPerPeer, l.perPrincipal = maxConns, maxConns, maxConns
	}
	return l
}

func newLimitedListener(l net.Listener, limits connLimits) *limitedListener {
	return &limitedListener{
		Listener: l, limits: limits, closed: make(chan struct{}), unauthenticated: list.New(),
		unauthenticatedByPeer: make(map[string]int), authenticatedBy: make(map[string]int),
	}
}

// A visitor is a connection of a doorway.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	peer     string // empty for this computer, where all look alike
	since    time.Time

	// What follows is guarded by door.mu.
	element       *list.Element // among the strangers; nil: it is none, or has gone
	principal     string
	authenticated bool
}

type limitedConnKey struct{}

// withConn lets requests find their connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, limitedConnKey{}, c)
}

// connOf is the connection of a request, or nil where it came by no doorway.
func connOf(r *http.Request) *limitedConn {
	v, _ := r.Context().Value(limitedConnKey{}).(*limitedConn)
	return v
}

// Accept implements net.Listener. It waits as long as none of too many strangers
// has had its time.
func (d *limitedListener) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &limitedConn{Conn: c, listener: d, peer: peerOf(c.RemoteAddr()), since: time.Now()}
	for {
		leaving, wait := d.admit(v)
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

// admit lets a stranger in. If there are too many it returns the one that must go
// before, or how long that one still has.
func (d *limitedListener) admit(v *limitedConn) (leaving *limitedConn, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.peer != "" && d.unauthenticatedByPeer[v.peer] >= d.limits.unauthenticatedPerPeer {
		return d.oldest(v.peer), 0 // it is in its own way, and must not be in that of others
	}
	if d.unauthenticated.Len() >= d.limits.unauthenticated {
		first := d.oldest("")
		if wait = d.limits.grace - time.Since(first.since); wait > 0 {
			return nil, wait
		}
		return first, 0
	}
	v.since = time.Now()
	v.element = d.unauthenticated.PushBack(v)
	d.unauthenticatedByPeer[v.peer]++
	return nil, 0
}

// oldest is the stranger that has been there for longest, of one peer or of all.
// It is called with d.mu held, and where there is one.
func (d *limitedListener) oldest(peer string) *limitedConn {
	for e := d.unauthenticated.Front(); e != nil; e = e.Next() {
		if v, ok := e.Value.(*limitedConn); ok && (peer == "" || v.peer == peer) {
			return v
		}
	}
	return nil
}

// remove takes a visitor out of the strangers. It is called with d.mu held.
func (d *limitedListener) remove(v *limitedConn) {
	if v.element == nil {
		return
	}
	d.unauthenticated.Remove(v.element)
	v.element = nil
	if d.unauthenticatedByPeer[v.peer]--; d.unauthenticatedByPeer[v.peer] == 0 {
		delete(d.unauthenticatedByPeer, v.peer)
	}
}

// setPrincipal notes that a request on the connection has shown whose it is. It
// reports false if there are too many of those, or of this principal's.
func (v *limitedConn) setPrincipal(principal string) bool {
	d := v.listener
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.authenticated {
		return true
	}
	if v.element == nil || d.authenticated >= d.limits.authenticated || d.authenticatedBy[principal] >= d.limits.perPrincipal {
		return false
	}
	d.remove(v)
	v.authenticated, v.principal = true, principal
	d.authenticatedBy[principal]++
	d.authenticated++
	return true
}

// isUnauthenticated reports whether no request on the connection has shown a token yet.
func (v *limitedConn) isUnauthenticated() bool {
	v.listener.mu.Lock()
	defer v.listener.mu.Unlock()
	return !v.authenticated
}

// Close implements net.Conn.
func (v *limitedConn) Close() error {
	d := v.listener
	d.mu.Lock()
	d.remove(v)
	if v.authenticated {
		v.authenticated = false
		d.authenticated--
		if d.authenticatedBy[v.principal]--; d.authenticatedBy[v.principal] == 0 {
			delete(d.authenticatedBy, v.principal)
		}
	}
	d.mu.Unlock()
	return v.Conn.Close()
}

// Close implements net.Listener.
func (d *limitedListener) Close() error {
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

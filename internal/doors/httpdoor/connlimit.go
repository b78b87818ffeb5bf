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

// limitedListener keeps unauthenticated connections from displacing authenticated ones. A
// connection is unauthenticated until a request on it has shown a token. If there are too
// many unauthenticated connections, a new one closes the oldest of them; authenticated
// connections have their own limits.
type limitedListener struct {
	net.Listener
	limits connLimits
	once   sync.Once
	closed chan struct{}

	mu                    sync.Mutex
	unauthenticated       *list.List     // of *limitedConn, the oldest first
	unauthenticatedByPeer map[string]int // unauthenticated connections by peer
	authenticatedBy       map[string]int // authenticated connections by principal
	authenticated         int
}

// connLimits bound the connections of a limitedListener.
type connLimits struct {
	unauthenticated        int // of all peers
	unauthenticatedPerPeer int // unauthenticated connections of one other computer
	authenticated          int // connections that have shown a token
	perPrincipal           int // of one principal
	// grace is the least time that an unauthenticated connection stays open: reading a
	// request takes a while.
	grace time.Duration
}

// connLimitsFor returns the limits of a server. If the server needs no tokens, every
// connection is unauthenticated up to its first request.
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

// limitedConn is a connection of a limitedListener.
type limitedConn struct {
	net.Conn
	listener *limitedListener
	peer     string // empty for this computer: its processes cannot be distinguished
	since    time.Time

	// The listener's mu guards the following fields.
	element       *list.Element // in unauthenticated; nil if the connection is authenticated or closed
	principal     string
	authenticated bool
}

type limitedConnKey struct{}

// withConn stores the connection in the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, limitedConnKey{}, c)
}

// connOf returns the connection of a request, or nil if it did not come by a limitedListener.
func connOf(r *http.Request) *limitedConn {
	v, _ := r.Context().Value(limitedConnKey{}).(*limitedConn)
	return v
}

// Accept implements net.Listener. If there are too many unauthenticated connections, it
// waits until the oldest has had its grace.
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
			_ = leaving.Close() // its client expects no answer
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

// admit registers a new connection. If there are too many, it returns the connection to
// close first, or the time to wait for that.
func (d *limitedListener) admit(v *limitedConn) (leaving *limitedConn, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.peer != "" && d.unauthenticatedByPeer[v.peer] >= d.limits.unauthenticatedPerPeer {
		return d.oldest(v.peer), 0 // no grace: the peer displaces only its own connections
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

// oldest returns the unauthenticated connection that has been open the longest, of one peer
// or of all (""). The caller holds d.mu; there must be such a connection.
func (d *limitedListener) oldest(peer string) *limitedConn {
	for e := d.unauthenticated.Front(); e != nil; e = e.Next() {
		if v, ok := e.Value.(*limitedConn); ok && (peer == "" || v.peer == peer) {
			return v
		}
	}
	return nil
}

// remove removes a connection from unauthenticated. The caller holds d.mu.
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

// setPrincipal marks the connection as authenticated by principal. It reports false if
// there are too many such connections, in all or of this principal.
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

// peerOf names the computer at the other end by its address; for IPv6 by its network of 64
// bits, because one computer may have all of it. The result is empty for this computer.
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

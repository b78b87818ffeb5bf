package web

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"

	"github.com/gybob/aai-gateway"
)

// Listen opens the port on this computer alone; 0 means any that is free. A name below
// localhost resolves to both addresses of this computer, and some browsers try IPv6 first.
// So Listen also opens the port for IPv6, if there is IPv6: another server with that port,
// perhaps of another account, would receive the link and the cookies.
func (d *Door) Listen(ctx context.Context, port int) (net.Listener, error) {
	l, err := listen(ctx, port)
	for tries := 0; err != nil && port == 0 && tries < anyPortTries; tries++ {
		l, err = listen(ctx, port) // the free port was taken at the other address
	}
	if err != nil {
		e := aai.Errorf(aai.InvalidParams, "httpPort: %w", err)
		e.Hint = "Give another one, or 0 for any that is free: aai-gateway web --port 0"
		return nil, e
	}
	d.host = net.JoinHostPort(d.name, strconv.Itoa(portOf(l)))
	return l, nil
}

// anyPortTries limits the attempts to find a port that is free at both addresses.
const anyPortTries = 20

func portOf(l net.Listener) int {
	at, _ := l.Addr().(*net.TCPAddr) // it is a listener of TCP
	return at.Port
}

// listen opens the port at both addresses of this computer, or at the only one.
func listen(ctx context.Context, port int) (net.Listener, error) {
	var lc net.ListenConfig
	four, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	any6, err := lc.Listen(ctx, "tcp6", "[::1]:0")
	if err != nil {
		return four, nil //nolint:nilerr // there is no IPv6 here, so no other server listens there
	}
	_ = any6.Close() // no client has used it
	six, err := lc.Listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(portOf(four))))
	if err != nil {
		_ = four.Close() // no client has used it
		return nil, err
	}
	return newDualListener(four, six), nil
}

// dualListener combines two listeners.
type dualListener struct {
	net.Listener // of the address that it reports

	other    net.Listener
	accepted chan acceptResult
	closed   chan struct{}
	once     sync.Once
}

type acceptResult struct {
	conn net.Conn
	err  error
}

func newDualListener(l, other net.Listener) *dualListener {
	b := &dualListener{Listener: l, other: other, accepted: make(chan acceptResult), closed: make(chan struct{})}
	go b.accept(l)
	go b.accept(other)
	return b
}

// accept passes on the connections of one listener until both are closed.
func (b *dualListener) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case b.accepted <- acceptResult{conn, err}:
		case <-b.closed:
			if conn != nil {
				_ = conn.Close() // its client expects no answer
			}
			return
		}
	}
}

// Accept implements net.Listener.
func (b *dualListener) Accept() (net.Conn, error) {
	select {
	case a := <-b.accepted:
		return a.conn, a.err
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (b *dualListener) Close() error {
	err := net.ErrClosed
	b.once.Do(func() {
		close(b.closed)
		err = errors.Join(b.Listener.Close(), b.other.Close())
	})
	return err
}

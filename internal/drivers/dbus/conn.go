package dbus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"aai"
)

// The bus itself, as a peer on the bus.
const (
	busName  = "org.freedesktop.DBus"
	busPath  = "/org/freedesktop/DBus"
	busIface = "org.freedesktop.DBus"
)

// stallLimit is how long the bus may leave a message unread before the
// connection counts as dead.
const stallLimit = 10 * time.Second

var errLost = errors.New("the connection to the bus was lost")

// A conn is one connection to a bus. One goroutine reads and one writes; a call
// waits for neither longer than its context allows. Safe for concurrent use.
type conn struct {
	socket   net.Conn
	onSignal func(*message)
	out      chan *outgoing

	mu      sync.Mutex
	serial  uint32
	pending map[uint32]*pendingCall

	closing sync.Once
	lost    chan struct{} // closed when the connection is
}

// An outgoing message is queued, then exactly one of sent and withdrawn; sent may
// turn out to be unsent.
type outgoing struct {
	frame []byte
	state atomic.Int32
}

const (
	queued int32 = iota
	sent
	withdrawn // its caller did not wait
	unsent    // the socket did not take all of it, so the bus has no message
)

type pendingCall struct {
	from string // who may answer
	done chan *message
}

// A transportError is a call that ended without any answer.
type transportError struct {
	delivery aai.Delivery
	cause    error // errLost, or that of the context
}

func (e *transportError) Error() string { return e.cause.Error() }
func (e *transportError) Unwrap() error { return e.cause }

// newConn authenticates on the socket and begins to read and write. The context
// bounds this only. The conn calls onSignal for every signal, in order, from its
// reading goroutine.
func newConn(ctx context.Context, socket net.Conn, onSignal func(*message)) (*conn, error) {
	in := bufio.NewReaderSize(socket, 32<<10)
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	err := authenticate(socket, in)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	c := &conn{
		socket:   socket,
		onSignal: onSignal,
		out:      make(chan *outgoing, 64),
		pending:  map[uint32]*pendingCall{},
		lost:     make(chan struct{}),
	}
	go c.read(in)
	go c.write()
	return c, nil
}

// close ends the connection and every call on it.
func (c *conn) close() {
	c.closing.Do(func() {
		close(c.lost)
		_ = c.socket.Close()
	})
}

func (c *conn) alive() bool {
	select {
	case <-c.lost:
		return false
	default:
		return true
	}
}

// call sends the message and waits for the answer, which may be an error message.
// Its error is a *transportError.
func (c *conn) call(ctx context.Context, m *message) (*message, error) {
	if err := ctx.Err(); err != nil {
		return nil, &transportError{aai.NotDelivered, err}
	}
	serial, p := c.expect(m.destination)
	defer c.forget(serial)
	o := &outgoing{frame: m.frame(serial)}
	select {
	case c.out <- o:
	case <-ctx.Done():
		return nil, &transportError{aai.NotDelivered, ctx.Err()}
	case <-c.lost:
		return nil, &transportError{aai.NotDelivered, errLost}
	}
	select {
	case answer := <-p.done:
		return answer, nil
	case <-ctx.Done():
		return nil, &transportError{o.giveUp(), ctx.Err()}
	case <-c.lost:
	}
	select {
	case answer := <-p.done: // it came with the last bytes
		return answer, nil
	default:
		return nil, &transportError{o.giveUp(), errLost}
	}
}

// giveUp takes the message back if it is still in the queue and says what became
// of it.
func (o *outgoing) giveUp() aai.Delivery {
	if o.state.CompareAndSwap(queued, withdrawn) || o.state.Load() == unsent {
		return aai.NotDelivered
	}
	return aai.DeliveryUnknown
}

func (c *conn) expect(from string) (uint32, *pendingCall) {
	p := &pendingCall{from: from, done: make(chan *message, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.serial++; c.serial == 0 || c.pending[c.serial] != nil; c.serial++ {
	}
	c.pending[c.serial] = p
	return c.serial, p
}

func (c *conn) forget(serial uint32) {
	c.mu.Lock()
	delete(c.pending, serial)
	c.mu.Unlock()
}

func (c *conn) write() {
	for {
		select {
		case <-c.lost:
			return
		case o := <-c.out:
			if !o.state.CompareAndSwap(queued, sent) {
				continue
			}
			_ = c.socket.SetWriteDeadline(time.Now().Add(stallLimit))
			n, err := c.socket.Write(o.frame)
			if n < len(o.frame) {
				o.state.Store(unsent)
			}
			if err != nil {
				c.close()
				return
			}
		}
	}
}

func (c *conn) read(in *bufio.Reader) {
	defer c.close()
	defer func() { _ = recover() }() // a message that breaks the reader costs the connection, not the process
	for {
		m, err := readMessage(in)
		if err != nil {
			return
		}
		switch m.kind {
		case typeReply, typeError:
			c.answer(m)
		case typeSignal:
			c.onSignal(m)
		case typeCall:
			c.refuse(m)
		}
	}
}

// answer hands a reply to the call it belongs to. Only the one who was called,
// and the bus in its stead, may answer.
func (c *conn) answer(m *message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[m.replySerial]
	if p == nil || m.sender != p.from && m.sender != busName {
		return
	}
	delete(c.pending, m.replySerial)
	p.done <- m
}

// refuse answers whoever calls us: there is nothing to call here. When the queue
// is full the caller gets no answer, rather than our calls having to wait.
func (c *conn) refuse(m *message) {
	if m.flags&flagNoReply != 0 {
		return
	}
	c.mu.Lock()
	c.serial++
	serial := c.serial
	c.mu.Unlock()
	e := encoder{}
	e.str(fmt.Sprintf("no method %s here", m.member))
	no := &message{
		kind: typeError, flags: flagNoReply, destination: m.sender, replySerial: m.serial,
		errorName: "org.freedesktop.DBus.Error.UnknownMethod", signature: "s", body: e.buf,
	}
	select {
	case c.out <- &outgoing{frame: no.frame(serial)}:
	default:
	}
}

// ask calls a method of the bus itself, all of whose arguments are strings.
func (c *conn) ask(ctx context.Context, member string, args ...string) (*message, error) {
	e := encoder{}
	signature := ""
	for _, arg := range args {
		e.str(arg)
		signature += "s"
	}
	return c.call(ctx, &message{
		kind: typeCall, destination: busName, path: busPath, iface: busIface, member: member,
		signature: signature, body: e.buf,
	})
}

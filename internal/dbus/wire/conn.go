package wire

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
)

// The bus itself, as a destination.
const (
	BusName      = "org.freedesktop.DBus"
	BusPath      = "/org/freedesktop/DBus"
	BusInterface = "org.freedesktop.DBus"
)

// readSize is the size of the read buffer, enough for many small replies.
const readSize = 64 << 10

// ErrConnectionLost is the cause of a TransportError if the connection ended before the answer.
var ErrConnectionLost = errors.New("the connection to the bus was lost")

var errPeer = errors.New("the other end is a peer and not a bus")

// A TransportError is the error of a message that was not sent, or of a call without an answer.
type TransportError struct {
	Delivery aai.Delivery // NotDelivered or DeliveryUnknown
	Cause    error        // ErrConnectionLost, the context's error, or an error in the message
}

func (e *TransportError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Cause }

// Options configure a connection.
type Options struct {
	// OnSignal is called for every signal, in order, from the reading goroutine. It must not wait for an answer of this
	// connection: no answer is read until it returns. Nil ignores signals. A panic in it ends the connection.
	OnSignal func(*Message)
	// PeerToPeer means that the other end is an app instead of a bus. Messages have no
	// destination, any answer to a call is accepted, and there is no Hello.
	PeerToPeer bool
}

// A Conn is a connection to a bus or to a peer. One goroutine reads, and one writes the data that
// could not be written immediately. No call waits for them longer than its context allows. It is
// safe for concurrent use.
type Conn struct {
	socket  net.Conn
	options Options
	name    atomic.Value // a string: our unique name

	mu      sync.Mutex
	serial  uint32                  // the last used one
	pending map[uint32]*pendingCall // by serial
	batches []*batch
	queue   []*outgoingFrame // not yet taken by the writer
	writing bool             // a writer is active, and will check the queue afterwards

	out  writeState    // of the active writer
	wake chan struct{} // passes the writing to the writing goroutine

	closing sync.Once
	lost    chan struct{}
}

// Dial opens the first usable one of the addresses, which are separated by ";", and
// authenticates. It only supports local sockets. The context limits only Dial. On a bus, call
// Hello next.
func Dial(ctx context.Context, address string, o Options) (*Conn, error) {
	socket, err := dialAddress(ctx, address)
	if err != nil {
		return nil, err
	}
	return newConn(ctx, socket, o)
}

// newConn authenticates on the socket and starts reading and writing. The context limits only
// newConn.
func newConn(ctx context.Context, socket net.Conn, o Options) (*Conn, error) {
	in := bufio.NewReaderSize(socket, readSize)
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	err := authenticate(socket, in)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	c := &Conn{
		socket:  socket,
		options: o,
		pending: map[uint32]*pendingCall{},
		out:     newWriteState(socket),
		wake:    make(chan struct{}, 1),
		lost:    make(chan struct{}),
	}
	go c.read(in)
	go c.write()
	return c, nil
}

// File returns a duplicate of the socket. While it is open, the other end does not notice that the connection ended.
// The caller must close it.
func (c *Conn) File() (*os.File, error) {
	socket, ok := c.socket.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return socket.File()
}

// Close ends the connection and every call on it.
func (c *Conn) Close() {
	c.closing.Do(func() {
		close(c.lost)
		_ = c.socket.Close()
	})
}

// Done returns a channel that is closed when the connection ends, for any reason.
func (c *Conn) Done() <-chan struct{} { return c.lost }

// IsAlive reports whether the connection is open, as far as known.
func (c *Conn) IsAlive() bool {
	select {
	case <-c.lost:
		return false
	default:
		return true
	}
}

// Name returns the connection's unique name on the bus, such as ":1.42". It is empty before Hello.
func (c *Conn) Name() string {
	name, _ := c.name.Load().(string)
	return name
}

// Hello registers the connection at the bus and returns its unique name. It must be the first call, and the only
// Hello.
func (c *Conn) Hello(ctx context.Context) (unique string, err error) {
	answer, err := c.CallBus(ctx, "Hello")
	if err != nil {
		return "", err
	}
	if answer.Kind == KindError {
		return "", errors.New("the bus refused Hello: " + aai.CleanLabel(answer.ErrorName, 100))
	}
	d := answer.Decoder()
	unique = d.Str()
	if err := d.Err(); err != nil {
		return "", err
	}
	c.name.Store(unique)
	return unique, nil
}

// CallBus calls a method of the bus itself with string arguments. Otherwise it behaves as Call.
func (c *Conn) CallBus(ctx context.Context, member string, args ...string) (*Message, error) {
	if c.options.PeerToPeer {
		return nil, &TransportError{aai.NotDelivered, errPeer}
	}
	e := Encoder{}
	signature := ""
	for _, arg := range args {
		e.Str(arg)
		signature += "s"
	}
	return c.Call(ctx, &Message{
		Destination: BusName, Path: BusPath, Interface: BusInterface, Member: member,
		Signature: signature, Body: e.Bytes(),
	})
}

func (c *Conn) read(in *bufio.Reader) {
	defer c.Close()
	defer func() { _ = recover() }() // a message that breaks the reader ends the connection, not the process
	messages := messageReader{in: in}
	for {
		m, err := messages.read()
		if err != nil {
			return
		}
		switch m.Kind {
		case KindReply, KindError:
			c.answer(m)
		case KindSignal:
			if c.options.OnSignal != nil {
				c.options.OnSignal(m)
			}
		case KindCall:
			c.refuse(m)
		}
	}
}

// answer passes a reply to its call.
func (c *Conn) answer(m *Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[m.ReplySerial]; p != nil {
		if c.isAnswerFrom(m, p.to) {
			delete(c.pending, m.ReplySerial)
			p.answer <- m
		}
		return
	}
	for _, b := range c.batches {
		if to, waits := b.waitsFor(m.ReplySerial); waits {
			if c.isAnswerFrom(m, to) {
				b.take(m)
			}
			return
		}
	}
}

// isAnswerFrom reports whether a message may answer a call. Only the called destination or the
// bus may answer. The owner of a well-known name is unknown, so any sender may answer for it.
func (c *Conn) isAnswerFrom(m *Message, called string) bool {
	return c.options.PeerToPeer || m.Sender == called || m.Sender == BusName || called != BusName && called[0] != ':'
}

// refuse answers an incoming call, since we offer no methods. If the queue is long, it sends no
// answer, so that our calls need not wait.
func (c *Conn) refuse(m *Message) {
	if m.Flags&FlagNoReply != 0 {
		return
	}
	e := Encoder{}
	e.Str("no method " + aai.CleanLabel(m.Member, MaxName) + " here")
	no := &Message{
		Destination: m.Sender, ReplySerial: m.Serial,
		ErrorName: "org.freedesktop.DBus.Error.UnknownMethod", Signature: "s", Body: e.Bytes(),
	}
	if no.check(KindError, c.options.PeerToPeer) != nil {
		return
	}
	o := &outgoingFrame{frame: no.appendFrame(nil, KindError, FlagNoReply, 0, c.options.PeerToPeer)}
	c.mu.Lock()
	if len(c.queue) >= maxRefusals {
		c.mu.Unlock()
		return
	}
	o.setSerial(c.reserve(1))
	mine := c.enqueue(o)
	c.mu.Unlock()
	if mine {
		c.writeNow()
	}
}

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

// The bus itself, as a peer on the bus.
const (
	BusName      = "org.freedesktop.DBus"
	BusPath      = "/org/freedesktop/DBus"
	BusInterface = "org.freedesktop.DBus"
)

// readSize is how much is read from the socket at once, many replies if they are
// small.
const readSize = 64 << 10

// ErrConnectionLost is the cause of calls that ended with the connection.
var ErrConnectionLost = errors.New("the connection to the bus was lost")

var errPeer = errors.New("at the other end is a peer and not a bus")

// A TransportError is a call that ended without any answer.
type TransportError struct {
	Delivery aai.Delivery // NotDelivered or DeliveryUnknown
	Cause    error        // ErrLost, that of the context, or what was wrong with the message
}

func (e *TransportError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Cause }

// Options say what a connection is for.
type Options struct {
	// OnSignal is called for every signal, in order, from the goroutine that reads:
	// it must not wait for the connection, and replies wait for it. Nil means that
	// signals are passed over. A panic in it ends the connection.
	OnSignal func(*Message)
	// PeerToPeer says that at the other end is no bus but one app. Messages go there
	// without a destination, and whatever answers a call is its answer. There is
	// nothing to say Hello to.
	PeerToPeer bool
}

// A Conn is one connection to a bus or to a peer. One goroutine reads, and one
// writes what could not be written at once; no call waits for either longer than
// its context allows. Safe for concurrent use.
type Conn struct {
	socket  net.Conn
	options Options
	name    atomic.Value // a string: our unique name

	mu      sync.Mutex
	serial  uint32                  // the last one that was used
	pending map[uint32]*pendingCall // by serial
	batches []*batch
	queue   []*outgoingFrame // not yet taken by whoever writes
	writing bool             // somebody writes, and will look at the queue after it

	out  writeState    // of whoever writes
	wake chan struct{} // hands the writing over to the writing goroutine

	closing sync.Once
	lost    chan struct{}
}

// Dial opens the first of the addresses (they are separated by ";") that can be
// opened, and authenticates. Only sockets of this computer can be. The context
// bounds the dialling only. On a bus, Hello comes next.
func Dial(ctx context.Context, address string, o Options) (*Conn, error) {
	socket, err := dialAddress(ctx, address)
	if err != nil {
		return nil, err
	}
	return newConn(ctx, socket, o)
}

// newConn authenticates on the socket and begins to read and write. The context
// bounds this only.
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

// File is a duplicate of the socket, for whoever keeps the other end from seeing that
// the connection ends. Close it.
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

// Done is closed when the connection is, for whatever reason.
func (c *Conn) Done() <-chan struct{} { return c.lost }

// IsAlive reports whether the connection was not closed yet, as far as we know.
func (c *Conn) IsAlive() bool {
	select {
	case <-c.lost:
		return false
	default:
		return true
	}
}

// Name is our unique name on the bus, such as ":1.42". It is empty before Hello.
func (c *Conn) Name() string {
	name, _ := c.name.Load().(string)
	return name
}

// Hello introduces us to the bus, which must come before anything else, and once.
// It returns our unique name.
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

// CallBus calls a method of the bus itself, all of whose arguments are strings. The
// rest is as with Call.
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
	defer func() { _ = recover() }() // a message that breaks the reader costs the connection, not the process
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

// answer hands a reply to the call it belongs to.
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

// isAnswerFrom reports whether a message may be the answer of whoever was called.
// Only they may, and the bus in their stead. Who has a well-known name we do not
// know, so there anybody may.
func (c *Conn) isAnswerFrom(m *Message, called string) bool {
	return c.options.PeerToPeer || m.Sender == called || m.Sender == BusName || called != BusName && called[0] != ':'
}

// refuse answers whoever calls us: there is nothing to call here. When a lot is
// queued the caller gets no answer, rather than our calls having to wait.
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

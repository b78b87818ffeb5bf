package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
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
	// OnCall is called for every call to this connection, under the rules of OnSignal, and reports whether the method is
	// known. A known one gets an empty reply, another one, or a nil OnCall, the error UnknownMethod.
	OnCall func(*Message) bool
	// IsMonitor means that OnCall also gets the calls between others, after the bus has made the connection a monitor
	// (BecomeMonitor). A monitor sends nothing, so no call is answered.
	IsMonitor bool
	// PeerToPeer means that the other end is an app instead of a bus. Messages have no
	// destination, any answer to a call is accepted, and there is no Hello.
	PeerToPeer bool
	// ReceiveFiles accepts file descriptors with messages: see Message.TakeFile. Without it the other end cannot send any.
	ReceiveFiles bool
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
	files, err := newFileReader(socket, o.ReceiveFiles)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	from := io.Reader(socket)
	if files != nil {
		from = files
	}
	in := bufio.NewReaderSize(from, readSize)
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	err = authenticate(socket, in, files != nil)
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
	go c.read(messageReader{in: in, files: files})
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

func (c *Conn) read(messages messageReader) {
	defer c.Close()
	defer messages.files.close()
	defer func() { _ = recover() }() // a message that breaks the reader ends the connection, not the process
	for {
		m, err := messages.read()
		if err != nil {
			return
		}
		switch m.Kind {
		case KindReply, KindError:
			if c.answer(m) {
				continue // its files belong to the caller now
			}
		case KindSignal:
			if c.options.OnSignal != nil {
				c.options.OnSignal(m)
			}
		case KindCall:
			known := c.options.OnCall != nil && c.options.OnCall(m)
			c.reply(m, known)
		}
		m.closeFiles()
	}
}

// answer passes a reply to its call, and reports whether a call waited for it.
func (c *Conn) answer(m *Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[m.ReplySerial]; p != nil {
		if c.isAnswerFrom(m, p.to) {
			delete(c.pending, m.ReplySerial)
			p.answer <- m
			return true
		}
		return false
	}
	for _, b := range c.batches {
		if to, waits := b.waitsFor(m.ReplySerial); waits {
			if c.isAnswerFrom(m, to) {
				b.take(m)
				return true
			}
			return false
		}
	}
	return false
}

// isAnswerFrom reports whether a message may answer a call. Only the called destination or the
// bus may answer. The owner of a well-known name is unknown, so any sender may answer for it.
func (c *Conn) isAnswerFrom(m *Message, called string) bool {
	return c.options.PeerToPeer || m.Sender == called || m.Sender == BusName || called != BusName && called[0] != ':'
}

// reply answers an incoming call. If the queue is long, it sends no answer, so that our calls need not wait.
func (c *Conn) reply(m *Message, known bool) {
	if m.Flags&FlagNoReply != 0 || c.options.IsMonitor {
		return
	}
	kind, answer := byte(KindReply), &Message{Destination: m.Sender, ReplySerial: m.Serial}
	if !known {
		e := Encoder{}
		e.Str("no method " + aai.CleanLabel(m.Member, MaxName) + " here")
		kind, answer.ErrorName = KindError, "org.freedesktop.DBus.Error.UnknownMethod"
		answer.Signature, answer.Body = "s", e.Bytes()
	}
	if answer.check(kind, c.options.PeerToPeer) != nil {
		return
	}
	o := &outgoingFrame{frame: answer.appendFrame(nil, kind, FlagNoReply, 0, c.options.PeerToPeer)}
	c.mu.Lock()
	if len(c.queue) >= maxReplies {
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

// defaultSystemBus is the well-known address of the system bus, by the specification.
const defaultSystemBus = "unix:path=/var/run/dbus/system_bus_socket"

// errNoBus reports that no session bus is known.
var errNoBus = errors.New("this person has no known bus")

// SessionAddress returns the address of the session bus in getenv's environment, or an error. It
// never starts a bus, since a new one would have no apps.
func SessionAddress(getenv func(string) string) (string, error) {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address, nil
	}
	return "", errNoBus
}

// SystemAddress returns the address of the system bus: DBUS_SYSTEM_BUS_ADDRESS in getenv's environment, or the
// well-known one.
func SystemAddress(getenv func(string) string) string {
	if address := getenv("DBUS_SYSTEM_BUS_ADDRESS"); address != "" {
		return address
	}
	return defaultSystemBus
}

// dialAddress opens the first usable one of the addresses, which are separated by ";". It only
// supports local sockets: over a network neither end could authenticate the other.
func dialAddress(ctx context.Context, addresses string) (net.Conn, error) {
	err := errors.New("the address is empty")
	for address := range strings.SplitSeq(addresses, ";") {
		if address == "" {
			continue
		}
		var path string
		if path, err = socketPath(address); err != nil {
			continue
		}
		var socket net.Conn
		if socket, err = new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
			return socket, nil
		}
	}
	return nil, err
}

// SocketPaths returns the paths of the local sockets in D-Bus addresses separated by ";". A path in the abstract
// namespace begins with "@".
func SocketPaths(addresses string) []string {
	var paths []string
	for address := range strings.SplitSeq(addresses, ";") {
		if path, err := socketPath(address); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// socketPath parses an address such as "unix:path=/run/user/1000/bus,guid=…".
func socketPath(address string) (string, error) {
	transport, keys, _ := strings.Cut(address, ":")
	if transport == "autolaunch" {
		return "", errors.New("the address is autolaunch:, and this gateway starts no bus of its own")
	}
	if transport != "unix" {
		return "", fmt.Errorf("expected an address that begins with unix:, got %q", transport)
	}
	for pair := range strings.SplitSeq(keys, ",") {
		key, escaped, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(escaped)
		if err != nil {
			return "", fmt.Errorf("the address's %s: %w", key, err)
		}
		switch {
		case value == "":
		case key == "path":
			return value, nil
		case key == "abstract":
			return "@" + value, nil
		}
	}
	return "", errors.New("expected path= or abstract= in the address")
}

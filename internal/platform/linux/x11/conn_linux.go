package x11

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// patience is the maximum time without an answer of the server, whatever the caller's deadline.
const patience = 10 * time.Second

// maxReply bounds a reply, in bytes. The longest reply is a clip.
const maxReply = 2 * maxClip

// A call is a request and, after conn.do returned nil, its result.
type call struct {
	request []byte
	void    bool // the request has no reply
	reply   []byte
	err     error // an *xError, or errNoReply

	sequence uint64
	done     chan struct{} // closed on the answer; nil if no goroutine waits
}

// An xError is the server's refusal of a request.
type xError struct {
	code  byte
	major byte
	minor uint16
	value uint32
}

// The codes of the errors that callers distinguish; X11 protocol, section 4.
const (
	badWindow   = 3
	badMatch    = 8
	badDrawable = 9
)

func (e *xError) Error() string {
	names := []string{"", "BadRequest", "BadValue", "BadWindow", "BadPixmap", "BadAtom", "BadCursor", "BadFont", "BadMatch",
		"BadDrawable", "BadAccess", "BadAlloc", "BadColor", "BadGContext", "BadIDChoice", "BadName", "BadLength", "BadImplementation"}
	name := fmt.Sprintf("error %d", e.code)
	if int(e.code) < len(names) {
		name = names[e.code]
	}
	return fmt.Sprintf("%s (request %d.%d, value 0x%x)", name, e.major, e.minor, e.value)
}

// isX reports whether the server refused with one of the codes.
func isX(err error, codes ...byte) bool {
	e, ok := errors.AsType[*xError](err)
	return ok && slices.Contains(codes, e.code)
}

var errNoReply = errors.New("the X server skipped a reply")

// A conn is a connection to an X server. It is safe for concurrent use.
type conn struct {
	net     net.Conn
	setup   *setup
	writing chan struct{} // held while writing; a channel, so that waiting ends with a context
	gone    chan struct{} // closed when the connection is lost
	cleaner

	mu       sync.Mutex
	sequence uint64  // of the last request
	waiting  []*call // unanswered calls, in the order of their requests
	lastID   uint32
	cause    error // why it is gone
}

// newConn takes over a socket after the handshake. onEvent gets the events in the reading
// goroutine, so it must not block; nil drops them.
func newConn(socket net.Conn, s *setup, onEvent func(event []byte)) *conn {
	c := &conn{net: socket, setup: s, writing: make(chan struct{}, 1), gone: make(chan struct{})}
	go c.read(onEvent)
	return c
}

func (c *conn) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// lose ends the connection and all calls that wait for it.
func (c *conn) lose(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	c.cause = cause
	close(c.gone)
	_ = c.net.Close()
	for _, w := range c.waiting {
		w.finish(nil, cause)
	}
	c.waiting = nil
}

func (c *call) finish(reply []byte, err error) {
	c.reply, c.err = reply, err
	if c.done != nil {
		close(c.done)
	}
}

// newID returns the ID of a new resource. IDs are not reused, and there are two million;
// see spent.
func (c *conn) newID() xid {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID += c.setup.idMask & -c.setup.idMask
	return c.setup.idBase | c.lastID&c.setup.idMask
}

// spent reports whether so many IDs are used up that a new connection is due.
func (c *conn) spent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastID > c.setup.idMask/2
}

// do sends the requests at once and waits until all are answered. It returns an error if
// the connection is lost or the time is over; the calls' fields must not be read then.
// Refusals by the server are in call.err.
func (c *conn) do(ctx context.Context, calls ...*call) error {
	if len(calls) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return err
	}
	if calls[len(calls)-1].void {
		// A request without a reply is known to be done when a later one is answered.
		calls = append(slices.Clone(calls), getInputFocus())
	}
	last := calls[len(calls)-1]
	last.done = make(chan struct{})
	if err := c.send(ctx, calls); err != nil {
		return err
	}
	select {
	case <-last.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !c.alive() {
		return c.lostError()
	}
	return nil
}

// must is like do, but also returns the first refusal by the server.
func (c *conn) must(ctx context.Context, calls ...*call) error {
	if err := c.do(ctx, calls...); err != nil {
		return err
	}
	for _, call := range calls {
		if call.err != nil {
			return call.err
		}
	}
	return nil
}

// errLost reports that the connection has ended.
var errLost = errors.New("the connection to the X server is lost")

func (c *conn) lostError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *conn) send(ctx context.Context, calls []*call) error {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var buf []byte
	c.mu.Lock()
	if c.cause != nil {
		c.mu.Unlock()
		return c.cause
	}
	for _, call := range calls {
		c.sequence++
		call.sequence = c.sequence
		buf = append(buf, call.request...)
	}
	c.waiting = append(c.waiting, calls...)
	c.mu.Unlock()

	deadline, _ := ctx.Deadline()
	written, err := 0, c.net.SetWriteDeadline(deadline)
	if err == nil {
		written, err = c.net.Write(buf)
	}
	if err != nil && written == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		c.unsend(len(calls))
		return errors.Join(context.DeadlineExceeded, err)
	}
	if err != nil {
		// Part of a request may be sent, so the connection is unusable.
		c.lose(fmt.Errorf("%w: %w", errLost, err))
		return errors.Join(ctx.Err(), c.lostError())
	}
	return nil
}

// unsend removes the last calls, none of which was written. No other goroutine has sent
// since, because the caller holds writing.
func (c *conn) unsend(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.sequence -= uint64(n)
		c.waiting = c.waiting[:len(c.waiting)-n]
	}
}

// read reads messages of the server until the connection ends.
func (c *conn) read(onEvent func([]byte)) {
	in := bufio.NewReaderSize(c.net, 64<<10)
	for {
		message, err := readMessage(in)
		if err != nil {
			c.lose(fmt.Errorf("%w: %w", errLost, err))
			return
		}
		switch message[0] {
		case 0, 1:
			c.answered(message)
		default:
			if onEvent != nil {
				onEvent(message)
			}
		}
	}
}

// readMessage reads an error, a reply or an event.
func readMessage(in io.Reader) ([]byte, error) {
	const reply, genericEvent = 1, 35
	message := make([]byte, 32)
	if _, err := io.ReadFull(in, message); err != nil {
		return nil, err
	}
	if kind := message[0] & 0x7f; kind != reply && kind != genericEvent {
		return message, nil
	}
	more := 4 * uint64(binary.NativeEndian.Uint32(message[4:]))
	if more > maxReply {
		return nil, fmt.Errorf("an answer of %d bytes", more)
	}
	message = append(message, make([]byte, more)...)
	_, err := io.ReadFull(in, message[32:])
	return message, err
}

// answered passes an error or a reply to its call. Answers come in the order of the
// requests, so all earlier calls are done as well.
func (c *conn) answered(message []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	low := binary.NativeEndian.Uint16(message[2:])
	done := 0
	for _, w := range c.waiting {
		// Sequence numbers have 16 bits on the wire. Every batch ends with a reply, so the
		// matching call is less than 1<<15 away.
		ahead := low - uint16(w.sequence)
		if ahead > 1<<15 {
			break
		}
		done++
		if ahead == 0 {
			if message[0] == 0 {
				w.finish(nil, parseError(message))
			} else {
				w.finish(message, nil)
			}
			break
		}
		if w.void {
			w.finish(nil, nil)
		} else {
			w.finish(nil, errNoReply)
		}
	}
	c.waiting = slices.Delete(c.waiting, 0, done)
}

func parseError(message []byte) *xError {
	r := from(message, 4)
	e := &xError{code: message[1], value: r.u32()}
	e.minor, e.major = r.u16(), r.u8()
	return e
}

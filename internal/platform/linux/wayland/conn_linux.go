package wayland

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
)

// Limits of a connection.
const (
	patience   = 10 * time.Second // for an answer of the compositor, whatever the caller's deadline
	maxMessage = 1<<16 - 4        // bytes; the protocol's limit
)

// displayID is the object that every connection has, wl_display.
const displayID = 1

// A handler gets the events of an object, in the reading goroutine; it must not block.
type handler func(opcode uint16, event *reader)

// A conn is a connection to a compositor. It is safe for concurrent use.
type conn struct {
	socket  *net.UnixConn
	writing chan struct{} // held while writing; a channel, so that waiting ends with a context
	gone    chan struct{} // closed when the connection is lost

	binding sync.Mutex        // guards bound, held while an object is made
	bound   map[string]uint32 // objects without events, by interface
	screens screens
	devices devices

	mu      sync.Mutex
	objects map[uint32]handler
	last    uint32   // the last new ID
	free    []uint32 // IDs that the compositor has released
	cause   error    // why it is gone
	globals map[string]global
}

// A global is an interface that the compositor offers.
type global struct {
	name, version uint32
	more          []uint32 // the names of further ones, such as of several outputs
}

// dial connects to the socket and reads the list of the offered interfaces.
func dial(ctx context.Context, path string) (*conn, error) {
	raw, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	socket, ok := raw.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, raw.Close())
	}
	c := &conn{
		socket: socket, writing: make(chan struct{}, 1), gone: make(chan struct{}), objects: make(map[uint32]handler),
		last: displayID, globals: make(map[string]global), bound: make(map[string]uint32),
	}
	c.objects[displayID] = c.onDisplay
	go c.read()
	const getRegistry = 1
	registry := c.add(c.onRegistry)
	if err := c.send(ctx, displayID, getRegistry, registry); err != nil {
		return nil, err
	}
	if err := c.sync(ctx); err != nil {
		c.lose(err)
		return nil, err
	}
	return c, nil
}

// serverIDs is the first ID of the objects that the compositor makes.
const serverIDs = 0xff000000

// registryID is the first object that a connection makes.
const registryID = 2

func (c *conn) onDisplay(opcode uint16, event *reader) {
	const failed, deleted = 0, 1
	switch opcode {
	case failed:
		object, code, text := event.Uint(), event.Uint(), event.Text()
		c.lose(fmt.Errorf("the compositor refused a request to object %d with error %d: %q", object, code, text))
	case deleted:
		id := event.Uint()
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, known := c.objects[id]; known && id > registryID && id < serverIDs {
			delete(c.objects, id)
			c.free = append(c.free, id)
		}
	}
}

func (c *conn) onRegistry(opcode uint16, event *reader) {
	const added, removed = 0, 1
	switch opcode {
	case added:
		name, kind, version := event.Uint(), event.Text(), event.Uint()
		c.mu.Lock()
		defer c.mu.Unlock()
		if g, known := c.globals[kind]; known {
			g.more = append(g.more, name)
			c.globals[kind] = g
			return
		}
		c.globals[kind] = global{name: name, version: version}
	case removed:
		c.lose(errOffersChanged)
	}
}

// errOffersChanged ends a connection after the compositor withdrew an interface, such as an output; the next
// call connects again.
var errOffersChanged = errors.New("the compositor offers something else now")

// add adds a new object of the client.
func (c *conn) add(h handler) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.last + 1
	if n := len(c.free); n > 0 {
		id, c.free = c.free[n-1], c.free[:n-1]
	} else {
		c.last = id
	}
	c.objects[id] = h
	return id
}

// handle sets the handler of an object that the compositor has made.
func (c *conn) handle(id uint32, h handler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[id] = h
}

// forget removes an object that the compositor has made.
func (c *conn) forget(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.objects, id)
}

// offered returns the global of an interface.
func (c *conn) offered(kind string) (global, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, ok := c.globals[kind]
	return g, ok
}

// bind returns the object of an interface without events, and makes it at the first call. ok is false if the
// compositor does not offer it.
func (c *conn) bind(ctx context.Context, kind string, version uint32) (id uint32, ok bool, err error) {
	g, ok := c.offered(kind)
	if !ok {
		return 0, false, nil
	}
	c.binding.Lock()
	defer c.binding.Unlock()
	if id, ok := c.bound[kind]; ok {
		return id, true, nil
	}
	if id, err = c.bindName(ctx, kind, g.name, min(version, g.version), nil); err == nil {
		c.bound[kind] = id
	}
	return id, true, err
}

// bindName makes an object of one global.
func (c *conn) bindName(ctx context.Context, kind string, name, version uint32, h handler) (uint32, error) {
	const bind = 0
	id := c.add(h)
	return id, c.send(ctx, registryID, bind, name, kind, version, id)
}

// send sends a request with arguments as [fdwire.Append] takes them.
func (c *conn) send(ctx context.Context, object uint32, opcode uint16, args ...any) error {
	message, rights := fdwire.Append(make([]byte, 8, 64), args...)
	if len(message) > maxMessage {
		return fmt.Errorf("a request has %d bytes; expected at most %d", len(message), maxMessage)
	}
	binary.NativeEndian.PutUint32(message, object)
	binary.NativeEndian.PutUint32(message[4:], uint32(len(message))<<16|uint32(opcode))
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-c.gone:
		return c.lost()
	case <-ctx.Done():
		return ctx.Err()
	}
	_ = c.socket.SetWriteDeadline(time.Now().Add(patience))
	if _, _, err := c.socket.WriteMsgUnix(message, rights, nil); err != nil {
		c.lose(err)
		return c.lost()
	}
	return nil
}

// afterwards returns a context for the end of input: keys and buttons must not stay down after the deadline of a call.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	const endLimit = time.Second
	return context.WithTimeout(context.WithoutCancel(ctx), endLimit)
}

// sync waits until the compositor has answered all earlier requests.
func (c *conn) sync(ctx context.Context) error {
	const request = 0
	done := make(chan struct{})
	callback := c.add(func(uint16, *reader) { close(done) })
	if err := c.send(ctx, displayID, request, callback); err != nil {
		return err
	}
	return c.await(ctx, done)
}

// await waits for a signal of a handler, for patience at most.
func (c *conn) await(ctx context.Context, signal <-chan struct{}) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-signal:
		return nil
	case <-c.gone:
		select {
		case <-signal:
			return nil
		default:
			return c.lost()
		}
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return errSilent
	}
}

// errSilent means that the compositor does not answer.
var errSilent = errors.New("the compositor does not answer")

// lose ends the connection.
func (c *conn) lose(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
		close(c.gone)
		_ = c.socket.Close()
	}
}

// lost returns why the connection is gone.
func (c *conn) lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		return errors.New("the connection to the compositor is closed")
	}
	return c.cause
}

func (c *conn) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// A reader reads the arguments of an event.
type reader = fdwire.Reader

// read reads events until the connection ends.
func (c *conn) read() {
	size := func(head []byte) int { return int(binary.NativeEndian.Uint32(head[4:]) >> 16) }
	c.lose(fdwire.Receive(c.socket, 8, size, func(head []byte, event *reader) {
		c.dispatch(binary.NativeEndian.Uint32(head), uint16(binary.NativeEndian.Uint32(head[4:])&0xffff), event)
	}))
}

func (c *conn) dispatch(object uint32, opcode uint16, event *reader) {
	c.mu.Lock()
	h := c.objects[object]
	c.mu.Unlock()
	if h == nil {
		return
	}
	if h(opcode, event); event.Short {
		c.lose(fmt.Errorf("the compositor sent event %d of object %d too short", opcode, object))
	}
}

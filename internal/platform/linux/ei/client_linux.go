package ei

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
)

// Interfaces of devices.
const (
	Keyboard        = "ei_keyboard"
	PointerAbsolute = "ei_pointer_absolute"
	Button          = "ei_button"
	Scroll          = "ei_scroll"
)

// interfaces are the offered interfaces. All are of version 1.
func interfaces() []string {
	return []string{"ei_callback", "ei_connection", "ei_pingpong", "ei_seat", "ei_device", "ei_pointer", Keyboard, PointerAbsolute, Button, Scroll}
}

// A Client is a connection to an EIS. It is safe for concurrent use.
type Client struct {
	socket *net.UnixConn
	gone   chan struct{} // closed when the connection is lost

	writing sync.Mutex

	mu         sync.Mutex
	kinds      map[uint64]string // interfaces of the objects
	seats      map[uint64]uint64 // masks of the offered capabilities
	devices    map[uint64]*Device
	owners     map[uint64]*Device // of the objects for capabilities
	callbacks  map[uint64]chan struct{}
	connection uint64
	last       uint64        // the last own ID
	sequence   uint32        // of emulations
	changed    chan struct{} // closed at each change of a device
	cause      error         // why it is gone
}

// handshakeID is the object that every connection begins with.
const handshakeID = 0

// Connect begins the protocol on a socket, and owns the file. name is the program's name for the person.
func Connect(file *os.File, name string) (*Client, error) {
	raw, err := net.FileConn(file)
	_ = file.Close()
	if err != nil {
		return nil, err
	}
	socket, ok := raw.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, raw.Close())
	}
	c := &Client{
		socket: socket, gone: make(chan struct{}), changed: make(chan struct{}),
		kinds: map[uint64]string{handshakeID: "ei_handshake"}, seats: make(map[uint64]uint64),
		devices: make(map[uint64]*Device), owners: make(map[uint64]*Device), callbacks: make(map[uint64]chan struct{}),
	}
	const finish, contextType, setName, interfaceVersion, sender = 1, 2, 3, 4, 2
	hello := appendMessage(nil, handshakeID, 0, uint32(1))
	hello = appendMessage(hello, handshakeID, contextType, uint32(sender))
	hello = appendMessage(hello, handshakeID, setName, name)
	for _, kind := range interfaces() {
		hello = appendMessage(hello, handshakeID, interfaceVersion, kind, uint32(1))
	}
	if err := c.write(appendMessage(hello, handshakeID, finish)); err != nil {
		return nil, err
	}
	go c.read()
	return c, nil
}

// Close ends the connection; the compositor releases held keys and buttons.
func (c *Client) Close() { c.lose(errors.New("the connection for input was closed")) }

// Done returns a channel that is closed when the connection ends.
func (c *Client) Done() <-chan struct{} { return c.gone }

// Err returns why the connection ended; nil while it is open.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *Client) lose(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
		close(c.gone)
		_ = c.socket.Close()
	}
}

// write sends requests. The other end has patience to take them.
func (c *Client) write(messages []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.socket.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.socket.Write(messages); err != nil {
		c.lose(err)
		return c.Err()
	}
	return nil
}

// Sync waits until the compositor has handled all earlier requests.
func (c *Client) Sync(ctx context.Context) error {
	const sync = 0
	done := make(chan struct{})
	c.mu.Lock()
	c.last++
	id, connection := c.last, c.connection
	c.kinds[id], c.callbacks[id] = "ei_callback", done
	c.mu.Unlock()
	if connection == 0 {
		return errors.New("the compositor has not answered yet")
	}
	if err := c.write(appendMessage(nil, connection, sync, id, uint32(1))); err != nil {
		return err
	}
	return c.wait(ctx, done)
}

// ErrSilent means that the compositor does not answer.
var ErrSilent = errors.New("the compositor does not answer")

// wait waits for a signal, for patience at most.
func (c *Client) wait(ctx context.Context, signal <-chan struct{}) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-signal:
		return nil
	case <-c.gone:
		return c.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return ErrSilent
	}
}

// Device waits for a usable device with the interfaces.
func (c *Client) Device(ctx context.Context, interfaces ...string) (*Device, error) {
	for {
		c.mu.Lock()
		for _, d := range c.devices {
			if d.resumed && d.has(interfaces) {
				c.mu.Unlock()
				return d, nil
			}
		}
		changed := c.changed
		c.mu.Unlock()
		if err := c.wait(ctx, changed); err != nil {
			return nil, fmt.Errorf("waiting for a device with %v: %w", interfaces, err)
		}
	}
}

// handle handles an event.
func (c *Client) handle(object uint64, opcode uint32, e *fdwire.Reader) {
	c.mu.Lock()
	var answer []byte
	kind := c.kinds[object]
	switch kind {
	case "ei_handshake":
		const connected = 2
		if opcode == connected {
			e.Uint()
			c.connection = e.Uint64()
			c.kinds[c.connection] = "ei_connection"
		}
	case "ei_connection":
		answer = c.onConnection(opcode, e)
	case "ei_callback":
		if done := c.callbacks[object]; done != nil {
			close(done)
			delete(c.callbacks, object)
			delete(c.kinds, object)
		}
	case "ei_seat":
		answer = c.onSeat(object, opcode, e)
	case "ei_device":
		c.onDevice(object, opcode, e)
	case Keyboard:
		c.onKeyboard(c.owners[object], opcode, e)
	}
	c.mu.Unlock()
	if answer != nil {
		_ = c.write(answer) // a failure ends the connection
	}
}

// onConnection returns an answer. Like the other handlers it runs while c.mu is held.
func (c *Client) onConnection(opcode uint32, e *fdwire.Reader) []byte {
	const disconnected, seat, ping = 0, 1, 3
	switch opcode {
	case disconnected:
		e.Uint()
		reason, text := e.Uint(), e.Text()
		go c.lose(fmt.Errorf("the compositor ended the input with reason %d: %q", reason, text))
	case seat:
		c.kinds[e.Uint64()] = "ei_seat"
	case ping:
		return appendMessage(nil, e.Uint64(), 0, uint64(0))
	}
	return nil
}

func (c *Client) onSeat(seat uint64, opcode uint32, e *fdwire.Reader) []byte {
	const capability, done, device, bind = 2, 3, 4, 1
	switch opcode {
	case capability:
		mask := e.Uint64()
		c.seats[seat] |= mask
	case done:
		return appendMessage(nil, seat, bind, c.seats[seat])
	case device:
		id := e.Uint64()
		c.kinds[id], c.devices[id] = "ei_device", &Device{client: c, id: id, objects: make(map[string]uint64)}
	}
	return nil
}

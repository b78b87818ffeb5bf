package devtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/gybob/aai-gateway"
)

// maxMessage limits a message of the browser, in bytes.
const maxMessage = 64 << 20

// requestTimeout limits a request of the protocol; calls of a page's tools have the time of their call.
const requestTimeout = 5 * time.Second

// ErrClosed means that the browser has closed the connection, or that the tab of a session has ended.
var ErrClosed = errors.New("the browser has closed its DevTools connection")

// A message is a request, a response or an event.
type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// A wire carries the messages of a connection.
type wire interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, data []byte) error
	Close() error
}

// A webSocket is the wire of a browser that listens on a port.
type webSocket struct{ *websocket.Conn }

func (s webSocket) Read(ctx context.Context) ([]byte, error) {
	_, data, err := s.Conn.Read(ctx)
	return data, err
}

// Write is not ended by ctx: a message that is cut short ends the whole connection.
func (s webSocket) Write(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	return s.Conn.Write(ctx, websocket.MessageText, data)
}

func (s webSocket) Close() error { return s.CloseNow() }

// A conn is a DevTools connection to a browser. It is safe for concurrent use.
type conn struct {
	wire    wire
	onEvent func(session, method string, params json.RawMessage) // called in order, by the reading goroutine
	end     context.CancelFunc
	closed  chan struct{}

	mu      sync.Mutex
	last    int64
	pending map[int64]chan message
}

// dial connects to a browser's WebSocket address. The browser may ask the person first.
func dial(ctx context.Context, address string) (wire, error) {
	// No proxy of the environment: the address is on this computer.
	client := &http.Client{Transport: &http.Transport{Proxy: nil}}
	socket, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: client}) //nolint:bodyclose // the package closes it
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(maxMessage)
	return webSocket{socket}, nil
}

// newConn begins to read from w. The caller must not wait for answers in onEvent.
func newConn(w wire, onEvent func(session, method string, params json.RawMessage)) *conn {
	reading, end := context.WithCancel(context.Background())
	c := &conn{wire: w, onEvent: onEvent, end: end, closed: make(chan struct{}), pending: map[int64]chan message{}}
	go c.read(reading)
	return c
}

// read reads until the connection ends.
func (c *conn) read(ctx context.Context) {
	defer close(c.closed)
	defer func() { _ = c.wire.Close() }()
	for {
		data, err := c.wire.Read(ctx)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data, &m) != nil {
			return
		}
		if m.ID == 0 {
			c.onEvent(m.Session, m.Method, m.Params)
			continue
		}
		c.mu.Lock()
		answer := c.pending[m.ID]
		delete(c.pending, m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// isAlive reports whether the connection is open.
func (c *conn) isAlive() bool {
	select {
	case <-c.closed:
		return false
	default:
		return true
	}
}

func (c *conn) close() {
	c.end()
	<-c.closed
}

// call sends a request to a session of a page, or to the browser for "", and decodes the result unless it is nil. Its
// errors before the request was sent are *aai.Error with NotDelivered.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	body, err := json.Marshal(params)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return notDelivered(err)
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	m := message{ID: c.last, Session: session, Method: method, Params: body}
	c.pending[m.ID] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, m.ID)
		c.mu.Unlock()
	}()
	data, err := json.Marshal(m)
	if err != nil {
		return notDelivered(err)
	}
	if err := c.wire.Write(ctx, data); err != nil {
		return notDelivered(err)
	}
	select {
	case m = <-answer:
	case <-c.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	if m.Error != nil {
		return fmt.Errorf("%s: %s", method, aai.CleanLabel(m.Error.Message, 200))
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// request is call with a time limit of its own.
func (c *conn) request(ctx context.Context, session, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.call(ctx, session, method, params, result)
}

func notDelivered(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "the request was not sent to the browser: %w", err)
	e.Delivery = aai.NotDelivered
	return e
}

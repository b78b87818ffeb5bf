package cdp

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
const maxMessage = 16 << 20

// patience limits a request of the protocol; calls of a page's tools have the time of their call.
const patience = 5 * time.Second

// errClosed means that the browser has closed the connection.
var errClosed = errors.New("the browser has closed its DevTools connection")

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

// A conn is a DevTools connection to a browser. It is safe for concurrent use.
type conn struct {
	socket  *websocket.Conn
	onEvent func(session, method string, params json.RawMessage) // called in order, by the reading goroutine
	end     context.CancelFunc
	closed  chan struct{}

	mu      sync.Mutex
	last    int64
	pending map[int64]chan message
}

// dial connects to a browser's WebSocket address. The browser may ask the person first.
func dial(ctx context.Context, address string, onEvent func(session, method string, params json.RawMessage)) (*conn, error) {
	// No proxy of the environment: the address is on this computer.
	client := &http.Client{Transport: &http.Transport{Proxy: nil}}
	socket, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPClient: client}) //nolint:bodyclose // the package closes it
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(maxMessage)
	reading, end := context.WithCancel(context.WithoutCancel(ctx))
	c := &conn{socket: socket, onEvent: onEvent, end: end, closed: make(chan struct{}), pending: map[int64]chan message{}}
	go c.read(reading)
	return c, nil
}

// read reads until the connection ends.
func (c *conn) read(ctx context.Context) {
	defer close(c.closed)
	defer func() { _ = c.socket.CloseNow() }()
	for {
		_, data, err := c.socket.Read(ctx)
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
	if err := c.socket.Write(ctx, websocket.MessageText, data); err != nil {
		return notDelivered(err)
	}
	select {
	case m = <-answer:
	case <-c.closed:
		return errClosed
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
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.call(ctx, session, method, params, result)
}

func notDelivered(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "the request was not sent to the browser: %w", err)
	e.Delivery = aai.NotDelivered
	return e
}

package wayland

import (
	"context"
	"errors"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// A bus is the gateway's connection to the session bus, for compositors with interfaces there. The zero value
// connects at the first call. It is safe for concurrent use.
type bus struct {
	mu      sync.Mutex // held while connecting
	conn    *wire.Conn
	answers answers
}

// connect returns the connection, and connects if necessary.
func (b *bus) connect(ctx context.Context, getenv func(string) string) (*wire.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil && b.conn.IsAlive() {
		return b.conn, nil
	}
	address, err := wire.SessionAddress(getenv)
	if err != nil {
		return nil, err
	}
	conn, err := wire.Dial(ctx, address, wire.Options{OnCall: b.answers.take})
	if err != nil {
		return nil, err
	}
	if _, err := conn.Hello(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	b.conn = conn
	return conn, nil
}

func (b *bus) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.conn != nil {
		b.conn.Close()
	}
}

// owner returns the connection that owns a name of the bus, and its process; "" if there is none.
func owner(ctx context.Context, conn *wire.Conn, name string) (unique string, pid int, err error) {
	answer, err := conn.CallBus(ctx, "GetNameOwner", name)
	if err != nil {
		return "", 0, err
	}
	if answer.Kind == wire.KindError {
		return "", 0, nil
	}
	d := answer.Decoder()
	if unique = d.Str(); d.Err() != nil {
		return "", 0, d.Err()
	}
	if answer, err = conn.CallBus(ctx, "GetConnectionUnixProcessID", unique); err != nil {
		return "", 0, err
	}
	if answer.Kind == wire.KindError {
		return "", 0, nil // it has just gone
	}
	d = answer.Decoder()
	pid = int(d.U32())
	return unique, pid, d.Err()
}

// call calls a method, and returns an error for an answer that is one.
func call(ctx context.Context, conn *wire.Conn, m *wire.Message) (*wire.Message, error) {
	answer, err := conn.Call(ctx, m)
	if err != nil {
		return nil, err
	}
	if answer.Kind != wire.KindError {
		return answer, nil
	}
	text := answer.ErrorName
	if answer.Signature == "s" {
		text = answer.Decoder().Str()
	}
	return nil, errors.New("the compositor answers: " + aai.CleanLabel(text, maxTitle))
}

// answers are the waits for answers that a program sends by calling the gateway.
type answers struct {
	mu      sync.Mutex
	waiting map[string]awaited // by token
}

// An awaited is one wait. Only the sender can answer it.
type awaited struct {
	sender string
	answer chan string
}

// The method of the gateway that takes answers: a token and a text.
const (
	answerInterface = "org.aai.gateway.Answer"
	answerMember    = "Give"
)

// expect begins a wait for the sender's answer with the token. The caller must call done.
func (a *answers) expect(token, sender string) (answer <-chan string, done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = make(map[string]awaited)
	}
	w := awaited{sender, make(chan string, 1)}
	a.waiting[token] = w
	return w.answer, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.waiting, token)
	}
}

// take passes an incoming call to its wait, and ignores one of another sender.
func (a *answers) take(m *wire.Message) bool {
	if m.Interface != answerInterface || m.Member != answerMember || m.Signature != "ss" {
		return false
	}
	d := m.Decoder()
	token, text := d.Str(), d.Str()
	a.mu.Lock()
	defer a.mu.Unlock()
	w, ok := a.waiting[token]
	if !ok || d.Err() != nil || m.Sender != w.sender {
		return false
	}
	delete(a.waiting, token)
	w.answer <- text
	return true
}

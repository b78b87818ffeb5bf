package wire

import (
	"bufio"
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// soon bounds a call that must not hang. No test waits for it to pass.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// await looks until the condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx := soon(t)
	for !condition() {
		assert.NilError(t, ctx.Err(), "waited in vain for: %s", what)
		time.Sleep(time.Millisecond)
	}
}

// connToScriptedBus returns a Conn to a bus that the test plays, after authentication. Written
// data must be read, since the pipe has no buffer.
func connToScriptedBus(t *testing.T, o Options) (*Conn, net.Conn, *bufio.Reader) {
	t.Helper()
	ours, theirs := net.Pipe()
	c, in := scriptedOn(t, ours, theirs, o)
	return c, theirs, in
}

// connOverSocket is scripted over a real socket, which is written to without waiting.
func connOverSocket(t testing.TB, o Options) (*Conn, net.Conn, *bufio.Reader) {
	t.Helper()
	ours, theirs := sockets(t)
	c, in := scriptedOn(t, ours, theirs, o)
	return c, theirs, in
}

// sockets makes two that are connected.
func sockets(t testing.TB) (one, other net.Conn) {
	t.Helper()
	l, path := listen(t)
	var err error
	one, err = new(net.Dialer).DialContext(t.Context(), "unix", path)
	assert.NilError(t, err)
	other, err = l.Accept()
	assert.NilError(t, err)
	return one, other
}

// listen makes a socket to dial.
func listen(t testing.TB) (l net.Listener, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l, path
}

func scriptedOn(t testing.TB, ours, theirs net.Conn, o Options) (*Conn, *bufio.Reader) {
	t.Helper()
	in := bufio.NewReaderSize(theirs, 64<<10)
	ready := make(chan error, 1)
	go func() { ready <- welcome(theirs, in) }()
	c, err := newConn(soon(t), ours, o)
	assert.NilError(t, err)
	t.Cleanup(c.Close)
	t.Cleanup(func() { _ = theirs.Close() })
	assert.NilError(t, <-ready)
	return c, in
}

// welcome is the other end of authenticate.
func welcome(out net.Conn, in *bufio.Reader) error {
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	if _, err := out.Write([]byte("OK 1234\r\n")); err != nil {
		return err
	}
	_, err := in.ReadString('\n')
	return err
}

// to is a call of the destination.
func to(destination string) *Message {
	return &Message{Destination: destination, Path: "/", Interface: "a.b", Member: "C"}
}

// numbered is a call of :1.5 with a number.
func numbered(n int) *Message {
	e := Encoder{}
	e.U32(uint32(n))
	m := to(":1.5")
	m.Signature, m.Body = "u", e.Bytes()
	return m
}

type outcome struct {
	reply *Message
	err   error
}

// start calls :1.5 and sends the outcome on the channel.
func start(ctx context.Context, c *Conn) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		m, err := c.Call(ctx, to(":1.5"))
		ended <- outcome{m, err}
	}()
	return ended
}

func (o outcome) delivery(t *testing.T) aai.Delivery {
	t.Helper()
	return deliveryOf(t, o.err)
}

func deliveryOf(t *testing.T, err error) aai.Delivery {
	t.Helper()
	e, ok := errors.AsType[*TransportError](err)
	assert.Assert(t, ok, "expected a TransportError, got %v", err)
	return e.Delivery
}

func mustRead(t *testing.T, in *bufio.Reader) *Message {
	t.Helper()
	m, err := ReadMessage(in)
	assert.NilError(t, err)
	return m
}

// send sends messages as the bus would, with the serial 99.
func send(t *testing.T, out net.Conn, messages ...Message) {
	t.Helper()
	var frames []byte
	for _, m := range messages {
		frames = append(frames, m.Frame(99)...)
	}
	_, err := out.Write(frames)
	assert.NilError(t, err)
}

// echo answers every call with its own arguments, until the connection ends. It writes after
// reading all available data. The sender is the called destination.
func echo(out net.Conn, in *bufio.Reader) {
	messages := messageReader{in: in}
	var frames []byte
	for {
		m, err := messages.read()
		if err != nil {
			return
		}
		if m.Kind == KindCall && m.Flags&FlagNoReply == 0 {
			answer := Message{ReplySerial: m.Serial, Sender: m.Destination, Destination: m.Sender, Signature: m.Signature, Body: m.Body}
			frames = answer.appendFrame(frames, KindReply, 0, 1, m.Sender == "")
		}
		if in.Buffered() > 0 {
			continue
		}
		if _, err := out.Write(frames); err != nil {
			return
		}
		frames = frames[:0]
	}
}

// inQueue returns the number of messages not yet taken by a writer.
func (c *Conn) inQueue() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// waiting returns the number of calls and batches that wait for an answer.
func (c *Conn) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) + len(c.batches)
}

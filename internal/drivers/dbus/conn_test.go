package dbus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"aai"
)

// scripted makes a conn to a bus that the test plays, after authentication.
func scripted(t *testing.T) (*conn, net.Conn, *bufio.Reader) {
	t.Helper()
	ours, theirs := net.Pipe()
	c, in := scriptedOn(t, ours, theirs)
	return c, theirs, in
}

func scriptedOn(t *testing.T, ours, theirs net.Conn) (*conn, *bufio.Reader) {
	t.Helper()
	in := bufio.NewReader(theirs)
	ready := make(chan error, 1)
	go func() {
		if _, err := in.ReadString('\n'); err != nil {
			ready <- err
			return
		}
		if _, err := theirs.Write([]byte("OK 1234\r\n")); err != nil {
			ready <- err
			return
		}
		_, err := in.ReadString('\n')
		ready <- err
	}()
	c, err := newConn(soon(t), ours, func(*message) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	return c, in
}

// start makes a call of :1.5 whose outcome arrives on the channel.
func start(ctx context.Context, c *conn) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		m, err := c.call(ctx, &message{kind: typeCall, destination: ":1.5", path: "/", iface: "a.b", member: "C"})
		ended <- outcome{m, err}
	}()
	return ended
}

type outcome struct {
	reply *message
	err   error
}

func (o outcome) delivery(t *testing.T) aai.Delivery {
	t.Helper()
	e, ok := errors.AsType[*transportError](o.err)
	if !ok {
		t.Fatalf("expected a transportError, got %v %v", o.reply, o.err)
	}
	return e.delivery
}

func mustRead(t *testing.T, in *bufio.Reader) *message {
	t.Helper()
	m, err := readMessage(in)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func send(t *testing.T, to net.Conn, m message) {
	t.Helper()
	if _, err := to.Write(withSender(m)); err != nil {
		t.Fatal(err)
	}
}

// withSender is the frame with a sender, which only the bus may set.
func withSender(m message) []byte {
	e := encoder{}
	e.buf = append(e.buf, 'l', m.kind, m.flags, 1)
	e.u32(uint32(len(m.body)))
	e.u32(99)
	e.u32(0)
	e.field(fieldSender, 's', m.sender)
	e.field(fieldPath, 'o', m.path)
	e.field(fieldInterface, 's', m.iface)
	e.field(fieldMember, 's', m.member)
	e.field(fieldSignature, 'g', m.signature)
	e.pad(8)
	e.buf = append(e.buf, fieldReplySerial, 1, 'u', 0)
	e.u32(m.replySerial)
	e.buf[12] = byte(len(e.buf) - 16)
	e.pad(8)
	return append(e.buf, m.body...)
}

func TestOnlyTheCalledMayAnswer(t *testing.T) {
	c, bus, in := scripted(t)
	ended := start(soon(t), c)
	serial := mustRead(t, in).serial
	body := encoder{}
	body.str("right")
	send(t, bus, message{kind: typeReply, sender: ":1.6", replySerial: serial})     // an impostor
	send(t, bus, message{kind: typeReply, sender: ":1.5", replySerial: serial + 1}) // no such call
	send(t, bus, message{kind: typeReply, sender: ":1.5", replySerial: serial, signature: "s", body: body.buf})
	send(t, bus, message{kind: typeReply, sender: ":1.5", replySerial: serial}) // once more
	got := <-ended
	if texts, err := got.reply.texts(1); got.err != nil || err != nil || texts[0] != "right" {
		t.Errorf("%+v %v", got, err)
	}

	ended = start(soon(t), c)
	send(t, bus, message{kind: typeError, sender: busName, replySerial: mustRead(t, in).serial})
	if got := <-ended; got.err != nil || got.reply.kind != typeError {
		t.Errorf("the bus may answer in its stead: %+v", got)
	}
}

// The bus reads the first bytes of one message and then no more.
func TestBusThatStopsReading(t *testing.T) {
	c, bus, _ := scripted(t)
	ctx, cancel := context.WithCancel(soon(t))
	first := start(ctx, c)
	if _, err := bus.Read(make([]byte, 1)); err != nil { // now it is being written
		t.Fatal(err)
	}
	second := start(ctx, c)
	await(t, "the second to be queued", func() bool { return len(c.out) == 1 })
	cancel()
	if d := (<-first).delivery(t); d != aai.DeliveryUnknown {
		t.Errorf("what was being written: %s", d)
	}
	if d := (<-second).delivery(t); d != aai.NotDelivered {
		t.Errorf("what was in the queue: %s", d)
	}

	// When the bus breaks off, a message it has not read in full was not delivered.
	third := start(soon(t), c)
	await(t, "the third to be queued", func() bool { return len(c.out) == 2 })
	_ = bus.Close()
	if d := (<-third).delivery(t); d != aai.NotDelivered {
		t.Errorf("%s", d)
	}
	if c.alive() {
		t.Error("the connection counts as alive")
	}
	if d := (<-start(soon(t), c)).delivery(t); d != aai.NotDelivered {
		t.Errorf("a call on a dead connection: %s", d)
	}
	if len(c.pending) != 0 {
		t.Errorf("%d calls are still waited for", len(c.pending))
	}
}

// A tornSocket breaks in the middle of a message, in its own direction only.
type tornSocket struct {
	net.Conn
	torn atomic.Bool
}

func (s *tornSocket) Write(b []byte) (int, error) {
	if s.torn.Load() {
		return len(b) / 2, io.ErrClosedPipe
	}
	return s.Conn.Write(b)
}

// Half a message is none: the bus has nothing that it could deliver.
func TestHalfAMessageIsNotDelivered(t *testing.T) {
	ours, theirs := net.Pipe()
	socket := &tornSocket{Conn: ours}
	c, _ := scriptedOn(t, socket, theirs)
	socket.torn.Store(true)
	if d := (<-start(soon(t), c)).delivery(t); d != aai.NotDelivered {
		t.Errorf("%s", d)
	}
}

func TestMessageThatWasTakenBackIsNotSent(t *testing.T) {
	c, bus, _ := scripted(t)
	start(soon(t), c)
	first := make([]byte, 1)
	if _, err := bus.Read(first); err != nil { // now it is being written
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	second := start(ctx, c)
	await(t, "the second to be queued", func() bool { return len(c.out) == 1 })
	cancel()
	<-second
	start(soon(t), c)
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(first), bus))
	if a, b := mustRead(t, in).serial, mustRead(t, in).serial; a != 1 || b != 3 {
		t.Errorf("the messages %d and %d were sent", a, b)
	}
}

// Whoever calls us gets an answer, so that nobody hangs on us.
func TestCallsOfUsAreRefused(t *testing.T) {
	_, bus, in := scripted(t)
	send(t, bus, message{kind: typeCall, sender: ":1.9", path: "/", iface: "a.b", member: "Quiet", flags: flagNoReply, replySerial: 1})
	send(t, bus, message{kind: typeCall, sender: ":1.9", path: "/", iface: "a.b", member: "Hello", replySerial: 1})
	m := mustRead(t, in)
	texts, err := m.texts(1)
	if err != nil || m.kind != typeError || m.destination != ":1.9" || m.replySerial != 99 || texts[0] != "no method Hello here" {
		t.Errorf("%+v %v %v", m, texts, err)
	}
}

// A reply whose body is broken costs its own call and no other.
func TestBrokenBodyIsOneCallsTrouble(t *testing.T) {
	c, bus, in := scripted(t)
	ended := start(soon(t), c)
	send(t, bus, message{kind: typeReply, sender: ":1.5", replySerial: mustRead(t, in).serial, signature: "as", body: []byte{255, 0, 0, 0}})
	got := <-ended
	if got.err != nil {
		t.Fatal(got.err)
	}
	if _, err := got.reply.values(); err == nil {
		t.Error("the body can be read")
	}
	if !c.alive() {
		t.Error("the connection was closed")
	}
}

func TestDecoderRefuses(t *testing.T) {
	for name, c := range map[string]struct{ sig, body string }{
		"cut off":              {"u", "\x01\x00"},
		"string cut off":       {"s", "\x05\x00\x00\x00ab"},
		"string without end":   {"s", "\x01\x00\x00\x00ab"},
		"invalid UTF-8":        {"s", "\x01\x00\x00\x00\xff\x00"},
		"boolean of 2":         {"b", "\x02\x00\x00\x00"},
		"array too long":       {"ai", "\xff\x00\x00\x00\x01\x00\x00\x00"},
		"array within element": {"ai", "\x02\x00\x00\x00\x01\x00\x00\x00"},
		"no type in a variant": {"v", "\x00\x00"},
		"two in a variant":     {"v", "\x02yy\x00\x01\x01"},
		"descriptor":           {"h", "\x00\x00\x00\x00"},
		"bad signature":        {"a", ""},
		"key of a dict":        {"a{vs}", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		"bottomless variants":  {"v", strings.Repeat("\x01v\x00", 40) + "\x01y\x00\x01"},
	} {
		t.Run(name, func(t *testing.T) {
			m := message{signature: c.sig, body: []byte(c.body), order: binary.LittleEndian}
			if values, err := m.values(); err == nil {
				t.Errorf("read as %v", values)
			}
		})
	}
}

package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
)

func TestOnlyTheCalledMayAnswer(t *testing.T) {
	c, bus, in := connToScriptedBus(t, Options{})
	ended := start(soon(t), c)
	serial := mustRead(t, in).Serial
	body := Encoder{}
	body.Str("right")
	send(t, bus, Message{Kind: KindReply, Sender: ":1.6", ReplySerial: serial})     // an impostor
	send(t, bus, Message{Kind: KindReply, ReplySerial: serial})                     // no sender
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: serial + 1}) // no such call
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: serial, Signature: "s", Body: body.Bytes()})
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: serial}) // a duplicate
	got := <-ended
	if got.err != nil || got.reply.Decoder().Str() != "right" {
		t.Errorf("%+v", got)
	}

	ended = start(soon(t), c)
	send(t, bus, Message{Kind: KindError, Sender: BusName, ReplySerial: mustRead(t, in).Serial})
	if got := <-ended; got.err != nil || got.reply.Kind != KindError {
		t.Errorf("the bus may answer in its stead: %+v", got)
	}
}

// TestWhoMayAnswerANamedCall: the owner of a well-known name is unknown, but the bus's name
// belongs to the bus.
func TestWhoMayAnswerANamedCall(t *testing.T) {
	c, bus, in := connToScriptedBus(t, Options{})
	replies := make(chan []Reply, 1)
	ctx := soon(t)
	go func() { replies <- c.Batch(ctx, []*Message{to("org.example.App"), to(BusName)}) }()
	first, second := mustRead(t, in).Serial, mustRead(t, in).Serial
	send(t, bus, Message{Kind: KindReply, Sender: ":1.7", ReplySerial: second})
	send(t, bus, Message{Kind: KindReply, Sender: ":1.7", ReplySerial: first})
	send(t, bus, Message{Kind: KindReply, Sender: BusName, ReplySerial: second})
	got := <-replies
	if got[0].Err != nil || got[0].Message.Sender != ":1.7" || got[1].Err != nil || got[1].Message.Sender != BusName {
		t.Errorf("%+v", got)
	}
}

// The bus reads the first bytes of one message and then no more.
func TestBusThatStopsReading(t *testing.T) {
	c, bus, _ := connToScriptedBus(t, Options{})
	ctx, cancel := context.WithCancel(soon(t))
	first := start(ctx, c)
	if _, err := bus.Read(make([]byte, 1)); err != nil { // now it is being written
		t.Fatal(err)
	}
	second := start(ctx, c)
	await(t, "the second to be queued", func() bool { return c.inQueue() == 1 })
	cancel()
	if d := (<-first).delivery(t); d != aai.DeliveryUnknown {
		t.Errorf("what was being written: %s", d)
	}
	if d := (<-second).delivery(t); d != aai.NotDelivered {
		t.Errorf("what was in the queue: %s", d)
	}

	// When the bus breaks off, a message it has not read in full was not delivered.
	third := start(soon(t), c)
	await(t, "the third to be queued", func() bool { return c.inQueue() == 2 })
	_ = bus.Close()
	if d := (<-third).delivery(t); d != aai.NotDelivered {
		t.Errorf("%s", d)
	}
	<-c.Done()
	if c.IsAlive() {
		t.Error("the connection counts as alive")
	}
	if d := (<-start(soon(t), c)).delivery(t); d != aai.NotDelivered {
		t.Errorf("a call on a dead connection: %s", d)
	}
	if n := c.waiting(); n != 0 {
		t.Errorf("%d calls are still waited for", n)
	}
}

// TestFullSocket: a real socket without a reader fills up. When it is read again, all messages
// arrive.
func TestFullSocket(t *testing.T) {
	c, bus, in := connOverSocket(t, Options{})
	large := to(":1.5")
	e := Encoder{}
	_ = e.Array(1, func() error { e.Raw(make([]byte, 8<<20)); return nil })
	large.Signature, large.Body = "ay", e.Bytes()
	ctx, cancel := context.WithCancel(soon(t))
	first := make(chan outcome, 1)
	go func() {
		m, err := c.Call(ctx, large)
		first <- outcome{m, err}
	}()
	if _, err := in.Peek(1); err != nil { // now it is being written
		t.Fatal(err)
	}
	second := start(ctx, c)
	sent := make(chan error, 1)
	go func() { sent <- c.Send(ctx, to(":1.5")) }()
	batch := make(chan []Reply, 1)
	go func() { batch <- c.Batch(ctx, []*Message{to(":1.5"), to(":1.5")}) }()
	await(t, "the others to be queued", func() bool { return c.inQueue() == 3 })
	cancel()
	if d := (<-first).delivery(t); d != aai.DeliveryUnknown {
		t.Errorf("what was being written: %s", d)
	}
	if d := (<-second).delivery(t); d != aai.NotDelivered {
		t.Errorf("a call in the queue: %s", d)
	}
	if d := deliveryOf(t, <-sent); d != aai.NotDelivered {
		t.Errorf("a message in the queue: %s", d)
	}
	for _, r := range <-batch {
		if d := deliveryOf(t, r.Err); d != aai.NotDelivered {
			t.Errorf("a batch in the queue: %s", d)
		}
	}
	third := start(soon(t), c)
	if m := mustRead(t, in); len(m.Body) != len(large.Body) {
		t.Errorf("%d bytes arrived", len(m.Body))
	}
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: mustRead(t, in).Serial})
	if got := <-third; got.err != nil {
		t.Error(got.err)
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

// TestHalfAMessageIsNotDelivered: the bus cannot deliver an incomplete message. Of several in one
// write it has the first.
func TestHalfAMessageIsNotDelivered(t *testing.T) {
	ours, theirs := net.Pipe()
	socket := &tornSocket{Conn: ours}
	c, _ := scriptedOn(t, socket, theirs, Options{})
	socket.torn.Store(true)
	if d := (<-start(soon(t), c)).delivery(t); d != aai.NotDelivered {
		t.Errorf("%s", d)
	}

	ours, theirs = net.Pipe()
	socket = &tornSocket{Conn: ours}
	c, _ = scriptedOn(t, socket, theirs, Options{})
	socket.torn.Store(true)
	for i, r := range c.Batch(soon(t), []*Message{to(":1.5"), to(":1.5"), to(":1.5")}) {
		want := aai.NotDelivered
		if i == 0 {
			want = aai.DeliveryUnknown
		}
		if d := deliveryOf(t, r.Err); d != want {
			t.Errorf("%d: %s", i, d)
		}
	}
}

// A timedSocket remembers until when it was to be written to.
type timedSocket struct {
	net.Conn
	mu     sync.Mutex
	writes []time.Time // the deadlines of the writes
	until  time.Time
}

func (s *timedSocket) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	s.until = t
	s.mu.Unlock()
	return s.Conn.SetWriteDeadline(t)
}

func (s *timedSocket) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.writes = append(s.writes, s.until)
	s.mu.Unlock()
	return s.Conn.Write(b)
}

// TestEveryWriteHasADeadline: a peer that leaves a message unread for too long loses the
// connection; after a read the time starts again.
func TestEveryWriteHasADeadline(t *testing.T) {
	ours, theirs := net.Pipe()
	socket := &timedSocket{Conn: ours}
	c, in := scriptedOn(t, socket, theirs, Options{})
	go echo(theirs, in)
	for range 2 {
		if _, err := c.Call(soon(t), to(":1.5")); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the deadline to be taken away", func() bool {
		socket.mu.Lock()
		defer socket.mu.Unlock()
		return socket.until.IsZero()
	})
	writes := socket.writes[len(socket.writes)-2:]
	if writes[0].IsZero() || !writes[1].After(writes[0]) || time.Until(writes[1]) > stallLimit {
		t.Errorf("the deadlines: %v", writes)
	}
}

func TestMessageThatWasTakenBackIsNotSent(t *testing.T) {
	c, bus, _ := connToScriptedBus(t, Options{})
	start(soon(t), c)
	first := make([]byte, 1)
	if _, err := bus.Read(first); err != nil { // now it is being written
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	second := start(ctx, c)
	await(t, "the second to be queued", func() bool { return c.inQueue() == 1 })
	cancel()
	<-second
	start(soon(t), c)
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(first), bus))
	if a, b := mustRead(t, in).Serial, mustRead(t, in).Serial; a != 1 || b != 3 {
		t.Errorf("the messages %d and %d were sent", a, b)
	}
}

// TestCallsOfUsAreRefused: incoming calls get an answer, so that callers do not wait.
func TestCallsOfUsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		options     Options
		sender      string
		destination string
	}{"bus": {Options{}, ":1.9", ":1.9"}, "peer": {Options{PeerToPeer: true}, "", ""}} {
		t.Run(name, func(t *testing.T) {
			_, bus, in := connToScriptedBus(t, c.options)
			send(t, bus, Message{Kind: KindCall, Sender: c.sender, Path: "/", Interface: "a.b", Member: "Quiet", Flags: FlagNoReply})
			send(t, bus, Message{Kind: KindCall, Sender: c.sender, Path: "/", Interface: "a.b", Member: "Hello"})
			m := mustRead(t, in)
			if m.Kind != KindError || m.Destination != c.destination || m.ReplySerial != 99 || m.Decoder().Str() != "no method Hello here" {
				t.Errorf("%+v", m)
			}
		})
	}
}

// TestRefusalsAreFew: callers that do not read the answers cannot exhaust the memory.
func TestRefusalsAreFew(t *testing.T) {
	c, bus, _ := connToScriptedBus(t, Options{})
	flood := Message{Kind: KindCall, Sender: ":1.9", Path: "/", Interface: "a.b", Member: "Flood"}
	send(t, bus, flood)
	first := make([]byte, 1)
	if _, err := io.ReadFull(bus, first); err != nil { // the first answer is being written, and nothing more is read
		t.Fatal(err)
	}
	for range 3 * maxReplies {
		send(t, bus, flood)
	}
	if n := c.inQueue(); n != maxReplies {
		t.Errorf("%d answers wait", n)
	}
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(first), bus))
	mine := start(soon(t), c)
	for {
		if m := mustRead(t, in); m.Kind == KindCall {
			send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: m.Serial})
			break
		}
	}
	if got := <-mine; got.err != nil {
		t.Error(got.err)
	}
}

// TestBrokenBodyIsOneCallsTrouble: a reply with an invalid body affects only its call.
func TestBrokenBodyIsOneCallsTrouble(t *testing.T) {
	c, bus, in := connToScriptedBus(t, Options{})
	ended := start(soon(t), c)
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: mustRead(t, in).Serial, Signature: "as", Body: []byte{255, 0, 0, 0}})
	got := <-ended
	if got.err != nil {
		t.Fatal(got.err)
	}
	d := got.reply.Decoder()
	if d.Skip(got.reply.Signature); d.Err() == nil {
		t.Error("the body can be read")
	}
	if !c.IsAlive() {
		t.Error("the connection was closed")
	}
}

// Serials begin anew after the largest, without those that are waited for.
func TestSerialsBeginAnew(t *testing.T) {
	c, bus, in := connToScriptedBus(t, Options{})
	waiting := start(soon(t), c)
	first := mustRead(t, in).Serial
	c.mu.Lock()
	c.serial = math.MaxUint32 - 1
	c.mu.Unlock()
	var got []uint32
	for range 3 {
		ended := start(soon(t), c)
		m := mustRead(t, in)
		got = append(got, m.Serial)
		send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: m.Serial})
		<-ended
	}
	if first != 1 || got[0] != math.MaxUint32 || got[1] != 2 || got[2] != 3 {
		t.Errorf("the first call has %d, those after it %d", first, got)
	}
	c.mu.Lock()
	c.serial = math.MaxUint32 - 4
	if serial := c.reserve(10); serial <= 1 || serial > 100 {
		t.Errorf("ten in a row begin at %d", serial)
	}
	c.serial = 0
	if serial := c.reserve(10); serial != 11 {
		t.Errorf("ten in a row begin at %d, although 1 is waited for", serial)
	}
	c.mu.Unlock()
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: first})
	if got := <-waiting; got.err != nil {
		t.Error(got.err)
	}
}

func TestContextThatHasEndedSendsNothing(t *testing.T) {
	c, _, in := connOverSocket(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Call(ctx, to(":1.5"))
	errs := []error{err, c.Send(ctx, to(":1.5")), c.Batch(ctx, []*Message{to(":1.5")})[0].Err}
	for i, err := range errs {
		if d := deliveryOf(t, err); d != aai.NotDelivered || !errors.Is(err, context.Canceled) {
			t.Errorf("%d: %s %v", i, d, err)
		}
	}
	c.Close()
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("something was sent: %v", err)
	}
}

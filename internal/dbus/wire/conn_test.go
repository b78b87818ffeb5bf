package wire

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	assert.NilError(t, got.err, "%+v", got)
	assert.Equal(t, got.reply.Decoder().Str(), "right", "%+v", got)

	ended = start(soon(t), c)
	send(t, bus, Message{Kind: KindError, Sender: BusName, ReplySerial: mustRead(t, in).Serial})
	got = <-ended
	assert.NilError(t, got.err, "%+v", got)
	assert.Assert(t, got.reply.Kind == KindError, "the bus may answer in its stead: %+v", got)
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
	assert.NilError(t, got[0].Err, "%+v", got)
	assert.Equal(t, got[0].Message.Sender, ":1.7", "%+v", got)
	assert.NilError(t, got[1].Err, "%+v", got)
	assert.Equal(t, got[1].Message.Sender, BusName, "%+v", got)
}

// TestBusThatStopsReading: the bus reads the first byte of a message. A message that it has not read in full when it
// breaks off was not delivered.
func TestBusThatStopsReading(t *testing.T) {
	c, bus, _ := connToScriptedBus(t, Options{})
	ctx, cancel := context.WithCancel(soon(t))
	first := start(ctx, c)
	_, err := bus.Read(make([]byte, 1)) // now it is being written
	assert.NilError(t, err)
	cancel()
	assert.Check(t, is.Equal((<-first).delivery(t), aai.DeliveryUnknown))
	second := start(soon(t), c)
	await(t, "the second to be queued", func() bool { return c.inQueue() == 1 })
	_ = bus.Close()
	assert.Check(t, is.Equal((<-second).delivery(t), aai.NotDelivered))
	<-c.Done()
	assert.Check(t, !c.IsAlive(), "the connection counts as alive")
	assert.Check(t, is.Equal((<-start(soon(t), c)).delivery(t), aai.NotDelivered))
	assert.Check(t, is.Equal(c.waiting(), 0))
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
	assert.Check(t, is.Equal((<-first).delivery(t), aai.DeliveryUnknown), "what was being written")
	assert.Check(t, is.Equal((<-second).delivery(t), aai.NotDelivered), "a call in the queue")
	assert.Check(t, is.Equal(deliveryOf(t, <-sent), aai.NotDelivered), "a message in the queue")
	for _, r := range <-batch {
		assert.Check(t, is.Equal(deliveryOf(t, r.Err), aai.NotDelivered), "a batch in the queue")
	}
	third := start(soon(t), c)
	m := mustRead(t, in)
	assert.Check(t, is.Len(m.Body, len(large.Body)), "%d bytes arrived", len(m.Body))
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: mustRead(t, in).Serial})
	assert.Check(t, (<-third).err)
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
	torn := func() *Conn {
		ours, theirs := net.Pipe()
		socket := &tornSocket{Conn: ours}
		c, _ := scriptedOn(t, socket, theirs, Options{})
		socket.torn.Store(true)
		return c
	}
	assert.Check(t, is.Equal((<-start(soon(t), torn())).delivery(t), aai.NotDelivered))
	c := torn()
	for i, r := range c.Batch(soon(t), []*Message{to(":1.5"), to(":1.5"), to(":1.5")}) {
		want := aai.NotDelivered
		if i == 0 {
			want = aai.DeliveryUnknown
		}
		assert.Check(t, is.Equal(deliveryOf(t, r.Err), want), "%d", i)
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
		_, err := c.Call(soon(t), to(":1.5"))
		assert.NilError(t, err)
	}
	await(t, "the deadline to be taken away", func() bool {
		socket.mu.Lock()
		defer socket.mu.Unlock()
		return socket.until.IsZero()
	})
	writes := socket.writes[len(socket.writes)-2:]
	assert.Assert(t, !writes[0].IsZero(), "the deadlines: %v", writes)
	assert.Assert(t, writes[1].After(writes[0]), "the deadlines: %v", writes)
	assert.Assert(t, time.Until(writes[1]) <= stallLimit, "the deadlines: %v", writes)
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
			assert.Check(t, m.Kind == KindError, "%+v", m)
			assert.Check(t, is.Equal(m.Destination, c.destination), "%+v", m)
			assert.Check(t, m.ReplySerial == 99, "%+v", m)
			assert.Check(t, is.Equal(m.Decoder().Str(), "no method Hello here"), "%+v", m)
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
	assert.Check(t, is.Equal(c.inQueue(), maxReplies))
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(first), bus))
	mine := start(soon(t), c)
	for {
		if m := mustRead(t, in); m.Kind == KindCall {
			send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: m.Serial})
			break
		}
	}
	assert.Check(t, (<-mine).err)
}

// TestBrokenBodyIsOneCallsTrouble: a reply with an invalid body affects only its call.
func TestBrokenBodyIsOneCallsTrouble(t *testing.T) {
	c, bus, in := connToScriptedBus(t, Options{})
	ended := start(soon(t), c)
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: mustRead(t, in).Serial, Signature: "as", Body: []byte{255, 0, 0, 0}})
	got := <-ended
	assert.NilError(t, got.err)
	d := got.reply.Decoder()
	if d.Skip(got.reply.Signature); d.Err() == nil {
		t.Error("the body can be read")
	}
	assert.Check(t, c.IsAlive(), "the connection was closed")
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
	assert.Check(t, is.Equal(first, uint32(1)))
	assert.Check(t, is.DeepEqual(got, []uint32{math.MaxUint32, 2, 3}))
	c.mu.Lock()
	c.serial = math.MaxUint32 - 4
	serial := c.reserve(10)
	assert.Check(t, serial > 1, "ten in a row begin at %d", serial)
	assert.Check(t, serial <= 100, "ten in a row begin at %d", serial)
	c.serial = 0
	serial = c.reserve(10)
	assert.Check(t, serial == 11, "ten in a row begin at %d, although 1 is waited for", serial)
	c.mu.Unlock()
	send(t, bus, Message{Kind: KindReply, Sender: ":1.5", ReplySerial: first})
	assert.Check(t, (<-waiting).err)
}

func TestContextThatHasEndedSendsNothing(t *testing.T) {
	c, _, in := connOverSocket(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Call(ctx, to(":1.5"))
	errs := []error{err, c.Send(ctx, to(":1.5")), c.Batch(ctx, []*Message{to(":1.5")})[0].Err}
	for i, err := range errs {
		assert.Check(t, is.Equal(deliveryOf(t, err), aai.NotDelivered), "%d", i)
		assert.Check(t, is.ErrorIs(err, context.Canceled), "%d", i)
	}
	c.Close()
	_, err = in.ReadByte()
	assert.Check(t, is.ErrorIs(err, io.EOF), "something was sent: %v", err)
}

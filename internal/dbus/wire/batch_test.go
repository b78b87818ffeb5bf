package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// calls are n of them, each with its number.
func calls(n int) []*Message {
	messages := make([]*Message, n)
	for i := range messages {
		messages[i] = numbered(i)
	}
	return messages
}

// startBatch starts a batch and sends its replies on the channel.
func startBatch(ctx context.Context, c *Conn, messages []*Message) <-chan []Reply {
	ended := make(chan []Reply, 1)
	go func() { ended <- c.Batch(ctx, messages) }()
	return ended
}

// inFlight is how many calls of the one batch are.
func (c *Conn) inFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.batches) == 0 {
		return 0
	}
	return c.batches[0].inFlight
}

// answerTo returns an answer that echoes m.
func answerTo(m *Message) Message {
	return Message{Kind: KindReply, Sender: m.Destination, ReplySerial: m.Serial, Signature: m.Signature, Body: m.Body}
}

func TestBatchKeepsTheOrder(t *testing.T) {
	for _, n := range []int{0, 1, fewInFlight, maxInFlight, maxInFlight + 1, 2000} {
		for name, connect := range map[string]func() (*Conn, net.Conn, *bufio.Reader){
			"pipe":   func() (*Conn, net.Conn, *bufio.Reader) { return connToScriptedBus(t, Options{}) },
			"socket": func() (*Conn, net.Conn, *bufio.Reader) { return connOverSocket(t, Options{}) },
		} {
			c, theirs, in := connect()
			go echo(theirs, in)
			replies := c.Batch(soon(t), calls(n))
			assert.Assert(t, is.Len(replies, n), "%s: %d replies to %d calls", name, len(replies), n)
			for i, r := range replies {
				assert.NilError(t, r.Err, "%s %d %d %+v", name, i, n, r)
				assert.Equal(t, r.Message.Decoder().U32(), uint32(i), "%s %d %d %+v", name, i, n, r)
			}
			assert.Check(t, is.Equal(c.waiting(), 0), "%s: the batch is still waited for", name)
		}
	}
}

// TestAnswersInAnyOrder: answers may come in any order, twice, or for calls not yet sent. At most
// maxInFlight calls are in flight.
func TestAnswersInAnyOrder(t *testing.T) {
	c, bus, in := connOverSocket(t, Options{})
	ended := startBatch(soon(t), c, calls(1500))
	open := 0
	var read []*Message
	for answered := 0; answered < 1500; {
		for in.Buffered() > 0 || open == 0 {
			read = append(read, mustRead(t, in))
			open++
		}
		assert.Assert(t, open <= maxInFlight, "%d in flight", open)
		rand.Shuffle(len(read), func(i, j int) { read[i], read[j] = read[j], read[i] })
		early := *read[0]
		early.Serial = uint32(answered + maxInFlight + 1) // not sent yet
		send(t, bus, answerTo(&early))
		half := (len(read) + 1) / 2
		for _, m := range read[:half] {
			send(t, bus, answerTo(m), answerTo(m))
		}
		read = read[half:]
		open -= half
		answered += half
	}
	for i, r := range <-ended {
		assert.NilError(t, r.Err, "%d %+v", i, r)
		assert.Equal(t, r.Message.Decoder().U32(), uint32(i), "%d %+v", i, r)
	}
}

func TestBatchWithErrors(t *testing.T) {
	c, bus, in := connOverSocket(t, Options{})
	messages := calls(6)
	messages[0] = &Message{Destination: ":1.5", Path: "no path", Member: "C"}
	messages[3] = &Message{Destination: ":1.5", Path: "/", Member: "C", Signature: "s", Body: []byte{1}}
	ended := startBatch(soon(t), c, messages)
	for range 4 {
		answer := answerTo(mustRead(t, in))
		if (&Message{Body: answer.Body}).Decoder().U32() == 2 {
			answer = Message{Kind: KindError, Sender: BusName, ReplySerial: answer.ReplySerial, ErrorName: "a.b"}
		}
		send(t, bus, answer)
	}
	for i, r := range <-ended {
		switch i {
		case 0, 3:
			assert.Equal(t, deliveryOf(t, r.Err), aai.NotDelivered, "%d %+v", i, r)
			assert.Assert(t, is.ErrorIs(r.Err, ErrInvalid), "%d %+v", i, r)
			assert.Assert(t, r.Message == nil, "%d %+v", i, r)
		case 2:
			assert.NilError(t, r.Err, "%d %+v", i, r)
			assert.Assert(t, r.Message.Kind == KindError, "%d %+v", i, r)
			assert.Equal(t, r.Message.ErrorName, "a.b", "%d %+v", i, r)
		default:
			assert.NilError(t, r.Err, "%d %+v", i, r)
			assert.Assert(t, r.Message.Kind == KindReply, "%d %+v", i, r)
			assert.Equal(t, r.Message.Decoder().U32(), uint32(i), "%d %+v", i, r)
		}
	}
	for _, r := range c.Batch(soon(t), []*Message{messages[0], messages[3]}) {
		assert.Check(t, is.ErrorIs(r.Err, ErrInvalid), "nothing to send: %+v", r)
	}
}

// TestBatchEndsByItsDeadline: the other end answers some calls and stops. Those answers are kept,
// and the other replies report their delivery.
func TestBatchEndsByItsDeadline(t *testing.T) {
	c, bus, in := connOverSocket(t, Options{})
	ctx, cancel := context.WithCancel(soon(t))
	before := runtime.NumGoroutine()
	ended := startBatch(ctx, c, calls(2000))
	for range 10 {
		send(t, bus, answerTo(mustRead(t, in)))
	}
	await(t, "ten answers", func() bool { return c.inFlight() == maxInFlight-10 })
	n := runtime.NumGoroutine() - before
	assert.Check(t, n <= 1, "%d goroutines for a batch", n)
	cancel()
	for i, r := range <-ended {
		if i < 10 {
			assert.NilError(t, r.Err, "%d %+v", i, r)
			assert.Equal(t, r.Message.Decoder().U32(), uint32(i), "%d %+v", i, r)
			continue
		}
		want := aai.DeliveryUnknown
		if i >= maxInFlight {
			want = aai.NotDelivered
		}
		assert.Equal(t, deliveryOf(t, r.Err), want, "%d", i)
		assert.Assert(t, is.ErrorIs(r.Err, context.Canceled), "%d", i)
	}
	assert.Assert(t, c.IsAlive(), "the end of a batch is not the end of the connection")
	assert.Equal(t, c.waiting(), 0)
	// late answers are ignored
	for range maxInFlight - 10 {
		send(t, bus, answerTo(mustRead(t, in)))
	}
	next := start(soon(t), c)
	send(t, bus, answerTo(mustRead(t, in)))
	assert.Check(t, (<-next).err)
}

func TestConnectionLostInABatch(t *testing.T) {
	c, bus, in := connOverSocket(t, Options{})
	ended := startBatch(soon(t), c, calls(1000))
	for range 300 {
		send(t, bus, answerTo(mustRead(t, in)))
	}
	_ = bus.Close()
	got := <-ended
	kept := 0
	for i, r := range got {
		switch {
		case r.Message != nil:
			kept++
		case !errors.Is(r.Err, ErrConnectionLost):
			t.Fatalf("%d: %v", i, r.Err)
		case i >= 300+maxInFlight && deliveryOf(t, r.Err) != aai.NotDelivered:
			t.Fatalf("%d was never sent", i)
		}
	}
	assert.Check(t, kept != 0, "%d answers of 300 were kept", kept)
	assert.Check(t, kept <= 300, "%d answers of 300 were kept", kept)
	for _, r := range c.Batch(soon(t), calls(3)) {
		assert.Check(t, is.Equal(deliveryOf(t, r.Err), aai.NotDelivered))
		assert.Check(t, is.ErrorIs(r.Err, ErrConnectionLost))
	}
}

// Batches, calls and messages of many at a time, on one connection.
func TestAllAtOnce(t *testing.T) {
	for name, o := range map[string]Options{"bus": {}, "peer": {PeerToPeer: true}} {
		t.Run(name, func(t *testing.T) {
			c, theirs, in := connOverSocket(t, o)
			go echo(theirs, in)
			ctx := soon(t)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for i, r := range c.Batch(ctx, calls(700)) {
						if r.Err != nil || r.Message.Decoder().U32() != uint32(i) {
							t.Errorf("%d: %+v", i, r)
						}
					}
				})
				all.Go(func() {
					for i := range 200 {
						if m, err := c.Call(ctx, numbered(i)); err != nil || m.Decoder().U32() != uint32(i) {
							t.Errorf("%d: %+v %v", i, m, err)
						}
						assert.Check(t, c.Send(ctx, numbered(i)))
					}
				})
			}
			all.Wait()
			assert.Check(t, is.Equal(c.waiting(), 0))
			assert.Check(t, is.Equal(c.inQueue(), 0))
		})
	}
}

// Large messages of a batch go out in pieces, and none is lost between them.
func TestBatchOfLargeMessages(t *testing.T) {
	c, theirs, in := connOverSocket(t, Options{})
	go echo(theirs, in)
	e := Encoder{}
	_ = e.Array(1, func() error { e.Raw(make([]byte, 100<<10)); return nil })
	large := to(":1.5")
	large.Signature, large.Body = "ay", e.Bytes()
	messages := make([]*Message, 60)
	for i := range messages {
		messages[i] = large
	}
	for i, r := range c.Batch(soon(t), messages) {
		assert.NilError(t, r.Err, "%d", i)
		assert.Assert(t, is.Len(r.Message.Body, len(large.Body)), "%d", i)
	}
}

func connected(b testing.TB, address string) *Conn {
	b.Helper()
	c, err := Dial(soon(b), address, Options{})
	assert.NilError(b, err)
	b.Cleanup(c.Close)
	_, err = c.Hello(soon(b))
	assert.NilError(b, err)
	return c
}

// BenchmarkCalls measures calls one by one and 256 in a batch: of the bus itself, and of an app over a socket of its own.
func BenchmarkCalls(b *testing.B) {
	peer, theirs, in := connOverSocket(b, Options{PeerToPeer: true})
	go echo(theirs, in)
	get := &Message{Path: "/org/a11y/atspi/accessible/42", Interface: "org.freedesktop.DBus.Properties", Member: "Get", Signature: "ss"}
	e := Encoder{}
	e.Str("org.a11y.atspi.Accessible")
	e.Str("Name")
	get.Body = e.Bytes()
	for name, c := range map[string]struct {
		conn *Conn
		call *Message
	}{
		"bus":  {connected(b, testkit.StartBus(b).Address), &Message{Destination: BusName, Path: BusPath, Interface: BusInterface, Member: "GetId"}},
		"peer": {peer, get},
	} {
		for _, n := range []int{1, 256} {
			messages := slices.Repeat([]*Message{c.call}, n)
			b.Run(fmt.Sprint(name, " ", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for _, r := range c.conn.Batch(b.Context(), messages) {
						assert.NilError(b, r.Err)
					}
				}
			})
		}
	}
}

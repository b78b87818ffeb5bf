package wire

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// The benchmarks come in pairs, ours and godbus's, over the same ends:
//
//	Bus     the bus itself answers GetId: one hop there, one back
//	Service an app on the bus answers Get: two hops there, two back
//	Peer    an app answers Get over a socket of its own: one hop there, one back
//
// The app is in this process and made of this package, so it costs the same for
// both. A call of a batch counts as one operation.
const benchBatch = 256

func getRequest(destination string) *Message {
	e := Encoder{}
	e.Str("org.a11y.atspi.Accessible")
	e.Str("Name")
	return &Message{Destination: destination, Path: "/org/a11y/atspi/accessible/42", Interface: "org.freedesktop.DBus.Properties",
		Member: "Get", Signature: "ss", Body: e.Bytes()}
}

func idRequest() *Message {
	return &Message{Destination: BusName, Path: BusPath, Interface: BusInterface, Member: "GetId"}
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

// serveEcho puts an app on the bus that echoes, and returns its unique name.
func serveEcho(b testing.TB, address string) string {
	b.Helper()
	socket, err := dialAddress(soon(b), address)
	assert.NilError(b, err)
	b.Cleanup(func() { _ = socket.Close() })
	in := bufio.NewReaderSize(socket, 64<<10)
	assert.NilError(b, authenticate(socket, in, false))
	hello := Message{Kind: KindCall, Destination: BusName, Path: BusPath, Interface: BusInterface, Member: "Hello"}
	_, err = socket.Write(hello.Frame(1))
	assert.NilError(b, err)
	answer, err := ReadMessage(in)
	assert.NilError(b, err)
	go echo(socket, in)
	return answer.Decoder().Str()
}

func sequential(b *testing.B, c *Conn, m *Message) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		reply, err := c.Call(b.Context(), m)
		assert.NilError(b, err, reply)
		assert.Assert(b, reply.Kind == KindReply, reply)
	}
}

func batched(b *testing.B, c *Conn, m *Message) {
	b.Helper()
	b.ReportAllocs()
	for done := 0; done < b.N; {
		messages := make([]*Message, min(benchBatch, b.N-done))
		for i := range messages {
			messages[i] = m
		}
		for _, r := range c.Batch(b.Context(), messages) {
			assert.NilError(b, r.Err, r)
			assert.Assert(b, r.Message.Kind == KindReply, r)
		}
		done += len(messages)
	}
}

func BenchmarkBusSequential(b *testing.B) {
	sequential(b, connected(b, testkit.StartBus(b).Address), idRequest())
}

func BenchmarkBusBatch(b *testing.B) {
	batched(b, connected(b, testkit.StartBus(b).Address), idRequest())
}

func BenchmarkServiceSequential(b *testing.B) {
	bus := testkit.StartBus(b)
	sequential(b, connected(b, bus.Address), getRequest(serveEcho(b, bus.Address)))
}

func BenchmarkServiceBatch(b *testing.B) {
	bus := testkit.StartBus(b)
	batched(b, connected(b, bus.Address), getRequest(serveEcho(b, bus.Address)))
}

func peerConn(b *testing.B) *Conn {
	b.Helper()
	c, theirs, in := connOverSocket(b, Options{PeerToPeer: true})
	go echo(theirs, in)
	return c
}

func BenchmarkPeerSequential(b *testing.B) { sequential(b, peerConn(b), getRequest("")) }
func BenchmarkPeerBatch(b *testing.B)      { batched(b, peerConn(b), getRequest("")) }

func godbusSequential(b *testing.B, c *godbus.Conn, m *Message, args ...any) {
	b.Helper()
	b.ReportAllocs()
	object := c.Object(m.Destination, godbus.ObjectPath(m.Path))
	for b.Loop() {
		assert.NilError(b, object.CallWithContext(b.Context(), m.Interface+"."+m.Member, 0, args...).Err)
	}
}

func godbusBatched(b *testing.B, c *godbus.Conn, m *Message, args ...any) {
	b.Helper()
	b.ReportAllocs()
	object := c.Object(m.Destination, godbus.ObjectPath(m.Path))
	for done := 0; done < b.N; {
		n := min(benchBatch, b.N-done)
		calls := make(chan *godbus.Call, n)
		for range n {
			object.GoWithContext(b.Context(), m.Interface+"."+m.Member, 0, calls, args...)
		}
		for range n {
			assert.NilError(b, (<-calls).Err)
		}
		done += n
	}
}

func BenchmarkBusSequentialGodbus(b *testing.B) {
	godbusSequential(b, testkit.StartBus(b).Connect(b), idRequest())
}

func BenchmarkBusBatchGodbus(b *testing.B) {
	godbusBatched(b, testkit.StartBus(b).Connect(b), idRequest())
}

func BenchmarkServiceSequentialGodbus(b *testing.B) {
	bus := testkit.StartBus(b)
	godbusSequential(b, bus.Connect(b), getRequest(serveEcho(b, bus.Address)), "org.a11y.atspi.Accessible", "Name")
}

func BenchmarkServiceBatchGodbus(b *testing.B) {
	bus := testkit.StartBus(b)
	godbusBatched(b, bus.Connect(b), getRequest(serveEcho(b, bus.Address)), "org.a11y.atspi.Accessible", "Name")
}

// godbusPeer acts as a peer's client with godbus. It builds its messages itself, since godbus
// calls would have a destination.
func godbusPeer(b *testing.B) *godbus.Conn {
	b.Helper()
	l, path := listen(b)
	go func() {
		theirs, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = theirs.Close() }()
		in := bufio.NewReaderSize(theirs, 64<<10)
		if godbusWelcome(theirs, in) == nil {
			echo(theirs, in)
		}
	}()
	c, err := godbus.Dial("unix:path=" + path)
	assert.NilError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	assert.NilError(b, c.Auth([]godbus.Auth{godbus.AuthExternal(strconv.Itoa(os.Getuid()))}))
	return c
}

// godbusWelcome answers a client that asks for the mechanisms and for the passing of file
// descriptors.
func godbusWelcome(out net.Conn, in *bufio.Reader) error {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		answer := "OK 1234567890abcdef1234567890abcdef\r\n"
		switch line {
		case "BEGIN\r\n":
			return nil
		case "\x00AUTH\r\n", "AUTH\r\n":
			answer = "REJECTED EXTERNAL\r\n"
		case "NEGOTIATE_UNIX_FD\r\n":
			answer = "ERROR\r\n"
		}
		if _, err := out.Write([]byte(answer)); err != nil {
			return err
		}
	}
}

func godbusCall(ctx context.Context, c *godbus.Conn, calls chan *godbus.Call) error {
	m := getRequest("")
	message := &godbus.Message{Type: godbus.TypeMethodCall, Body: []any{"org.a11y.atspi.Accessible", "Name"}}
	message.Headers = map[godbus.HeaderField]godbus.Variant{
		godbus.FieldPath:      godbus.MakeVariant(godbus.ObjectPath(m.Path)),
		godbus.FieldInterface: godbus.MakeVariant(m.Interface),
		godbus.FieldMember:    godbus.MakeVariant(m.Member),
		godbus.FieldSignature: godbus.MakeVariant(godbus.ParseSignatureMust(m.Signature)),
	}
	if call := c.SendWithContext(ctx, message, calls); call == nil {
		return errors.New("not sent")
	}
	return nil
}

func BenchmarkPeerSequentialGodbus(b *testing.B) {
	c := godbusPeer(b)
	calls := make(chan *godbus.Call, 1)
	b.ReportAllocs()
	for b.Loop() {
		assert.NilError(b, godbusCall(b.Context(), c, calls))
		assert.NilError(b, (<-calls).Err)
	}
}

func BenchmarkPeerBatchGodbus(b *testing.B) {
	c := godbusPeer(b)
	b.ReportAllocs()
	for done := 0; done < b.N; {
		n := min(benchBatch, b.N-done)
		calls := make(chan *godbus.Call, n)
		for range n {
			assert.NilError(b, godbusCall(b.Context(), c, calls))
		}
		for range n {
			assert.NilError(b, (<-calls).Err)
		}
		done += n
	}
}

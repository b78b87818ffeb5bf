package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestHelloAndAsk(t *testing.T) {
	b := testkit.StartBus(t)
	c, err := Dial(soon(t), b.Address, Options{})
	assert.NilError(t, err)
	t.Cleanup(c.Close)
	assert.Check(t, is.Equal(c.Name(), ""), "a name before Hello: %q", c.Name())
	name, err := c.Hello(soon(t))
	assert.NilError(t, err)
	assert.Assert(t, strings.HasPrefix(name, ":"), "%q", name)
	assert.Equal(t, c.Name(), name)
	_, err = c.Hello(soon(t))
	assert.Check(t, is.ErrorContains(err, "refused Hello"), "a second Hello: %v", err)
	answer, err := c.CallBus(soon(t), "GetNameOwner", name)
	assert.NilError(t, err, "%+v", answer)
	assert.Assert(t, answer.Kind == KindReply, "%+v", answer)
	assert.Equal(t, answer.Decoder().Str(), name, "%+v", answer)
	answer, err = c.CallBus(soon(t), "GetNameOwner", "org.example.Nobody")
	assert.NilError(t, err, "%+v", answer)
	assert.Assert(t, answer.Kind == KindError, "%+v", answer)
	assert.Equal(t, answer.ErrorName, "org.freedesktop.DBus.Error.NameHasNoOwner", "%+v", answer)
}

// TestSignals: signals arrive in order, and sent messages arrive unchanged.
func TestSignals(t *testing.T) {
	b := testkit.StartBus(t)
	heard := make(chan uint32, 200)
	c, err := Dial(soon(t), b.Address, Options{OnSignal: func(m *Message) {
		if m.Member == "Counted" {
			heard <- m.Decoder().U32()
		}
	}})
	assert.NilError(t, err)
	t.Cleanup(c.Close)
	_, err = c.Hello(soon(t))
	assert.NilError(t, err)
	answer, err := c.CallBus(soon(t), "AddMatch", "interface='a.b'")
	assert.NilError(t, err, "%+v", answer)
	assert.Assert(t, answer.Kind == KindReply, "%+v", answer)
	other := connected(t, b.Address)
	for i := range 200 {
		m := numbered(i)
		m.Kind, m.Destination, m.Member = KindSignal, "", "Counted"
		assert.NilError(t, other.Send(soon(t), m))
	}
	for i := range uint32(200) {
		assert.Equal(t, <-heard, i)
	}
}

func TestPanicInASignalCostsTheConnectionOnly(t *testing.T) {
	c, bus, _ := connToScriptedBus(t, Options{OnSignal: func(*Message) { panic("a fault") }})
	waiting := start(soon(t), c)
	_, err := bus.Read(make([]byte, 1000))
	assert.NilError(t, err)
	send(t, bus, Message{Kind: KindSignal, Path: "/", Interface: "a.b", Member: "C", Sender: ":1.2"})
	<-c.Done()
	got := <-waiting
	assert.Assert(t, is.ErrorIs(got.err, ErrConnectionLost), "%+v", got)
	assert.Equal(t, got.delivery(t), aai.DeliveryUnknown, "%+v", got)
}

// invalid returns invalid messages.
func invalid() map[string]*Message {
	with := func(change func(*Message)) *Message {
		m := &Message{Kind: KindCall, Destination: BusName, Path: BusPath, Interface: BusInterface, Member: "GetId"}
		change(m)
		return m
	}
	body := func(sig, body string) *Message {
		return with(func(m *Message) { m.Signature, m.Body = sig, []byte(body) })
	}
	return map[string]*Message{
		"destination":      with(func(m *Message) { m.Destination = "nobody" }),
		"no path":          with(func(m *Message) { m.Path = "" }),
		"path":             with(func(m *Message) { m.Path = "/a//b" }),
		"interface":        with(func(m *Message) { m.Interface = "a" }),
		"member":           with(func(m *Message) { m.Member = "a.b" }),
		"no member":        with(func(m *Message) { m.Member = "" }),
		"error name":       with(func(m *Message) { m.ErrorName = "a" }),
		"sender":           with(func(m *Message) { m.Sender = "a" }),
		"signature":        body("a{vs}", ""),
		"no body":          body("s", ""),
		"body too long":    body("y", "\x01\x01"),
		"body without one": body("", "\x01"),
		"NUL in a string":  body("s", "\x03\x00\x00\x00a\x00b\x00"),
		"invalid UTF-8":    body("s", "\x01\x00\x00\x00\xff\x00"),
		"path in the body": body("o", "\x02\x00\x00\x00a/\x00"),
		"boolean":          body("b", "\x02\x00\x00\x00"),
		"variant":          body("v", "\x02ii\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		"signal's none":    with(func(m *Message) { m.Kind, m.Interface, m.Destination = KindSignal, "", "" }),
		"reply to nothing": with(func(m *Message) { m.Kind = KindReply }),
		"nameless error":   with(func(m *Message) { m.Kind, m.ReplySerial = KindError, 1 }),
	}
}

// TestWhatABusHangsUpOn: a real bus disconnects on messages that we consider invalid. We do not
// send them, and the connection survives.
func TestWhatABusHangsUpOn(t *testing.T) {
	b := testkit.StartBus(t)
	c := connected(t, b.Address)
	for name, m := range invalid() {
		t.Run(name, func(t *testing.T) {
			assert.Check(t, busHangsUp(t, b.Address, m), "the bus takes it")
			err := c.Send(soon(t), m)
			if m.Kind == KindCall {
				_, err = c.Call(soon(t), m)
			}
			assert.Assert(t, is.ErrorIs(err, ErrInvalid))
			assert.Equal(t, deliveryOf(t, err), aai.NotDelivered)
			answer, err := c.CallBus(soon(t), "GetId")
			assert.NilError(t, err, "%+v", answer)
			assert.Assert(t, answer.Kind == KindReply, "the connection afterwards: %+v %v", answer, err)
		})
	}
	assert.Check(t, !busHangsUp(t, b.Address, &Message{Kind: KindCall, Destination: BusName, Path: BusPath, Interface: BusInterface, Member: "GetId"}), "the bus hangs up on anything")
	nobodys := &Message{Path: "/", Member: "C"}
	_, err := c.Call(soon(t), nobodys)
	assert.Check(t, is.ErrorIs(err, ErrInvalid), "a call of nobody: %v", err)
	err = c.Send(soon(t), &Message{Kind: 9, Destination: ":1.2"})
	assert.Check(t, is.ErrorIs(err, ErrInvalid), "a message of no kind: %v", err)
}

// busHangsUp sends a message unchecked, and a good one after it.
func busHangsUp(t *testing.T, address string, m *Message) bool {
	t.Helper()
	c := connected(t, address)
	if _, err := c.socket.Write(m.Frame(1000)); err != nil {
		t.Fatal(err)
	}
	_, err := c.CallBus(soon(t), "GetId")
	return errors.Is(err, ErrConnectionLost)
}

func TestPeer(t *testing.T) {
	c, theirs, in := connOverSocket(t, Options{PeerToPeer: true})
	ended := start(soon(t), c)
	m := mustRead(t, in)
	assert.Check(t, is.Equal(m.Destination, ""), "%+v", m)
	assert.Check(t, is.Equal(m.Member, "C"), "%+v", m)
	send(t, theirs, Message{Kind: KindReply, ReplySerial: m.Serial + 1}, Message{Kind: KindReply, ReplySerial: m.Serial})
	got := <-ended
	assert.NilError(t, got.err, "%+v", got)
	assert.Equal(t, got.reply.ReplySerial, m.Serial, "%+v", got)
	_, err := c.Hello(soon(t))
	assert.Assert(t, is.ErrorIs(err, errPeer))
	assert.Equal(t, deliveryOf(t, err), aai.NotDelivered)
}

func TestDialEndsByItsContext(t *testing.T) {
	l, path := listen(t)
	accepted := make(chan net.Conn, 1)
	go func() {
		if theirs, err := l.Accept(); err == nil {
			accepted <- theirs
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		theirs := <-accepted
		defer func() { _ = theirs.Close() }()
		_, _ = theirs.Read(make([]byte, 1000)) // the answer is awaited now
		cancel()
		<-t.Context().Done()
	}()
	_, err := Dial(ctx, "unix:path="+path, Options{})
	assert.Check(t, is.ErrorIs(err, context.Canceled))
}

func TestWhatAnswersIsNoBus(t *testing.T) {
	for name, greeting := range map[string]string{
		"another protocol": "HTTP/1.1 400 Bad Request\r\n\r\n",
		"refusal":          "REJECTED EXTERNAL\r\n",
		"a fault":          "ERROR \"unknown command\"\r\n",
		"a challenge":      "DATA 00\r\n",
		"endless line":     strings.Repeat("x", 100<<10),
		"goodbye":          "",
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			go func() {
				_, _ = theirs.Read(make([]byte, 1000))
				_, _ = theirs.Write([]byte(greeting))
				if greeting != "" {
					more := make([]byte, 1000)
					if n, _ := theirs.Read(more); n > 0 {
						t.Errorf("it goes on with %q", more[:n])
					}
				}
				_ = theirs.Close()
			}()
			if c, err := newConn(soon(t), ours, Options{}); err == nil {
				c.Close()
				t.Error("it was taken for a bus")
			}
			assert.Check(t, ours.SetDeadline(time.Time{}) != nil, "the socket is left open")
		})
	}
}

// TestIncomingCalls: a known method gets an empty reply, another one an error.
func TestIncomingCalls(t *testing.T) {
	b := testkit.StartBus(t)
	c, err := Dial(soon(t), b.Address, Options{OnCall: func(m *Message) bool { return m.Member == "Known" }})
	assert.NilError(t, err)
	t.Cleanup(c.Close)
	name, err := c.Hello(soon(t))
	assert.NilError(t, err)
	other := connected(t, b.Address)
	for member, want := range map[string]byte{"Known": KindReply, "Other": KindError} {
		answer, err := other.Call(soon(t), &Message{Destination: name, Path: "/", Interface: "a.b", Member: member})
		assert.NilError(t, err)
		assert.Check(t, is.Equal(answer.Kind, want), "%s: an answer of kind %d, expected %d", member, answer.Kind, want)
	}
}

func TestSocketPath(t *testing.T) {
	for address, want := range map[string]string{
		"unix:path=/run/user/1000/bus":        "/run/user/1000/bus",
		"unix:guid=ab,path=/run/a%2cb%20c":    "/run/a,b c",
		"unix:abstract=/tmp/dbus-1,guid=ab":   "@/tmp/dbus-1",
		"unixexec:path=/bin/sh":               "",
		"tcp:host=localhost,port=1,path=/run": "",
		"launchd:env=X":                       "",
		"unix:dir=/tmp":                       "",
		"unix":                                "",
	} {
		got, err := socketPath(address)
		assert.Check(t, is.Equal(got, want), "%s %v", address, err)
		assert.Check(t, is.Equal((err == nil), (want != "")), "%s %v", address, err)
	}
}

func TestAddresses(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	_, err := SessionAddress(func(string) string { return "" })
	assert.Check(t, is.ErrorIs(err, errNoBus), "without anything: %v", err)
	b := testkit.StartBus(t)
	got := SocketPaths("tcp:host=localhost,port=1;unix:path=/a%20b;unix:abstract=/c,guid=00")
	assert.Check(t, slices.Equal(got, []string{"/a b", "@/c"}), "the sockets: %q", got)
	env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/a"
	if got, err := SessionAddress(getenv); err != nil || got != "unix:path=/a" {
		t.Errorf("by name: %q %v", got, err)
	}
	assert.Check(t, is.Equal(SystemAddress(getenv), "unix:path=/var/run/dbus/system_bus_socket"))
	env["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/b"
	assert.Check(t, is.Equal(SystemAddress(getenv), "unix:path=/b"))
	err = dialled(t, "tcp:host=localhost,port=1;;"+b.Address+",guid=00")
	assert.Check(t, err, "the second address: %v", err)
	for _, bad := range []string{"", ";", "autolaunch:", "unix:path=%zz", "unix:path=" + t.TempDir() + "/nobody"} {
		assert.Check(t, dialled(t, bad) != nil, "dialled %q", bad)
	}
}

// dialled opens a connection and calls Hello.
func dialled(t *testing.T, address string) error {
	t.Helper()
	c, err := Dial(soon(t), address, Options{})
	if err != nil {
		return err
	}
	t.Cleanup(c.Close)
	_, err = c.Hello(soon(t))
	return err
}

// A fileService hands out the reading ends of pipes.
type fileService struct{ ends []*os.File }

// Open returns a pipe that contains the text.
func (s *fileService) Open(text string) (godbus.UnixFD, *godbus.Error) {
	r, w, err := os.Pipe()
	if err == nil {
		_, err = w.WriteString(text)
	}
	if err != nil {
		return 0, godbus.MakeFailedError(err)
	}
	_ = w.Close()
	s.ends = append(s.ends, r) // not closed before it is sent
	return godbus.UnixFD(r.Fd()), nil
}

// TestFiles: a service of godbus passes files through a real bus.
func TestFiles(t *testing.T) {
	b := testkit.StartBus(t)
	service := b.Connect(t)
	assert.NilError(t, service.Export(&fileService{}, "/files", "org.example.Files"))
	open := func(c *Conn, text string) *Message {
		e := Encoder{}
		e.Str(text)
		m, err := c.Call(soon(t), &Message{
			Destination: service.Names()[0], Path: "/files", Interface: "org.example.Files", Member: "Open",
			Signature: "s", Body: e.Bytes(),
		})
		assert.NilError(t, err)
		return m
	}
	c, err := Dial(soon(t), b.Address, Options{ReceiveFiles: true})
	assert.NilError(t, err)
	t.Cleanup(c.Close)
	_, err = c.Hello(soon(t))
	assert.NilError(t, err)
	for _, text := range []string{"one", "two"} {
		m := open(c, text)
		f := m.TakeFile(m.Decoder().U32())
		assert.Assert(t, f != nil, "no file in %+v", m)
		got, err := io.ReadAll(f)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(string(got), text), "%q", got)
		assert.Check(t, m.TakeFile(0) == nil, "a file was taken twice")
		assert.Check(t, f.Close())
	}
}

// TestUntakenFilesAreClosed: the files of a signal without a taker do not stay open.
func TestUntakenFilesAreClosed(t *testing.T) {
	r, w, err := os.Pipe()
	assert.NilError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	m := &Message{Files: []*os.File{w}}
	m.closeFiles()
	if _, err := io.ReadAll(r); err != nil { // ends when the writing end is closed
		t.Error(err)
	}
	assert.Check(t, m.TakeFile(0) == nil, "a closed file was taken")
}

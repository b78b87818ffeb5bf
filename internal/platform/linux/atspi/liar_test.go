//go:build linux

package atspi_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit"

	"github.com/godbus/dbus/v5"
)

// An objectRef is an object reference of AT-SPI.
type objectRef struct {
	Name string
	Path dbus.ObjectPath
}

// A liar is an AT-SPI app with configurable answers. By default it answers as a window with one button.
type liar struct {
	conn *dbus.Conn
	name string
	app  desktop.App
	lie  func(l *liar, path, member string, m *dbus.Message) (answer []any, lied bool)
}

const (
	liarRoot   = "/org/a11y/atspi/accessible/root"
	liarWindow = "/org/a11y/atspi/accessible/1"
	liarButton = "/org/a11y/atspi/accessible/2"
)

// silence is the answer to send none at all.
func silence() []any { return nil }

func (w *world) liar(t *testing.T, lie func(l *liar, path, member string, m *dbus.Message) ([]any, bool)) *liar {
	t.Helper()
	conn, err := dbus.Connect(w.A11yAddress(t))
	assert.NilError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	l := &liar{conn: conn, name: conn.Names()[0], lie: lie}
	l.app = desktop.App{PID: os.Getpid(), Name: "liar", Key: l.name + liarRoot}
	go l.serve(testkit.MonitorMessages(t, conn, 100_000))
	return l
}

func (l *liar) serve(calls <-chan *dbus.Message) {
	for m := range calls {
		if m.Type != dbus.TypeMethodCall {
			continue
		}
		path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
		member, _ := m.Headers[dbus.FieldMember].Value().(string)
		if member == "Get" && len(m.Body) == 2 {
			member, _ = m.Body[1].(string)
		}
		answer, lied := l.lie(l, string(path), member, m)
		if !lied {
			answer = l.truth(string(path), member)
		} else if answer == nil {
			continue
		}
		l.conn.Send(reply(m, answer), nil)
	}
}

// servePeer answers over the liar's own socket, with names of invalid UTF-8. At the end it sends their
// number to broken.
func (l *liar) servePeer(listener net.Listener, broken chan<- int) {
	sent := 0
	defer func() { broken <- sent }()
	socket, err := listener.Accept()
	if err != nil {
		return
	}
	defer func() { _ = socket.Close() }()
	in := bufio.NewReader(socket)
	for line := ""; line != "BEGIN\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			return
		}
		if strings.Contains(line, "AUTH") {
			_, _ = socket.Write([]byte("OK 0123456789abcdef0123456789abcdef\r\n"))
		}
	}
	const serial = 8 // offset in a message
	for n := uint32(1); ; n++ {
		m, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
		member, _ := m.Headers[dbus.FieldMember].Value().(string)
		if member == "Get" {
			member, _ = m.Body[1].(string)
		}
		var out bytes.Buffer
		if err := reply(m, l.truth(string(path), member)).EncodeTo(&out, binary.LittleEndian); err != nil {
			return
		}
		text := bytes.ReplaceAll(out.Bytes(), []byte("thing"), []byte("th\xff\xfeg"))
		binary.LittleEndian.PutUint32(text[serial:], n)
		sent += bytes.Count(text, []byte{0xff, 0xfe})
		if _, err := socket.Write(text); err != nil {
			return
		}
	}
}

// reply returns the reply to a call; an empty body results in an error.
func reply(m *dbus.Message, body []any) *dbus.Message {
	answer := &dbus.Message{Type: dbus.TypeMethodReply, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(m.Serial()),
	}}
	if sender, ok := m.Headers[dbus.FieldSender]; ok {
		answer.Headers[dbus.FieldDestination] = sender
	}
	if len(body) == 0 {
		answer.Type = dbus.TypeError
		answer.Headers[dbus.FieldErrorName] = dbus.MakeVariant("org.freedesktop.DBus.Error.UnknownMethod")
		return answer
	}
	answer.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	return answer
}

// variant returns the body of a reply to Properties.Get.
func variant(v any) []any { return []any{dbus.MakeVariant(v)} }

func (l *liar) refs(paths ...string) []any {
	refs := []objectRef{}
	for _, path := range paths {
		refs = append(refs, objectRef{l.name, dbus.ObjectPath(path)})
	}
	return []any{refs}
}

// truth returns the answer of a window with a button.
func (l *liar) truth(path, member string) []any {
	children := map[string][]string{liarRoot: {liarWindow}, liarWindow: {liarButton}}[path]
	role := map[string]uint32{liarRoot: 75, liarWindow: 23}[path]
	if role == 0 {
		role = 43
	}
	switch member {
	case "ToolkitName":
		return variant("liar")
	case "Version":
		return variant("1")
	case "Name":
		return variant("thing " + path[strings.LastIndexByte(path, '/')+1:])
	case "Description", "AccessibleId":
		return variant("")
	case "ChildCount":
		return variant(int32(len(children)))
	case "GetChildren":
		return l.refs(children...)
	case "GetRole":
		return []any{role}
	case "GetState":
		return []any{[]uint32{1<<8 | 1<<24 | 1<<25 | 1<<30, 0}} // enabled, sensitive, showing, visible
	case "GetInterfaces":
		return []any{[]string{"org.a11y.atspi.Accessible", "org.a11y.atspi.Component", "org.a11y.atspi.Action"}}
	case "GetExtents":
		return []any{struct{ X, Y, W, H int32 }{10, 10, 100, 20}}
	case "NActions":
		return variant(int32(1))
	case "GetName":
		return []any{"press"}
	}
	return []any{}
}

// child returns an invented path for the n'th child of an object.
func child(path string, n int) string { return path + "/" + strconv.Itoa(n) }

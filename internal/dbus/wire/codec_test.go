package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"
)

// godbusCannot reports that godbus has no Go type for this, such as a{g…}.
func godbusCannot(err error) bool {
	_, ok := errors.AsType[godbus.InvalidTypeError](err)
	return ok
}

// TestValuesAgainstGodbus: godbus reads our values, and we read its values in both byte orders.
func TestValuesAgainstGodbus(t *testing.T) {
	compare := cmp.AllowUnexported(variantValue{})
	rapid.Check(t, func(t *rapid.T) {
		typ, err := ParseType(drawSignature(t, 3))
		assert.NilError(t, err)
		want := drawValue(t, typ, 3)
		e := Encoder{}
		encodeValue(&e, typ, want)
		frame := (&Message{Kind: KindSignal, Path: "/a", Interface: "a.b", Member: "C", Signature: typ.Sig, Body: e.Bytes()}).Frame(7)
		if diff := cmp.Diff(want, mustDecode(t, frame, typ), compare); diff != "" {
			t.Fatalf("%s (-want +got)\n%s", typ.Sig, diff)
		}
		theirs, err := godbus.DecodeMessage(bytes.NewReader(frame))
		if godbusCannot(err) {
			return
		}
		if err != nil {
			t.Fatalf("%s by godbus: %v", typ.Sig, err)
		}
		if diff := cmp.Diff(want, fromGodbus(reflect.ValueOf(theirs.Body[0])), compare); diff != "" {
			t.Fatalf("%s by godbus (-want +got)\n%s", typ.Sig, diff)
		}
		if bytes.IndexByte(frame, '(') >= 0 {
			return // godbus reads a struct as the value that it would write as an av
		}
		for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
			var again bytes.Buffer
			if err := theirs.EncodeTo(&again, order); godbusCannot(err) {
				return // nor can it write all that it reads
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, mustDecode(t, again.Bytes(), typ), compare); diff != "" {
				t.Fatalf("%s of godbus, %s (-want +got)\n%s", typ.Sig, order, diff)
			}
		}
	})
}

// mustDecode decodes a frame's body, once value by value and once by Skip.
func mustDecode(t *rapid.T, frame []byte, typ *Type) any {
	t.Helper()
	m, err := ReadMessage(bytes.NewReader(frame))
	assert.NilError(t, err)
	assert.Equal(t, m.Signature, typ.Sig, "%+v", m)
	assert.Equal(t, m.Path, "/a", "%+v", m)
	assert.Equal(t, m.Interface, "a.b", "%+v", m)
	assert.Equal(t, m.Member, "C", "%+v", m)
	assert.Assert(t, m.Kind == KindSignal, "read as %+v", m)
	d := m.Decoder()
	v := decodeValue(d, typ)
	if d.Err() != nil || d.More() {
		t.Fatalf("%s: %v, more: %v", typ.Sig, d.Err(), d.More())
	}
	s := m.Decoder()
	s.Skip(typ.Sig)
	if s.Err() != nil || s.More() {
		t.Fatalf("%s skipped: %v, more: %v", typ.Sig, s.Err(), s.More())
	}
	return v
}

func TestHeaderAgainstGodbus(t *testing.T) {
	m := Message{
		Kind: KindError, Flags: FlagNoAutoStart, ReplySerial: 1 << 31, Destination: ":1.2", Sender: ":1.3", Path: "/a/b",
		Interface: "a.b", Member: "C", ErrorName: "a.E", Signature: "y", Body: []byte{7},
	}
	frame := m.Frame(258)
	theirs, err := godbus.DecodeMessage(bytes.NewReader(frame))
	assert.NilError(t, err)
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		var again bytes.Buffer
		assert.NilError(t, theirs.EncodeTo(&again, order))
		got, err := ReadMessage(&again)
		if err != nil || again.Len() > 0 {
			t.Fatalf("%v, %d bytes left", err, again.Len())
		}
		want := m
		want.Serial, want.Order = 258, order
		assert.Check(t, is.DeepEqual(&want, got, cmp.Comparer(func(a, b binary.ByteOrder) bool { return a == b })), "%s", order)
	}
}

// One reader reads messages that have texts in common and others that have not.
func TestMessagesInARow(t *testing.T) {
	a := Message{Kind: KindSignal, Path: "/a", Interface: "a.b", Member: "C", Sender: ":1.1", Signature: "(ii)", Body: make([]byte, 8)}
	b := Message{Kind: KindSignal, Path: "/b", Interface: "a.b", Member: "D", Sender: ":1.1"}
	var stream bytes.Buffer
	messages := []Message{a, a, b, a}
	for i, m := range messages {
		stream.Write(m.Frame(uint32(i)))
	}
	r := messageReader{in: &stream}
	for i, want := range messages {
		got, err := r.read()
		assert.NilError(t, err)
		want.Serial, want.Order = uint32(i), binary.LittleEndian
		assert.Check(t, reflect.DeepEqual(*got, want), "%d %+v %+v", i, *got, want)
	}
}

func TestMessageThatIsTooLarge(t *testing.T) {
	large := Message{Kind: KindReply, ReplySerial: 5, Signature: "ay", Body: make([]byte, MaxBody+1)}
	stream := bytes.NewReader(append(large.Frame(1), (&Message{Kind: KindReply, ReplySerial: 6}).Frame(2)...))
	m, err := ReadMessage(stream)
	assert.NilError(t, err, "%+v", m)
	assert.Equal(t, m.OversizedBody, MaxBody+1, "%+v", m)
	assert.Assert(t, m.Body == nil, "%+v", m)
	assert.Assert(t, m.ReplySerial == 5, "%+v", m)
	d := m.Decoder()
	if d.Byte(); d.Err() == nil {
		t.Error("a body that was not kept can be read")
	}
	m, err = ReadMessage(stream)
	assert.NilError(t, err, "%+v", m)
	assert.Assert(t, m.ReplySerial == 6, "after it: %+v %v", m, err)
}

func TestStreamsThatAreNoMessages(t *testing.T) {
	head := func(order byte, version byte, body, fields uint32) string {
		b := []byte{order, KindReply, 0, version}
		for _, n := range []uint32{body, 1, fields} {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		return string(b)
	}
	for name, stream := range map[string]string{
		"empty":                 "",
		"half a head":           "l\x02\x00\x01",
		"byte order":            head('x', 1, 0, 0),
		"version":               head('l', 2, 0, 0),
		"too many fields":       head('l', 1, 0, maxFields+8) + strings.Repeat("\x63\x01u\x00\x01\x00\x00\x00", maxFields/8+1),
		"too large":             head('l', 1, maxMessage, 0),
		"far too large":         head('l', 1, math.MaxUint32, 0),
		"body cut off":          head('l', 1, 9, 0) + "abc",
		"large body cut off":    head('l', 1, MaxBody+1, 0) + "abc",
		"fields cut off":        head('l', 1, 0, 8) + "\x05\x01u\x00",
		"path of a wrong type":  head('l', 1, 0, 16) + "\x01\x01s\x00\x02\x00\x00\x00/a\x00\x00\x00\x00\x00\x00",
		"reply serial a string": head('l', 1, 0, 16) + "\x05\x01s\x00\x01\x00\x00\x00a\x00\x00\x00\x00\x00\x00\x00",
		"field that is broken":  head('l', 1, 0, 8) + "\x63\x02ii\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			m, err := ReadMessage(strings.NewReader(stream))
			assert.Assert(t, err != nil, "read as %+v", m)
			assert.Assert(t, m == nil, "read as %+v", m)
		})
	}
	unknown := head('l', 1, 0, 8) + "\x63\x01u\x00\x01\x00\x00\x00"
	_, err := ReadMessage(strings.NewReader(unknown))
	assert.Check(t, err, "a field that nobody knows: %v", err)
}

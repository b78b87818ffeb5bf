package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
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

func TestSkipRefuses(t *testing.T) {
	for name, c := range map[string]struct{ sig, body string }{
		"cut off":              {"u", "\x01\x00"},
		"nothing there":        {"y", ""},
		"string cut off":       {"s", "\x05\x00\x00\x00ab"},
		"string without end":   {"s", "\x01\x00\x00\x00ab"},
		"endless string":       {"s", "\xff\xff\xff\xffab\x00"},
		"NUL in a string":      {"s", "\x03\x00\x00\x00a\x00b\x00"},
		"invalid UTF-8":        {"s", "\x01\x00\x00\x00\xff\x00"},
		"path":                 {"o", "\x01\x00\x00\x00a\x00"},
		"boolean of 2":         {"b", "\x02\x00\x00\x00"},
		"booleans of 2":        {"ab", "\x04\x00\x00\x00\x02\x00\x00\x00"},
		"array too long":       {"ai", "\xff\x00\x00\x00\x01\x00\x00\x00"},
		"array within element": {"ai", "\x02\x00\x00\x00\x01\x00\x00\x00"},
		"array within string":  {"as", "\x05\x00\x00\x00\x01\x00\x00\x00a\x00"},
		"array of half":        {"a(yy)", "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x01"},
		"no type in a variant": {"v", "\x00\x00"},
		"two in a variant":     {"v", "\x02yy\x00\x01\x01"},
		"bad signature":        {"a", ""},
		"bad signature in it":  {"g", "\x01a\x00"},
		"key of a dict":        {"a{vs}", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		"bottomless variants":  {"v", strings.Repeat("\x01v\x00", 40) + "\x01y\x00\x01"},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(slices.Clip([]byte(c.body)), nil) // nothing beyond its end is accessible
			if d.Skip(c.sig); d.Err() == nil {
				t.Error("skipped")
			}
		})
	}
}

// Every read after an error returns nothing, and the first error stays.
func TestErrorsStay(t *testing.T) {
	e := Encoder{}
	e.U32(2)
	e.Str("more")
	d := NewDecoder(e.Bytes(), nil)
	d.Bool()
	first := d.Err()
	assert.Assert(t, first != nil, "a boolean of 2 was read")
	d.Fail(errors.New("another"))
	d.Array(4, func() { t.Error("an element was read") })
	d.Skip("v")
	d.Struct()
	for i, got := range []any{d.Str(), d.StringLike("x"), d.U16(), d.U32(), d.U64(), d.Byte(), d.Bool(), d.Double(), d.Bytes(), d.Variant(), d.Signature(), d.More()} {
		assert.Assert(t, reflect.ValueOf(got).IsZero(), "read %d gave %v after the error", i, got)
	}
	assert.Check(t, is.ErrorIs(d.Err(), first))
}

// An element that reads nothing would be read for ever.
func TestElementsThatReadNothing(t *testing.T) {
	d := NewDecoder([]byte("\x04\x00\x00\x00abcd"), nil)
	if d.Array(1, func() {}); d.Err() == nil {
		t.Error("no error")
	}
}

func TestDecoderEndsArraysEarly(t *testing.T) {
	e := Encoder{}
	_ = e.Array(4, func() error { e.U32(1); e.U32(2); e.U32(3); return nil })
	d, n, enough := NewDecoder(e.Bytes(), nil), 0, errors.New("enough")
	d.Array(4, func() {
		if n++; n == 2 {
			d.Fail(enough)
		}
		d.U32()
	})
	assert.Check(t, is.Equal(n, 2))
	assert.Check(t, is.ErrorIs(d.Err(), enough))
}

func TestDecoderAllocatesLittle(t *testing.T) {
	e := Encoder{}
	_ = e.Array(8, func() error {
		for range 100 {
			e.Struct()
			e.Str(":1.42")
			e.Str("/org/a11y/atspi/accessible/1")
			e.Signature("s")
			e.Str("x")
		}
		return nil
	})
	body := e.Bytes()
	name, skipped := ":1.42", 0
	d := &Decoder{}
	allocated := testing.AllocsPerRun(10, func() {
		*d = Decoder{data: body}
		d.Array(8, func() {
			d.Struct()
			name = d.StringLike(name)
			_ = d.Str() // may be on the stack
			d.Skip("v")
			skipped++
		})
	})
	if d.Err() != nil || skipped < 100 || allocated > 100 {
		t.Errorf("%v, %d elements, %v allocations", d.Err(), skipped, allocated)
	}
}

func TestEncoderRefusesHugeArrays(t *testing.T) {
	e := Encoder{}
	assert.Check(t, is.ErrorIs(e.Array(1, func() error { e.Raw(make([]byte, MaxArray+1)); return nil }), ErrArrayTooLarge))
	own := errors.New("own")
	assert.Check(t, is.ErrorIs(e.Array(1, func() error { return own }), own))
}

func TestSignatures(t *testing.T) {
	for sig, types := range map[string]int{
		"": 0, "y": 1, "a{sv}": 1, "sa{sv}as": 3, "(i(ss)a(y))": 1, "aaav": 1, "a{oa{sa{sv}}}": 1, "h": 1,
		strings.Repeat("a", MaxDepth) + "y": 1, strings.Repeat("y", MaxSignature): MaxSignature,
	} {
		got, err := ParseSignature(sig)
		whole := ""
		for _, t := range got {
			whole += t.Sig
		}
		assert.NilError(t, err)
		assert.Assert(t, is.Len(got, types))
		assert.Equal(t, whole, sig)
		_, err = ParseType(sig)
		assert.Check(t, is.Equal((err == nil), (types == 1)), "%q as one type: %v", sig, err)
	}
	for _, sig := range []string{
		"a", "z", "(", "()", "(y", "y)", "{sv}", "a{s}", "a{sv", "a{svv}", "a{(y)v}", "a{vs}", "a{asv}", "r", "e", "ä",
		strings.Repeat("a", MaxDepth+1) + "y", strings.Repeat("y", MaxSignature+1), strings.Repeat("(", 33) + "y" + strings.Repeat(")", 33),
	} {
		_, err := ParseSignature(sig)
		assert.Check(t, err != nil, "%q is a signature", sig)
	}
}

// FuzzSignature compares our check with godbus's, which accepts several types.
func FuzzSignature(f *testing.F) {
	for _, s := range []string{"", "a{sv}", "(ia{bs})", "aat", "a{", "((y)", "()", "a{vs}", "vh"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sig string) {
		types, err := ParseSignature(sig)
		if err != nil {
			return
		}
		_, err = godbus.ParseSignature(sig)
		assert.Check(t, err, "%q: godbus says %v", sig, err)
		for _, typ := range types {
			again, err := ParseType(typ.Sig)
			assert.NilError(t, err, "%q", typ.Sig)
			assert.Equal(t, again.Code, typ.Code, "%q", typ.Sig)
			assert.Assert(t, again.Align() >= 1, "%q", typ.Sig)
		}
	})
}

func FuzzGrammar(f *testing.F) {
	for _, s := range []string{"", "/", "/a", "a.b", "a-b.c", ":1.2", "a..b", "/a//b", "/a/", "1.a", "ä.b", ".a", "a.", ":a", ":."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// godbus has its own check of object paths.
		got, want := ValidPath(s), godbus.ObjectPath(s).IsValid()
		assert.Check(t, is.Equal(got, want), "path %q: %v, by godbus %v", s, got, want)
		assert.Check(t, !ValidInterface(s) || ValidBusName(s), "%q is an interface, so it is a bus name", s)
		assert.Check(t, ValidMember(s) == ValidInterface("a."+s) || strings.Contains(s, ".") || len(s) >= 250, "member %q", s)
		assert.Check(t, !ValidBusName(s) || strings.HasPrefix(s, ":") || ValidBusName(":"+s) || len(s) >= MaxName, "bus name %q", s)
	})
}

func TestBusNames(t *testing.T) {
	long := "a." + strings.Repeat("b", MaxName-2)
	for name, want := range map[string]bool{
		"org.example.App": true, "a-b.c": true, ":1.42": true, ":1.a-2": true, "_._1": true, long: true,
		long + "b": false, "": false, ":": false, "org": false, ":1": false, "1.a": false, "a.1": false, "a..b": false, "a.b.": false, "ä.b": false,
	} {
		assert.Check(t, is.Equal(ValidBusName(name), want), "%q", name)
	}
}

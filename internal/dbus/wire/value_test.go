package wire

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	"pgregory.net/rapid"
)

// Values as the tests have them: basic ones as Go's, arrays and structs as []any,
// dicts as map[any]any, and these.
type variantValue struct {
	sig   string
	value any
}

func encodeValue(e *Encoder, t *Type, v any) {
	switch v := v.(type) {
	case byte:
		e.Byte(v)
	case bool:
		e.Bool(v)
	case int16:
		e.I16(v)
	case uint16:
		e.U16(v)
	case int32:
		e.I32(v)
	case uint32:
		e.U32(v)
	case int64:
		e.I64(v)
	case uint64:
		e.U64(v)
	case float64:
		e.Double(v)
	case string:
		if t.Code == 'g' {
			e.Signature(v)
		} else {
			e.Str(v)
		}
	case variantValue:
		e.Signature(v.sig)
		inner, _ := ParseType(v.sig)
		encodeValue(e, inner, v.value)
	case map[any]any:
		_ = e.Array(8, func() error {
			for key, value := range v {
				e.Struct()
				encodeValue(e, t.Key, key)
				encodeValue(e, t.Elem, value)
			}
			return nil
		})
	case []any:
		encodeItems(e, t, v)
	}
}

func encodeItems(e *Encoder, t *Type, items []any) {
	if t.Code == StructCode {
		e.Struct()
		for i, item := range items {
			encodeValue(e, t.Fields[i], item)
		}
		return
	}
	_ = e.Array(t.Elem.Align(), func() error {
		for _, item := range items {
			encodeValue(e, t.Elem, item)
		}
		return nil
	})
}

func decodeValue(d *Decoder, t *Type) any {
	switch t.Code {
	case 'y':
		return d.Byte()
	case 'b':
		return d.Bool()
	case 'n':
		return d.I16()
	case 'q':
		return d.U16()
	case 'i':
		return d.I32()
	case 'u', 'h':
		return d.U32()
	case 'x':
		return d.I64()
	case 't':
		return d.U64()
	case 'd':
		return d.Double()
	case 'g':
		return d.Signature()
	case 'v':
		sig := d.Variant()
		if inner, err := ParseType(sig); err == nil && d.Err() == nil {
			return variantValue{sig, decodeValue(d, inner)}
		}
		return nil
	case ArrayCode:
		items := []any{}
		d.Array(t.Elem.Align(), func() { items = append(items, decodeValue(d, t.Elem)) })
		return items
	case DictCode:
		entries := map[any]any{}
		d.Array(8, func() {
			d.Struct()
			key := decodeValue(d, t.Key)
			entries[key] = decodeValue(d, t.Elem)
		})
		return entries
	case StructCode:
		d.Struct()
		items := []any{}
		for _, field := range t.Fields {
			items = append(items, decodeValue(d, field))
		}
		return items
	}
	return d.Str()
}

// fromGodbus makes of a value of godbus one of the tests'.
func fromGodbus(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case godbus.Variant:
		return variantValue{x.Signature().String(), fromGodbus(reflect.ValueOf(x.Value()))}
	case godbus.Signature:
		return x.String()
	case godbus.ObjectPath:
		return string(x)
	}
	switch v.Kind() {
	case reflect.Slice:
		items := []any{}
		for i := range v.Len() {
			items = append(items, fromGodbus(reflect.ValueOf(v.Index(i).Interface())))
		}
		return items
	case reflect.Map:
		entries := map[any]any{}
		for _, key := range v.MapKeys() {
			entries[fromGodbus(reflect.ValueOf(key.Interface()))] = fromGodbus(reflect.ValueOf(v.MapIndex(key).Interface()))
		}
		return entries
	default:
		return v.Interface()
	}
}

func drawSignature(t *rapid.T, depth int) string {
	const basic = "ybnqiuxtdsog"
	letter := func(from string) string { return string(from[rapid.IntRange(0, len(from)-1).Draw(t, "type")]) }
	if depth == 0 {
		return letter(basic)
	}
	switch kind := letter(basic + "vva({a({"); kind {
	case "a":
		return "a" + drawSignature(t, depth-1)
	case "{":
		return "a{" + letter(basic) + drawSignature(t, depth-1) + "}"
	case "(":
		fields := ""
		for range rapid.IntRange(1, 4).Draw(t, "fields") {
			fields += drawSignature(t, depth-1)
		}
		return "(" + fields + ")"
	default:
		return kind
	}
}

func drawValue(t *rapid.T, typ *Type, depth int) any {
	switch typ.Code {
	case 'v':
		inner := drawSignature(t, max(depth-1, 0))
		parsed, err := ParseType(inner)
		assert.NilError(t, err)
		return variantValue{inner, drawValue(t, parsed, depth-1)}
	case ArrayCode, StructCode:
		fields := typ.Fields
		if typ.Code == ArrayCode {
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				fields = append(fields, typ.Elem)
			}
		}
		items := []any{}
		for _, field := range fields {
			items = append(items, drawValue(t, field, depth-1))
		}
		return items
	case DictCode:
		entries := map[any]any{}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			entries[drawValue(t, typ.Key, depth-1)] = drawValue(t, typ.Elem, depth-1)
		}
		return entries
	}
	return drawBasic(t, typ.Code)
}

func drawBasic(t *rapid.T, code byte) any {
	switch code {
	case 'y':
		return rapid.Byte().Draw(t, "y")
	case 'b':
		return rapid.Bool().Draw(t, "b")
	case 'n':
		return rapid.Int16().Draw(t, "n")
	case 'q':
		return rapid.Uint16().Draw(t, "q")
	case 'i':
		return rapid.Int32().Draw(t, "i")
	case 'u':
		return rapid.Uint32().Draw(t, "u")
	case 'x':
		return rapid.Int64().Draw(t, "x")
	case 't':
		return rapid.Uint64().Draw(t, "t")
	case 'd':
		return rapid.Float64().Draw(t, "d")
	case 'o':
		return rapid.StringMatching(`/|(/[A-Za-z0-9_]+){1,4}`).Draw(t, "o")
	case 'g':
		return drawSignature(t, 2)
	case 's':
		return rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 })).Draw(t, "s")
	}
	panic(fmt.Sprintf("no values of %q", code))
}

// FuzzReadMessage: no input breaks the reader, and written messages are read back unchanged.
func FuzzReadMessage(f *testing.F) {
	e := Encoder{}
	e.Signature("as")
	_ = e.Array(4, func() error { e.Str("x"); return nil })
	f.Add((&Message{Kind: KindReply, ReplySerial: 3, Sender: ":1.1", Signature: "v", Body: e.Bytes()}).Frame(7))
	f.Add((&Message{Kind: KindSignal, Path: "/a", Interface: "a.b", Member: "C"}).Frame(8))
	f.Add([]byte("l\x02\x00\x01\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("B\x02\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x08\x05\x01u\x00\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := ReadMessage(bytes.NewReader(frame))
		if err != nil {
			return
		}
		d := m.Decoder()
		d.Skip(m.Signature)
		again, err := ReadMessage(bytes.NewReader(m.Frame(m.Serial)))
		assert.NilError(t, err)
		again.Order = m.Order // we only write little-endian
		assert.Assert(t, m.OversizedBody != 0 || again.Path == m.Path && again.Sender == m.Sender && again.Destination == m.Destination && again.Member == m.Member && again.Signature == m.Signature && again.ReplySerial == m.ReplySerial && bytes.Equal(again.Body, m.Body), "%+v became %+v", m, again)
	})
}

// FuzzDecoder: a Decoder ends on any input, and if it finds no error, neither does Skip.
func FuzzDecoder(f *testing.F) {
	f.Add("a{sv}", []byte("\x00\x00\x00\x00\x00\x00\x00\x00"), false)
	f.Add("(ysav)", []byte("\x01\x00\x00\x00\x01\x00\x00\x00x\x00\x00\x00\x00\x00\x00\x00"), false)
	f.Add("aab", []byte("\x00\x00\x00\x08\x00\x00\x00\x04\x00\x00\x00\x01"), true)
	f.Add("vg", []byte("\x01v\x00\x01y\x00\x01\x02ai\x00"), false)
	f.Fuzz(func(t *testing.T, sig string, body []byte, big bool) {
		typ, err := ParseType(sig)
		if err != nil {
			return
		}
		one, two := &Decoder{data: body, big: big}, &Decoder{data: body, big: big}
		v := decodeValue(one, typ)
		two.Skip(sig)
		if two.Err() == nil && (one.Err() != nil || one.pos != two.pos) {
			t.Fatalf("%s: skipped %d bytes, but read %d: %v", sig, two.pos, one.pos, one.Err())
		}
		if one.Err() != nil || one.pos > len(body) {
			return
		}
		if bytes.ContainsRune([]byte(sig), '{') || bytes.ContainsRune(body, '{') {
			return // dicts have an order, and may have a key twice
		}
		e := Encoder{}
		encodeValue(&e, typ, v)
		if again := NewDecoder(e.Bytes(), nil); len(e.Bytes()) != one.pos {
			t.Fatalf("%s: %d bytes became %d, %v", sig, one.pos, len(e.Bytes()), again.Err())
		}
	})
}

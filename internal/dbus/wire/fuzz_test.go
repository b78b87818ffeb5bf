package wire

import (
	"bytes"
	"testing"

	"gotest.tools/v3/assert"
)

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

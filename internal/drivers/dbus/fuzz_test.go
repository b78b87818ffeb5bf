package dbus

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Every encoded value decodes to the same value, with the driver and with godbus.
func FuzzEncode(f *testing.F) {
	f.Add("y", `255`)
	f.Add("a{sv}", `{"a": {"signature": "ay", "value": [1, 255]}, "b": [1, "x", {"c": null}]}`)
	f.Add("a(ia{bs})", `[[1.0, {"true": "x"}]]`)
	f.Add("aat", `[[], [18446744073709551615]]`)
	f.Add("v", `[[[[[[1e3]]]]]]`)
	f.Add("(do)", `["NaN", "/"]`)
	f.Fuzz(func(t *testing.T, sig, text string) {
		typ, err := wire.ParseType(sig)
		if _, theirs := godbus.ParseSignature(sig); err == nil && theirs != nil {
			t.Fatalf("%q is no signature: %v", sig, theirs)
		}
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		var v any
		if err != nil || d.Decode(&v) != nil {
			return
		}
		got, frame, err := throughTheWire(v, typ)
		if frame == nil {
			return // the value does not fit the type
		}
		assert.NilError(t, err, "%s %s", sig, text)
		theirs, err := byGodbus(frame)
		if godbusCannot(err) {
			return
		}
		diff := cmp.Diff(theirs, got)
		assert.NilError(t, err, "%s %s", sig, text)
		assert.Equal(t, diff, "", "%s %s", sig, text)
	})
}

// No message from the bus breaks the decoder, and every decoded value is JSON.
func FuzzRead(f *testing.F) {
	e := encoder{}
	_ = e.value(map[string]any{"a": []any{1, "x"}}, &wire.Type{Code: 'v', Sig: "v"}, parameter("v"))
	m := wire.Message{Kind: wire.KindReply, ReplySerial: 3, Sender: ":1.1", Signature: "v", Body: e.Bytes()}
	f.Add(m.Frame(7))
	f.Add([]byte("l\x02\x00\x01\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := wire.ReadMessage(bytes.NewReader(frame))
		if err != nil {
			return
		}
		values, err := valuesOf(m)
		if err != nil {
			return
		}
		_, err = json.Marshal(values)
		assert.NilError(t, err)
	})
}

// Encoding and decoding of values without a message.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a{sv}", []byte("\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add("(ysav)", []byte("\x01\x00\x00\x00\x01\x00\x00\x00x\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, sig string, body []byte) {
		typ, err := wire.ParseType(sig)
		if err != nil {
			return
		}
		m := wire.Message{Kind: wire.KindSignal, Path: "/a", Interface: "a.b", Member: "C", Signature: sig, Body: body}
		read, err := wire.ReadMessage(bytes.NewReader(m.Frame(1)))
		assert.NilError(t, err)
		values, err := valuesOf(read)
		if err != nil {
			return
		}
		_, err = json.Marshal(values)
		assert.NilError(t, err, sig)
		again, _, err := throughTheWire(values[0], typ)
		if err != nil || bytes.Contains([]byte(sig), []byte("v")) {
			return // a variant has the inferred type, which may differ
		}
		assert.Assert(t, is.DeepEqual(values[0], again), "%s", sig)
	})
}

package dbus

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// mustType parses a signature of the tests.
func mustType(t testing.TB, sig string) *wire.Type {
	t.Helper()
	parsed, err := wire.ParseType(sig)
	assert.NilError(t, err, "%q", sig)
	return parsed
}

// throughTheWire encodes a value, frames it, reads the frame and decodes it.
func throughTheWire(v any, t *wire.Type) (out any, frame []byte, err error) {
	e := encoder{}
	if err := e.value(v, t, parameter("v")); err != nil {
		return nil, nil, err
	}
	m := wire.Message{Kind: wire.KindSignal, Path: "/a", Interface: "a.b", Member: "C", Signature: t.Sig, Body: e.Bytes()}
	frame = m.Frame(7)
	read, err := wire.ReadMessage(bytes.NewReader(frame))
	if err != nil {
		return nil, frame, fmt.Errorf("reading: %w", err)
	}
	values, err := valuesOf(read)
	if err != nil {
		return nil, frame, fmt.Errorf("decoding: %w", err)
	}
	return values[0], frame, nil
}

// byGodbus decodes a frame with godbus, and converts the values to the driver's form.
func byGodbus(frame []byte) (any, error) {
	m, err := godbus.DecodeMessage(bytes.NewReader(frame))
	if err != nil {
		return nil, err
	}
	return plainJSON(reflect.ValueOf(m.Body[0])), nil
}

func plainJSON(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case godbus.Variant:
		return plainJSON(reflect.ValueOf(x.Value()))
	case godbus.Signature:
		return x.String()
	case []byte:
		if text := strings.TrimSuffix(string(x), "\x00"); isText(text) {
			return text
		}
		return map[string]any{"base64": base64.StdEncoding.EncodeToString(x)}
	}
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Uint64:
		return v.Uint()
	case v.CanUint():
		return int64(v.Uint())
	case v.CanInt():
		return v.Int()
	case v.CanFloat():
		return jsonDouble(v.Float())
	case v.Kind() == reflect.Slice:
		items := []any{}
		for i := range v.Len() {
			items = append(items, plainJSON(reflect.ValueOf(v.Index(i).Interface())))
		}
		return items
	}
	object := map[string]any{}
	for _, key := range v.MapKeys() {
		object[fmt.Sprint(key.Interface())] = plainJSON(reflect.ValueOf(v.MapIndex(key).Interface()))
	}
	return object
}

// godbusCannot reports that godbus has no Go type for this; see the package comment.
func godbusCannot(err error) bool {
	_, ok := errors.AsType[godbus.InvalidTypeError](err)
	return ok
}

func TestRandomValuesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ, err := wire.ParseType(drawSignature(t, 3))
		assert.NilError(t, err)
		in, want := drawValue(t, typ, 3)
		got, frame, err := throughTheWire(in, typ)
		if err != nil {
			t.Fatalf("%s: %v", typ.Sig, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got)\n%s", typ.Sig, diff)
		}
		theirs, err := byGodbus(frame)
		if godbusCannot(err) {
			return
		}
		if diff := cmp.Diff(want, theirs); err != nil || diff != "" {
			t.Fatalf("%s by godbus: %v (-want +got)\n%s", typ.Sig, err, diff)
		}
	})
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

// drawValue draws a value and its form after the round trip.
func drawValue(t *rapid.T, typ *wire.Type, depth int) (in, out any) {
	switch typ.Code {
	case 'b':
		v := rapid.Bool().Draw(t, "b")
		return v, v
	case 'd':
		v := rapid.Float64().Draw(t, "d")
		return jsonDouble(v), jsonDouble(v)
	case 's':
		v := strings.ReplaceAll(rapid.String().Draw(t, "s"), "\x00", "")
		return v, v
	case 'o':
		v := rapid.StringMatching(`/|(/[A-Za-z0-9_]+){1,4}`).Draw(t, "o")
		return v, v
	case 'g':
		v := drawSignature(t, 2)
		return v, v
	case 'v':
		inner := drawSignature(t, max(depth-1, 0))
		parsed, _ := wire.ParseType(inner)
		in, out = drawValue(t, parsed, depth-1)
		return map[string]any{"signature": inner, "value": in}, out
	case wire.ArrayCode, wire.StructCode:
		return drawItems(t, typ, depth)
	case wire.DictCode:
		ins, outs := map[string]any{}, map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			_, key := drawValue(t, typ.Key, depth-1)
			in, out := drawValue(t, typ.Elem, depth-1)
			ins[keyText(key)], outs[keyText(key)] = in, out
		}
		return ins, outs
	}
	return drawInteger(t, typ.Code)
}

func drawInteger(t *rapid.T, code byte) (in, out any) {
	low, high := integerRange(code)
	if code == 't' {
		v := rapid.Uint64().Draw(t, "t")
		return json.Number(fmt.Sprint(v)), v
	}
	v := rapid.Int64Range(low, int64(min(high, math.MaxInt64))).Draw(t, "integer")
	return json.Number(fmt.Sprint(v)), v
}

func drawItems(t *rapid.T, typ *wire.Type, depth int) (in, out any) {
	fields := typ.Fields
	if typ.Code == wire.ArrayCode && typ.Elem.Code == 'y' {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		in = map[string]any{"base64": base64.StdEncoding.EncodeToString(raw)}
		if text := strings.TrimSuffix(string(raw), "\x00"); isText(text) {
			return in, text
		}
		return in, in
	}
	if typ.Code == wire.ArrayCode {
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			fields = append(fields, typ.Elem)
		}
	}
	ins, outs := []any{}, []any{}
	for _, field := range fields {
		in, out := drawValue(t, field, depth-1)
		ins, outs = append(ins, in), append(outs, out)
	}
	return ins, outs
}

func TestSameValueMakesTheSameMessage(t *testing.T) {
	object := map[string]any{}
	for i := range 20 {
		object[fmt.Sprint(i)] = i
	}
	_, first, err := throughTheWire(object, mustType(t, "a{sv}"))
	for range 5 {
		_, again, _ := throughTheWire(object, mustType(t, "a{sv}"))
		assert.NilError(t, err)
		assert.Assert(t, bytes.Equal(first, again), "the messages differ")
	}
}

func TestInference(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	for _, c := range []struct {
		in  any
		sig string
	}{
		{"a", "s"}, {true, "b"}, {n("1"), "i"}, {1.0, "i"}, {n("-2147483649"), "x"}, {n("2147483648"), "x"},
		{n("9223372036854775808"), "t"}, {n("1.0"), "d"}, {n("1e3"), "d"}, {0.5, "d"}, {n("18446744073709551616"), "d"},
		{[]any{}, "av"}, {[]any{"a"}, "as"}, {[]any{true, false}, "ab"}, {[]any{n("1"), n("4294967296")}, "ax"},
		{[]any{n("1"), n("9223372036854775808")}, "at"}, {[]any{n("-1"), n("9223372036854775808")}, "av"}, {[]any{1, 0.5}, "ad"},
		{[]any{1, "a"}, "av"}, {[]any{[]any{}}, "av"}, {[]any{map[string]any{}}, "av"}, {map[string]any{}, "a{sv}"},
	} {
		got, err := inferType(c.in, parameter("v"))
		assert.NilError(t, err, "%v %v", c.in, got)
		assert.Equal(t, got.Sig, c.sig, "%v %v", c.in, got)
		_, _, err = throughTheWire(c.in, mustType(t, "v"))
		assert.Check(t, err, c.in)
	}
}

func TestEncodingErrorsNameThePlace(t *testing.T) {
	deep := any("x")
	for range 40 {
		deep = []any{deep}
	}
	typed := func(sig string, v any) map[string]any { return map[string]any{"signature": sig, "value": v} }
	for _, c := range []struct {
		sig  string
		in   any
		want string
	}{
		{"y", 300, "v: expected an integer from 0 to 255, got 300"},
		{"y", -1, "v: expected an integer from 0 to 255, got -1"},
		{"i", 1.5, "v: expected an integer from -2147483648 to 2147483647, got 1.5"},
		{"x", json.Number("9223372036854775808"), "v: expected an integer from -9223372036854775808 to 9223372036854775807"},
		{"t", json.Number("18446744073709551616"), "v: expected an integer from 0 to 18446744073709551615"},
		{"t", json.Number("1e999999999"), "v: expected an integer"},
		{"t", json.Number("1e-999999999"), "v: expected an integer"},
		{"t", json.Number("1.00000000000000000000001"), "v: expected an integer"},
		{"t", math.NaN(), "v: expected an integer"},
		{"i", "1", "v: expected an integer from -2147483648 to 2147483647, got a string"},
		{"b", 1, "v: expected true or false, got 1"},
		{"d", "much", `v: expected a number, "NaN", "Infinity" or "-Infinity", got a string`},
		{"s", nil, "v: expected a string, got null"},
		{"s", "a\x00b", "v: expected a string without NUL"},
		{"s", "a\xffb", "v: expected valid UTF-8"},
		{"o", "here", "v: expected a D-Bus object path"},
		{"g", "a{", "v: expected a D-Bus signature"},
		{"as", "a", "v: expected an array, got a string"},
		{"as", []any{"a", 2}, "v[1]: expected a string, got 2"},
		{"a{sy}", map[string]any{"urgency": 300}, "v.urgency: expected an integer from 0 to 255, got 300"},
		{"a{sv}", map[string]any{"urgency": typed("y", 300)}, "v.urgency: expected an integer from 0 to 255, got 300"},
		{"a{sv}", map[string]any{"u": typed("", 3)}, "v.u.signature: expected the D-Bus signature of one type"},
		{"a{sv}", map[string]any{"u": typed("ii", 3)}, "v.u.signature: expected"},
		{"a{sv}", map[string]any{"a": nil}, "v.a: expected a value with a D-Bus type, got null"},
		{"a{qs}", map[string]any{"65536": "a"}, "v.65536: expected an integer from 0 to 65535"},
		{"a{qs}", map[string]any{"x": "a"}, "v.x: expected an integer as name"},
		{"a{bs}", map[string]any{"yes": "a"}, `v.yes: expected the name "true" or "false"`},
		{"a{ds}", map[string]any{"x": "a"}, "v.x: expected a number as name"},
		{"(is)", []any{1}, "v: expected an array of 2 values, for the D-Bus struct (is), got an array of 1"},
		{"a(is)", []any{[]any{1, 2}}, "v[0][1]: expected a string, got 2"},
		{"ay", []any{1, 256}, "v[1]: expected an integer from 0 to 255, got 256"},
		{"ay", map[string]any{"base64": "?"}, "v.base64: expected base64"},
		{"ay", map[string]any{"base64": 1}, "v: expected an array of bytes"},
		{"v", deep, "nested more than 32 deep"},
		{"h", 1, "v: the app expects a file descriptor"},
		{"v", typed("a(sh)", []any{}), "v: the app expects a file descriptor"},
		{"ah", []any{0}, "v[0]: the app expects a file descriptor"},
	} {
		_, _, err := throughTheWire(c.in, mustType(t, c.sig))
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%s %v %v", c.sig, c.in, err)
		assert.Assert(t, is.Contains(e.Message, c.want), "%s %v %v", c.sig, c.in, err)
	}
}

func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "-0": 0, "0.0": 0, "0e999999999": 0, "1.0": 1, "1e3": 1000, "12.50e1": 125,
		"9007199254740993.0": 9007199254740993, "18446744073709551615.0": math.MaxUint64, "1.8446744073709551615e19": math.MaxUint64,
	} {
		n, ok := wholeOf(json.Number(text))
		assert.Assert(t, ok, "%s %v %v", text, n, ok)
		assert.Equal(t, n.bits(), want, "%s %v %v", text, n, ok)
	}
	for _, v := range []any{int8(-3), int16(-3), int32(-3), int64(-3), -3, float32(-3), -3.0, json.Number("-3.0")} {
		n, ok := wholeOf(v)
		assert.Assert(t, ok, "%T %v %v", v, n, ok)
		assert.Assert(t, int64(n.bits()) == -3, "%T %v %v", v, n, ok)
	}
	for _, v := range []any{float64(1 << 64), -float64(1 << 64), math.Inf(1), math.NaN(), 0.5} {
		n, ok := wholeOf(v)
		assert.Check(t, !ok, "%v %v", v, n)
	}
	for _, v := range []any{uint(3), uint8(3), uint16(3), uint32(3), uint64(3)} {
		n, ok := wholeOf(v)
		assert.Assert(t, ok, "%T %v %v", v, n, ok)
		assert.Assert(t, n.bits() == 3, "%T %v %v", v, n, ok)
		f, ok := doubleOf(v)
		assert.Assert(t, ok, "%T %v %v", v, f, ok)
		assert.Assert(t, f == 3, "%T %v %v", v, f, ok)
	}
}

func TestDecoderRefuses(t *testing.T) {
	for name, c := range map[string]struct{ sig, body string }{
		"cut off":             {"u", "\x01\x00"},
		"descriptor":          {"h", "\x00\x00\x00\x00"},
		"bad signature":       {"a", ""},
		"bottomless variants": {"v", strings.Repeat("\x01v\x00", 40) + "\x01y\x00\x01"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &wire.Message{Signature: c.sig, Body: []byte(c.body), Order: binary.LittleEndian}
			values, err := valuesOf(m)
			assert.Check(t, err != nil, "read as %v", values)
		})
	}
}

func TestReplyWithTooManyValues(t *testing.T) {
	e := wire.Encoder{}
	_ = e.Array(1, func() error {
		for range maxNodes {
			e.Signature("y")
			e.Byte(1)
		}
		return nil
	})
	m := &wire.Message{Signature: "av", Body: e.Bytes()}
	_, err := valuesOf(m)
	assert.Check(t, is.ErrorContains(err, "values"))
}

// An invalid call is rejected before it could end the connection.
func TestCallThatCannotBeSent(t *testing.T) {
	_, _, d := served(t)
	to := &target{bus: d.session, service: service, path: testkit.ServicePath, iface: testkit.ServiceInterface, member: "EchoString"}
	_, err := to.callPeer(soon(t), func(context.Context, *peer) (*wire.Message, *failure) {
		return &wire.Message{Interface: to.iface, Member: to.member, Signature: "s", Body: []byte("no string")}, nil
	})
	assert.Assert(t, strings.HasPrefix(refused(t, err, aai.InvalidParams), "EchoString of "+service), err)
	assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered, err)
	run(t, compile(t, d, methodRecipe("EchoString", "v")), map[string]any{"v": "a"})
}

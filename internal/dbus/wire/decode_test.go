package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
	assert.Equal(t, d.Str(), "")
	assert.Equal(t, d.StringLike("x"), "")
	assert.Assert(t, d.U16() == 0, "something was read after the error")
	assert.Assert(t, d.U32() == 0, "something was read after the error")
	assert.Assert(t, d.U64() == 0, "something was read after the error")
	assert.Assert(t, d.Byte() == 0, "something was read after the error")
	assert.Assert(t, !d.Bool(), "something was read after the error")
	assert.Assert(t, d.Double() == 0, "something was read after the error")
	assert.Assert(t, d.Bytes() == nil, "something was read after the error")
	assert.Equal(t, d.Variant(), "")
	assert.Equal(t, d.Signature(), "")
	assert.Assert(t, !d.More(), "something was read after the error")
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

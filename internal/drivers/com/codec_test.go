package com

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// parse returns a JSON text as the values that calls have.
func parse(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	assert.NilError(t, d.Decode(&value))
	return value
}

func TestEncode(t *testing.T) {
	negative := func(n int64) uint64 { return uint64(n) }
	for text, want := range map[string]Variant{
		`null`:                               {VT: VTNull},
		`true`:                               {VT: VTBool, Bits: 0xFFFF},
		`false`:                              {VT: VTBool},
		`"grüße\u0000漢😀"`:                    {VT: VTString, Text: "grüße\x00漢😀"},
		`7`:                                  {VT: VTI4, Bits: 7},
		`-2147483648`:                        {VT: VTI4, Bits: negative(math.MinInt32)},
		`2147483648`:                         {VT: VTR8, Bits: math.Float64bits(2147483648)},
		`1099511627783`:                      {VT: VTR8, Bits: math.Float64bits(1<<40 + 7)},
		`9007199254740993`:                   {VT: VTI8, Bits: 1<<53 + 1},
		`-9007199254740993`:                  {VT: VTI8, Bits: negative(-1<<53 - 1)},
		`18446744073709551615`:               {VT: VTUI8, Bits: math.MaxUint64},
		`0.1`:                                {VT: VTR8, Bits: math.Float64bits(0.1)},
		`1e3`:                                {VT: VTR8, Bits: math.Float64bits(1000)},
		`[1,"a"]`:                            {VT: VTArray | VTVariant, Items: []Variant{{VT: VTI4, Bits: 1}, {VT: VTString, Text: "a"}}, Sizes: []int{2}},
		`[]`:                                 {VT: VTArray | VTVariant, Sizes: []int{0}},
		`{"type":"omitted"}`:                 {VT: VTError, Bits: 0x80020004},
		`{"type":"empty"}`:                   {VT: VTEmpty},
		`{"type":"i8","value":5}`:            {VT: VTI8, Bits: 5},
		`{"type":"i2","value":-5.0}`:         {VT: VTI2, Bits: negative(-5)},
		`{"type":"ui1","value":2e2}`:         {VT: VTUI1, Bits: 200},
		`{"type":"r4","value":0.1}`:          {VT: VTR4, Bits: uint64(math.Float32bits(0.1))},
		`{"type":"r8","value":"NaN"}`:        {VT: VTR8, Bits: math.Float64bits(math.NaN())},
		`{"type":"currency","value":-12.34}`: {VT: VTCurrency, Bits: negative(-123400)},
		`{"type":"decimal","value":-1.50}`:   {VT: VTDecimal, Bits: 150, High: 2<<32 | 1<<40},
		`{"type":"decimal","value":79228162514264337593543950335}`: {VT: VTDecimal, Bits: math.MaxUint64, High: math.MaxUint32},
		`{"type":"date","value":"1900-01-01"}`:                     {VT: VTDate, Bits: math.Float64bits(2)},
		`{"type":"date","value":"1899-12-29T06:00:00"}`:            {VT: VTDate, Bits: math.Float64bits(-1.25)},
		`{"type":"error","value":2147942405}`:                      {VT: VTError, Bits: 0x80070005},
		`{"base64":"AAH/"}`:                                        {VT: VTArray | VTUI1, Bytes: []byte{0, 1, 255}, Sizes: []int{3}},
		`{"type":"ui1[]","value":[1,2]}`:                           {VT: VTArray | VTUI1, Bytes: []byte{1, 2}, Sizes: []int{2}},
		`{"type":"i2[][]","value":[[1,2],[3,4],[5,6]]}`: {VT: VTArray | VTI2, Sizes: []int{3, 2},
			Items: []Variant{{VT: VTI2, Bits: 1}, {VT: VTI2, Bits: 2}, {VT: VTI2, Bits: 3}, {VT: VTI2, Bits: 4}, {VT: VTI2, Bits: 5}, {VT: VTI2, Bits: 6}}},
		`{"type":"variant","value":null}`: {VT: VTNull},
	} {
		got, err := Encode(parse(t, text), "x")
		assert.Check(t, err, text)
		assert.DeepEqual(t, got, want)
	}
}

func TestEncodeRejects(t *testing.T) {
	for text, want := range map[string]string{
		`18446744073709551617`:                            "x: expected a whole number of at most 64 bits",
		`1e999`:                                           "x: expected a number that a float can hold, got 1e999",
		`{"a":1}`:                                         "x: expected a value without members",
		`{"type":"i4","value":1,"more":2}`:                "x: expected a value without members",
		`{"type":"date"}`:                                 "x.value: expected a date",
		`{"type":"bogus","value":1}`:                      "x: expected a value without members",
		`{"type":"i2","value":32768}`:                     "x.value: expected a whole number of 16 bits, got 32768",
		`{"type":"ui1","value":-1}`:                       "x.value: expected a whole number of 8 bits, got -1",
		`{"type":"i4","value":1.5}`:                       "x.value: expected a whole number of 32 bits, got 1.5",
		`{"type":"i4","value":1e999999999}`:               "x.value: expected a number, got 1e999999999",
		`{"type":"i4","value":"secret"}`:                  "x.value: expected a number, got a string",
		`{"type":"bool","value":1}`:                       "x.value: expected true or false, got 1",
		`{"type":"string","value":1}`:                     "x.value: expected a text, got 1",
		`{"type":"currency","value":0.00001}`:             "x.value: expected an amount with at most four places",
		`{"type":"currency","value":1e15}`:                "x.value: expected an amount with at most four places",
		`{"type":"decimal","value":1e29}`:                 "x.value: expected a decimal of at most 96 bits",
		`{"type":"decimal","value":1e-29}`:                "x.value: expected a decimal of at most 96 bits",
		`{"type":"date","value":"2026-01-31T00:00Z"}`:     "x.value: expected a date such as",
		`{"base64":"?"}`:                                  "x.base64: expected bytes in base64",
		`{"type":"i2[][]","value":[[1],[2,3]]}`:           "x.value[1]: expected a list of 1, as the others in it, got 2",
		`{"type":"i2[][]","value":[[1],2]}`:               "x.value[1]: expected a list, got 2",
		`{"type":"i2[]","value":1}`:                       "x.value: expected a list, got 1",
		`[{"type":"i2","value":99999}]`:                   "x[0].value: expected a whole number of 16 bits",
		strings.Repeat("[", 17) + strings.Repeat("]", 17): "expected at most 16 lists within lists",
	} {
		_, err := Encode(parse(t, text), "x")
		assert.ErrorContains(t, err, want)
		assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams)
	}
}

func TestDecode(t *testing.T) {
	for i, c := range []struct {
		v    Variant
		want string
	}{
		{Variant{VT: VTEmpty}, `null`},
		{Variant{VT: VTUI8, Bits: math.MaxUint64}, `18446744073709551615`},
		{Variant{VT: VTI8, Bits: 1<<53 + 1}, `9007199254740993`},
		{Variant{VT: VTI2, Bits: math.MaxUint64}, `-1`},
		{Variant{VT: VTR4, Bits: uint64(math.Float32bits(0.1))}, `0.1`},
		{Variant{VT: VTR8, Bits: math.Float64bits(math.Inf(-1))}, `"-Infinity"`},
		{Variant{VT: VTCurrency, Bits: 5}, `0.0005`},
		{Variant{VT: VTCurrency, Bits: 1 << 63}, `-922337203685477.5808`},
		{Variant{VT: VTDecimal, Bits: 15, High: 28<<32 | 1<<40}, `-0.0000000000000000000000000015`},
		{Variant{VT: VTDate, Bits: math.Float64bits(46053.5)}, `"2026-01-31T12:00:00"`},
		{Variant{VT: VTDate, Bits: math.Float64bits(-1.25)}, `"1899-12-29T06:00:00"`},
		{Variant{VT: VTError, Bits: 0x80070005}, `{"type":"error","value":2147942405}`},
		{Variant{VT: VTDispatch, Text: "IFolder"}, `{"object":"IFolder"}`},
		{Variant{VT: VTDispatch}, `null`},
		{Variant{VT: VTArray | VTUI1, Bytes: []byte{255}, Sizes: []int{1}}, `{"base64":"/w=="}`},
		{Variant{VT: VTArray | VTString, Sizes: []int{1, 2}, Items: []Variant{{VT: VTString, Text: "a"}, {VT: VTString, Text: "b"}}}, `[["a","b"]]`},
		{Variant{VT: VTArray | VTVariant, Names: []string{"n"}, Items: []Variant{{VT: VTBool, Bits: 0xFFFF}}}, `{"n":true}`},
	} {
		got, err := Decode(c.v)
		assert.NilError(t, err, i)
		text, err := json.Marshal(got)
		assert.NilError(t, err)
		assert.Equal(t, string(text), c.want)
	}
	for _, v := range []Variant{{VT: 36}, {VT: VTDate, Bits: math.Float64bits(math.NaN())}, {VT: VTArray | VTI2, Sizes: []int{5}}} {
		_, err := Decode(v)
		assert.Check(t, err != nil, fmt.Sprint(v))
	}
}

// TestRoundTrips checks that a value which a server sends comes back exactly, as JSON with its type.
func TestRoundTrips(t *testing.T) {
	back := func(t *rapid.T, name string, v Variant) {
		value, err := Decode(v)
		assert.NilError(t, err)
		again, err := Encode(map[string]any{"type": name, "value": value}, "x")
		assert.NilError(t, err)
		assert.DeepEqual(t, again, v)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		back(t, "i8", Variant{VT: VTI8, Bits: uint64(n)})
		back(t, "currency", Variant{VT: VTCurrency, Bits: uint64(n)})
		back(t, "i4", Variant{VT: VTI4, Bits: uint64(int64(int32(n)))})
		back(t, "ui8", Variant{VT: VTUI8, Bits: uint64(n)})
		back(t, "r8", Variant{VT: VTR8, Bits: math.Float64bits(rapid.Float64().Draw(t, "f"))})
		back(t, "r4", Variant{VT: VTR4, Bits: uint64(math.Float32bits(rapid.Float32().Draw(t, "g")))})
		back(t, "string", Variant{VT: VTString, Text: rapid.String().Draw(t, "s")})
		high := uint64(rapid.Uint32().Draw(t, "high")) | uint64(rapid.IntRange(0, 28).Draw(t, "scale"))<<32
		back(t, "decimal", Variant{VT: VTDecimal, Bits: uint64(n) | 1, High: high | uint64(rapid.IntRange(0, 1).Draw(t, "sign"))<<40})
	})
	rapid.Check(t, func(t *rapid.T) {
		millis := rapid.Int64Range(time.Date(100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMilli())
		text := time.UnixMilli(millis.Draw(t, "when")).UTC().Format("2006-01-02T15:04:05.999")
		v, err := Encode(map[string]any{"type": "date", "value": text}, "x")
		assert.NilError(t, err)
		got, err := Decode(v)
		assert.NilError(t, err)
		assert.Equal(t, got, text)
	})
}

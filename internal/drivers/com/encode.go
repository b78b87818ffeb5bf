package com

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Limits on an argument.
const (
	maxItems     = 1 << 20 // of all arrays in it
	maxDepth     = 16      // nested arrays
	maxDimension = 8
)

// dateLayouts are the forms of a date. COM's dates have no time zone.
func dateLayouts() []string {
	return []string{"2006-01-02T15:04:05.999", "2006-01-02 15:04:05.999", "2006-01-02"}
}

// Encode returns the VARIANT for a JSON value: nil, bool, string, []any, map[string]any, and numbers as json.Number or any Go
// number. at is the value's place in messages. The error is an *aai.Error.
//
// A whole number becomes VT_I4 if it fits, else VT_R8 if that is exact, else VT_I8 or VT_UI8. A list becomes an array of VARIANTs.
// Objects give other types: {"type": "date", "value": "2026-01-31"}, {"type": "i2[]", "value": [1, 2]}, {"base64": "…"}.
func Encode(value any, at string) (Variant, error) {
	e := encoder{items: maxItems}
	return e.value(value, at, 0)
}

// An encoder counts the items of a value.
type encoder struct{ items int }

func (e *encoder) value(value any, at string, depth int) (Variant, error) {
	switch value := value.(type) {
	case nil:
		return Variant{VT: VTNull}, nil
	case bool:
		return boolean(value), nil
	case string:
		return Variant{VT: VTString, Text: value}, nil
	case []any:
		return e.array(VTVariant, 1, value, at, depth)
	case map[string]any:
		return e.typed(value, at, depth)
	}
	text, ok := numberText(value)
	if !ok {
		return Variant{}, mismatch(at, "a JSON value", value)
	}
	return untypedNumber(text, at, value)
}

func boolean(b bool) Variant {
	v := Variant{VT: VTBool}
	if b {
		v.Bits = 0xFFFF
	}
	return v
}

// numberText returns a number as JSON, and whether value is a number.
func numberText(value any) (string, bool) {
	switch value := value.(type) {
	case json.Number:
		return string(value), true
	case float32, float64:
		text, err := json.Marshal(value)
		return string(text), err == nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(value), true
	}
	return "", false
}

// untypedNumber returns a number in the type that the most servers understand.
func untypedNumber(text, at string, given any) (Variant, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Variant{}, mismatch(at, "a number that a float can hold", given)
	}
	double := Variant{VT: VTR8, Bits: math.Float64bits(f)}
	if strings.ContainsAny(text, ".eE") {
		return double, nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	switch exact := new(big.Float).SetInt(orZero(n)); {
	case !ok:
		return Variant{}, mismatch(at, "a number", given)
	case n.IsInt64() && n.Int64() == int64(int32(n.Int64())):
		return Variant{VT: VTI4, Bits: uint64(n.Int64())}, nil
	case exact.Cmp(big.NewFloat(f)) == 0:
		return double, nil
	case n.IsInt64():
		return Variant{VT: VTI8, Bits: uint64(n.Int64())}, nil
	case n.IsUint64():
		return Variant{VT: VTUI8, Bits: n.Uint64()}, nil
	}
	return Variant{}, mismatch(at, `a whole number of at most 64 bits, or {"type": "decimal", "value": …}`, given)
}

func orZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// typed reads {"type": …, "value": …} and {"base64": …}.
func (e *encoder) typed(object map[string]any, at string, depth int) (Variant, error) {
	if text, ok := object["base64"].(string); ok && len(object) == 1 {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return Variant{}, aai.Errorf(aai.InvalidParams, "%s.base64: expected bytes in base64", at)
		}
		return Variant{VT: VTArray | VTUI1, Bytes: b, Sizes: []int{len(b)}}, nil
	}
	name, _ := object["type"].(string)
	value, given := object["value"]
	item, dimensions := name, 0
	for strings.HasSuffix(item, "[]") {
		item, dimensions = strings.TrimSuffix(item, "[]"), dimensions+1
	}
	if name == "omitted" && len(object) == 1 {
		return Omitted(), nil
	}
	t, known := typeNames()[item]
	switch {
	case !known || dimensions > maxDimension || len(object) > 2 || len(object) == 2 && !given:
		return Variant{}, aai.Errorf(aai.InvalidParams, `%s: expected a value without members, {"base64": …}, or {"type": …, "value": …} with one of the types %s`,
			at, strings.Join(slices.Sorted(maps.Keys(typeNames())), ", "))
	case dimensions > 0:
		list, ok := value.([]any)
		if !ok {
			return Variant{}, mismatch(at+".value", "a list", value)
		}
		return e.array(t, dimensions, list, at+".value", depth)
	case t == VTVariant:
		return e.value(value, at+".value", depth)
	}
	return scalar(t, value, at+".value")
}

// scalar returns a value of the type.
func scalar(t VT, value any, at string) (Variant, error) {
	switch text, isText := value.(string); {
	case t == VTEmpty || t == VTNull:
		return Variant{VT: t}, nil
	case t == VTBool:
		if b, ok := value.(bool); ok {
			return boolean(b), nil
		}
		return Variant{}, mismatch(at, "true or false", value)
	case t == VTString && isText:
		return Variant{VT: VTString, Text: text}, nil
	case t == VTDate && isText:
		return date(text, at)
	case isText && (t == VTR4 || t == VTR8):
		f, ok := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[text]
		if ok {
			return float(t, f), nil
		}
	}
	text, ok := numberText(value)
	if size, _ := bitsOf(t); !ok || size == 0 && t != VTR4 && t != VTR8 && t != VTCurrency && t != VTDecimal {
		return Variant{}, mismatch(at, expectation(t), value)
	}
	return number(t, text, at, value)
}

func expectation(t VT) string {
	switch t {
	case VTString:
		return "a text"
	case VTDate:
		return `a date such as "2026-01-31" or "2026-01-31T15:04:05", without a time zone`
	}
	return "a number"
}

// number returns a number of the type, or an error if it does not fit exactly. Floats are rounded.
func number(t VT, text, at string, given any) (Variant, error) {
	if t == VTR4 || t == VTR8 {
		size := 64
		if t == VTR4 {
			size = 32
		}
		f, err := strconv.ParseFloat(text, size)
		if err != nil {
			return Variant{}, mismatch(at, "a number that a float can hold", given)
		}
		return float(t, f), nil
	}
	d, ok := decimalOf(text)
	if !ok {
		return Variant{}, mismatch(at, expectation(t), given)
	}
	switch t {
	case VTDecimal:
		for d.scale > 28 {
			n, whole := d.rescaled(d.scale - 1)
			if !whole {
				break
			}
			d = decimal{n, d.scale - 1}
		}
		if d.scale > 28 || d.coefficient.BitLen() > 96 {
			return Variant{}, mismatch(at, "a decimal of at most 96 bits and 28 places", given)
		}
		return decimalVariant(d), nil
	case VTCurrency:
		n, whole := d.rescaled(4)
		if !whole || !n.IsInt64() {
			return Variant{}, mismatch(at, "an amount with at most four places", given)
		}
		return Variant{VT: t, Bits: uint64(n.Int64())}, nil
	}
	size, signed := bitsOf(t)
	n, whole := d.rescaled(0)
	if !whole || !fits(n, size, signed) {
		return Variant{}, mismatch(at, fmt.Sprintf("a whole number of %d bits", size), given)
	}
	if n.Sign() < 0 {
		return Variant{VT: t, Bits: uint64(n.Int64())}, nil
	}
	return Variant{VT: t, Bits: n.Uint64()}, nil
}

func fits(n *big.Int, size uint, signed bool) bool {
	if !signed {
		return n.Sign() >= 0 && n.BitLen() <= int(size)
	}
	limit := new(big.Int).Lsh(big.NewInt(1), size-1)
	return n.Cmp(limit) < 0 && n.Cmp(new(big.Int).Neg(limit)) >= 0
}

func float(t VT, f float64) Variant {
	if t == VTR4 {
		return Variant{VT: t, Bits: uint64(math.Float32bits(float32(f)))}
	}
	return Variant{VT: t, Bits: math.Float64bits(f)}
}

func decimalVariant(d decimal) Variant {
	n := new(big.Int).Abs(d.coefficient)
	v := Variant{VT: VTDecimal, Bits: new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
	v.High = new(big.Int).Rsh(n, 64).Uint64() | uint64(d.scale)<<32
	if d.coefficient.Sign() < 0 {
		v.High |= 1 << 40
	}
	return v
}

// dateEpoch is the date that has the number 0.
func dateEpoch() time.Time { return time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC) }

const dayMillis = 24 * 60 * 60 * 1000

// date returns a date. The number has the days since the epoch before its point; the time of the day is positive after it, also
// for days before the epoch.
func date(text, at string) (Variant, error) {
	for _, layout := range dateLayouts() {
		when, err := time.Parse(layout, text)
		if err != nil || when.Year() < 100 {
			continue
		}
		millis := when.Sub(time.Date(when.Year(), when.Month(), when.Day(), 0, 0, 0, 0, time.UTC)).Milliseconds()
		days := (when.UnixMilli() - millis - dateEpoch().UnixMilli()) / dayMillis
		f := float64(millis) / dayMillis
		if days < 0 {
			f = -f
		}
		return Variant{VT: VTDate, Bits: math.Float64bits(float64(days) + f)}, nil
	}
	return Variant{}, mismatch(at, expectation(VTDate), text)
}

// array returns an array with dimensions that nested lists give.
func (e *encoder) array(t VT, dimensions int, list []any, at string, depth int) (Variant, error) {
	v := Variant{VT: VTArray | t, Sizes: make([]int, dimensions)}
	if depth >= maxDepth {
		return v, aai.Errorf(aai.InvalidParams, "%s: expected at most %d lists within lists", at, maxDepth)
	}
	for i, inner := 0, list; i < dimensions; i++ {
		v.Sizes[i] = len(inner)
		if len(inner) > 0 && i+1 < dimensions {
			inner, _ = inner[0].([]any)
		}
	}
	var fill func(list []any, dimension int, at string) error
	fill = func(list []any, dimension int, at string) error {
		if len(list) != v.Sizes[dimension] {
			return aai.Errorf(aai.InvalidParams, "%s: expected a list of %d, as the others in it, got %d", at, v.Sizes[dimension], len(list))
		}
		for i, item := range list {
			place := at + "[" + strconv.Itoa(i) + "]"
			if dimension+1 < dimensions {
				inner, ok := item.([]any)
				if !ok {
					return mismatch(place, "a list", item)
				}
				if err := fill(inner, dimension+1, place); err != nil {
					return err
				}
				continue
			}
			if e.items--; e.items < 0 {
				return aai.Errorf(aai.InvalidParams, "%s: expected at most %d items", at, maxItems)
			}
			one, err := e.item(t, item, place, depth)
			if err != nil {
				return err
			}
			v.Items = append(v.Items, one)
		}
		return nil
	}
	if err := fill(list, 0, at); err != nil {
		return v, err
	}
	if t == VTUI1 && dimensions == 1 {
		for _, item := range v.Items {
			v.Bytes = append(v.Bytes, byte(item.Bits))
		}
		v.Items = nil
	}
	return v, nil
}

func (e *encoder) item(t VT, value any, at string, depth int) (Variant, error) {
	if t == VTVariant {
		return e.value(value, at, depth+1)
	}
	return scalar(t, value, at)
}

// mismatch reports the expected and the actual value. It shows numbers, but never the text of a string, which may be a secret.
func mismatch(at, expected string, got any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, "%s: expected %s, got %s", aai.CleanLabel(at, 200), expected, describe(got))
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case map[string]any:
		return "an object"
	}
	return aai.CleanLabel(fmt.Sprint(v), 40)
}

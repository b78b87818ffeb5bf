package dbus

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// JSON values in arguments: nil, bool, string, []any, map[string]any, and numbers as json.Number,
// float64 or any Go integer.

// argumentPath is the place of a value in the arguments. It becomes a string only for errors.
type argumentPath struct {
	parent *argumentPath
	name   string
	number int // index in an array, or -1
	depth  int
}

// parameter returns the path of an entire parameter.
func parameter(name string) *argumentPath { return &argumentPath{name: name, number: -1} }

func (p *argumentPath) within(name string) *argumentPath {
	return &argumentPath{parent: p, name: name, number: -1, depth: p.depth + 1}
}

func (p *argumentPath) index(i int) *argumentPath {
	return &argumentPath{parent: p, number: i, depth: p.depth + 1}
}

// String formats the place as in "hints.urgency" or "points[3]".
func (p *argumentPath) String() string {
	if p.parent == nil {
		return aai.CleanLabel(p.name, 60)
	}
	switch {
	case p.number >= 0:
		return p.parent.String() + "[" + strconv.Itoa(p.number) + "]"
	case p.name == "": // the inside of a variant has no name
		return p.parent.String()
	}
	return p.parent.String() + "." + aai.CleanLabel(p.name, 60)
}

// mismatch reports the expected and the actual value. It shows numbers, but never the text of a
// string, which may be a secret.
func mismatch(at *argumentPath, expected string, got any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, "%s: expected %s, got %s", at, expected, describe(got))
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return "a string"
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case map[string]any:
		return "an object"
	case json.Number:
		return aai.CleanLabel(string(v), 40)
	}
	return aai.CleanLabel(fmt.Sprint(v), 40)
}

// wholeNumber is an integer of any sign up to 64 bits.
type wholeNumber struct {
	negative  bool
	magnitude uint64
}

func wholeFromInt(n int64) wholeNumber {
	if n < 0 {
		return wholeNumber{true, -uint64(n)}
	}
	return wholeNumber{false, uint64(n)}
}

func (n wholeNumber) isWithin(low int64, high uint64) bool {
	if n.negative {
		return low < 0 && n.magnitude <= -uint64(low)
	}
	return n.magnitude <= high
}

// bits returns the two's complement.
func (n wholeNumber) bits() uint64 {
	if n.negative {
		return -n.magnitude
	}
	return n.magnitude
}

// wholeOf reads an integer; 1.0 is one. ok is false for any other value.
func wholeOf(v any) (n wholeNumber, ok bool) {
	switch v := v.(type) {
	case json.Number:
		return wholeOfText(string(v))
	case float64:
		return wholeOfFloat(v)
	case float32:
		return wholeOfFloat(float64(v))
	case int:
		return wholeFromInt(int64(v)), true
	case int8:
		return wholeFromInt(int64(v)), true
	case int16:
		return wholeFromInt(int64(v)), true
	case int32:
		return wholeFromInt(int64(v)), true
	case int64:
		return wholeFromInt(v), true
	case uint:
		return wholeNumber{magnitude: uint64(v)}, true
	case uint8:
		return wholeNumber{magnitude: uint64(v)}, true
	case uint16:
		return wholeNumber{magnitude: uint64(v)}, true
	case uint32:
		return wholeNumber{magnitude: uint64(v)}, true
	case uint64:
		return wholeNumber{magnitude: v}, true
	}
	return wholeNumber{}, false
}

func wholeOfFloat(f float64) (wholeNumber, bool) {
	if f != math.Trunc(f) || math.Abs(f) >= 1<<64 { // NaN and infinities too
		return wholeNumber{}, false
	}
	return wholeNumber{f < 0, uint64(math.Abs(f))}, true
}

// wholeOfText reads a JSON number exactly, without the rounding of float64.
func wholeOfText(s string) (wholeNumber, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return wholeFromInt(n), true
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return wholeNumber{magnitude: n}, true
	}
	// The number has a fraction or an exponent. The cost of exact arithmetic grows with the
	// exponent, so the exponent must fit a float64.
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || len(s) > 64 {
		return wholeNumber{}, false
	}
	if f == 0 {
		mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
		return wholeNumber{}, !strings.ContainsAny(mantissa, "123456789")
	}
	exact, ok := new(big.Rat).SetString(s)
	if !ok || !exact.IsInt() || !new(big.Int).Abs(exact.Num()).IsUint64() {
		return wholeNumber{}, false
	}
	return wholeNumber{exact.Sign() < 0, new(big.Int).Abs(exact.Num()).Uint64()}, true
}

// doubleOf reads any number, and NaN and the infinities as strings.
func doubleOf(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		return f, err == nil
	case string:
		switch v {
		case "NaN":
			return math.NaN(), true
		case "Infinity":
			return math.Inf(1), true
		case "-Infinity":
			return math.Inf(-1), true
		}
		return 0, false
	}
	n, ok := wholeOf(v)
	if n.negative {
		return -float64(n.magnitude), ok
	}
	return float64(n.magnitude), ok
}

// inferType returns a type for a value if the app declares none: s, b, i (x, t if it does not
// fit), d, arrays of one of these or of variants, and a{sv}.
func inferType(v any, at *argumentPath) (*wire.Type, error) {
	switch v := v.(type) {
	case string:
		return &wire.Type{Code: 's', Sig: "s"}, nil
	case bool:
		return &wire.Type{Code: 'b', Sig: "b"}, nil
	case map[string]any:
		return wire.ParseType("a{sv}")
	case []any:
		return wire.ParseType("a" + inferElement(v))
	}
	if code := inferNumber(v); code != 0 {
		return &wire.Type{Code: code, Sig: string(rune(code))}, nil
	}
	return nil, mismatch(at, "a value with a D-Bus type", v)
}

// inferNumber returns 0 if v is not a number. A json.Number written with a fraction or an exponent
// is a double, even 1.0.
func inferNumber(v any) byte {
	if text, ok := v.(json.Number); ok && strings.ContainsAny(string(text), ".eE") {
		return 'd'
	}
	if n, ok := wholeOf(v); ok {
		switch {
		case n.isWithin(math.MinInt32, math.MaxInt32):
			return 'i'
		case n.isWithin(math.MinInt64, math.MaxInt64):
			return 'x'
		}
		if !n.negative {
			return 't'
		}
	}
	if _, isText := v.(string); isText {
		return 0
	}
	if _, ok := doubleOf(v); ok {
		return 'd'
	}
	return 0
}

// inferElement returns the common type of all items, or "v".
func inferElement(items []any) string {
	common := byte(0)
	negative := false
	for _, item := range items {
		code := byte('v')
		switch item.(type) {
		case string:
			code = 's'
		case bool:
			code = 'b'
		default:
			if number := inferNumber(item); number != 0 {
				code = number
			}
		}
		n, _ := wholeOf(item)
		negative = negative || n.negative
		common = commonType(common, code)
	}
	if common == 0 || common == 't' && negative {
		return "v"
	}
	return string(rune(common))
}

// commonType returns the narrowest type for values of both types. Numbers widen from i to x to t
// to d; other combinations become variants.
func commonType(a, b byte) byte {
	const widening = "ixtd"
	if a == 0 || a == b {
		return b
	}
	i, j := strings.IndexByte(widening, a), strings.IndexByte(widening, b)
	if i < 0 || j < 0 {
		return 'v'
	}
	return widening[max(i, j)]
}

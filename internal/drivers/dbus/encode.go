package dbus

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// encoder writes JSON values in the wire format.
type encoder struct{ wire.Encoder }

// array writes an array. f writes its elements.
func (e *encoder) array(elemAlign int, at *argumentPath, f func() error) error {
	err := e.Array(elemAlign, f)
	if errors.Is(err, wire.ErrArrayTooLarge) {
		return aai.Errorf(aai.InvalidParams, "%s: expected at most %d MiB", at, wire.MaxArray>>20)
	}
	return err
}

// hasDescriptor reports whether the type contains file descriptors. Those within variants show
// only in values.
func hasDescriptor(t *wire.Type) bool { return strings.Contains(t.Sig, "h") }

// value writes a JSON value as the type. Its error is an *aai.Error with code INVALID_PARAMS that
// names the place, or AUTOMATION_NOT_SUPPORTED for a file descriptor.
func (e *encoder) value(v any, t *wire.Type, at *argumentPath) error {
	if at.depth > wire.MaxDepth {
		return aai.Errorf(aai.InvalidParams, "%s: nested more than %d deep", at, wire.MaxDepth)
	}
	switch t.Code {
	case 'b':
		return e.boolean(v, at)
	case 'y', 'n', 'q', 'i', 'u', 'x', 't':
		return e.integer(v, t.Code, at)
	case 'd':
		f, ok := doubleOf(v)
		if !ok {
			return mismatch(at, `a number, "NaN", "Infinity" or "-Infinity"`, v)
		}
		e.Double(f)
		return nil
	case 's', 'o', 'g':
		return e.text(v, t.Code, at)
	case 'v':
		return e.variant(v, at)
	case wire.ArrayCode:
		return e.list(v, t, at)
	case wire.DictCode:
		return e.dict(v, t, at)
	case wire.StructCode:
		return e.structure(v, t, at)
	}
	return noDescriptors(at.String())
}

func noDescriptors(where string) *aai.Error {
	err := aai.Errorf(aai.AutomationNotSupported,
		"%s: the app expects a file descriptor (D-Bus type h), which this gateway does not support", where)
	err.Hint = "Use another tool of the app, if it has one that takes a path or the content."
	return err
}

func (e *encoder) boolean(v any, at *argumentPath) error {
	b, ok := v.(bool)
	if !ok {
		return mismatch(at, "true or false", v)
	}
	e.Bool(b)
	return nil
}

// integer writes two's complement in the width of the code.
func (e *encoder) integer(v any, code byte, at *argumentPath) error {
	n, ok := wholeOf(v)
	low, high := integerRange(code)
	if !ok || !n.isWithin(low, high) {
		return mismatch(at, fmt.Sprintf("an integer from %d to %d", low, high), v)
	}
	bits := n.bits()
	switch code {
	case 'y':
		e.Byte(byte(bits))
	case 'n', 'q':
		e.U16(uint16(bits))
	case 'i', 'u':
		e.U32(uint32(bits))
	default:
		e.U64(bits)
	}
	return nil
}

func integerRange(code byte) (low int64, high uint64) {
	switch code {
	case 'y':
		return 0, math.MaxUint8
	case 'n':
		return math.MinInt16, math.MaxInt16
	case 'q':
		return 0, math.MaxUint16
	case 'i':
		return math.MinInt32, math.MaxInt32
	case 'u':
		return 0, math.MaxUint32
	case 'x':
		return math.MinInt64, math.MaxInt64
	}
	return 0, math.MaxUint64
}

func (e *encoder) text(v any, code byte, at *argumentPath) error {
	s, ok := v.(string)
	switch {
	case !ok:
		return mismatch(at, "a string", v)
	case !utf8.ValidString(s):
		return aai.Errorf(aai.InvalidParams, "%s: expected valid UTF-8", at)
	case strings.IndexByte(s, 0) >= 0:
		return aai.Errorf(aai.InvalidParams, "%s: expected a string without NUL characters", at)
	}
	switch code {
	case 'g':
		if _, err := wire.ParseSignature(s); err != nil {
			return aai.Errorf(aai.InvalidParams, "%s: expected a D-Bus signature such as a{sv}: %w", at, err)
		}
		e.Signature(s)
		return nil
	case 'o':
		if !wire.ValidPath(s) {
			return aai.Errorf(aai.InvalidParams, "%s: expected a D-Bus object path such as /org/example/Thing", at)
		}
	}
	e.Str(s)
	return nil
}

// variant writes {"signature": "y", "value": 1} as the given type and every other value as its
// inferred type.
func (e *encoder) variant(v any, at *argumentPath) error {
	t, inner, err := variantType(v, at)
	if err != nil {
		return err
	}
	if hasDescriptor(t) {
		return noDescriptors(at.String())
	}
	e.Signature(t.Sig)
	return e.value(inner, t, at.within(""))
}

func variantType(v any, at *argumentPath) (*wire.Type, any, error) {
	if object, ok := v.(map[string]any); ok && len(object) == 2 {
		sig, isText := object["signature"].(string)
		inner, isThere := object["value"]
		if isText && isThere {
			t, err := wire.ParseType(sig)
			if err != nil {
				return nil, nil,
					aai.Errorf(aai.InvalidParams, "%s.signature: expected the D-Bus signature of one type: %w", at, err)
			}
			return t, inner, nil
		}
	}
	t, err := inferType(v, at)
	return t, v, err
}

func (e *encoder) list(v any, t *wire.Type, at *argumentPath) error {
	if t.Elem.Code == 'y' {
		if raw, ok, err := bytesOf(v, at); ok || err != nil {
			return e.rawBytes(raw, at, err)
		}
	}
	items, ok := v.([]any)
	if !ok {
		if t.Elem.Code == 'y' {
			return mismatch(at, `an array of bytes, a string or {"base64": "…"}`, v)
		}
		return mismatch(at, "an array", v)
	}
	return e.array(t.Elem.Align(), at, func() error {
		for i, item := range items {
			if err := e.value(item, t.Elem, at.index(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *encoder) rawBytes(raw []byte, at *argumentPath, err error) error {
	if err != nil {
		return err
	}
	return e.array(1, at, func() error {
		e.Raw(raw)
		return nil
	})
}

// bytesOf reads the short forms of an array of bytes.
func bytesOf(v any, at *argumentPath) (raw []byte, ok bool, err error) {
	switch v := v.(type) {
	case string:
		return []byte(v), true, nil
	case map[string]any:
		text, isText := v["base64"].(string)
		if !isText || len(v) != 1 {
			return nil, false, nil
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, false,
				aai.Errorf(aai.InvalidParams, "%s.base64: expected base64 in the standard alphabet, with padding: %w", at, err)
		}
		return raw, true, nil
	}
	return nil, false, nil
}

// dict writes the entries in the order of their names, so that equal values produce equal
// messages.
func (e *encoder) dict(v any, t *wire.Type, at *argumentPath) error {
	object, ok := v.(map[string]any)
	if !ok {
		return mismatch(at, "an object", v)
	}
	return e.array(8, at, func() error {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			e.Struct()
			entry := at.within(name)
			key, err := keyOf(name, t.Key.Code, entry)
			if err != nil {
				return err
			}
			if err := e.value(key, t.Key, entry); err != nil {
				return err
			}
			if err := e.value(object[name], t.Elem, entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// keyOf converts a JSON object name to the dict's key type.
func keyOf(name string, code byte, at *argumentPath) (any, error) {
	switch code {
	case 's', 'o', 'g', 'h':
		return name, nil
	case 'b':
		if name != "true" && name != "false" {
			return nil, aai.Errorf(aai.InvalidParams, `%s: expected the name "true" or "false"`, at)
		}
		return name == "true", nil
	case 'd':
		f, err := strconv.ParseFloat(name, 64)
		if err != nil {
			return nil, aai.Errorf(aai.InvalidParams, "%s: expected a number as name", at)
		}
		return f, nil
	}
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(name, 10, 64); err == nil {
		return n, nil
	}
	return nil, aai.Errorf(aai.InvalidParams, "%s: expected an integer as name", at)
}

func (e *encoder) structure(v any, t *wire.Type, at *argumentPath) error {
	items, ok := v.([]any)
	if !ok || len(items) != len(t.Fields) {
		return mismatch(at, fmt.Sprintf("an array of %d values, for the D-Bus struct %s", len(t.Fields), t.Sig), v)
	}
	e.Struct()
	for i, field := range t.Fields {
		if err := e.value(items[i], field, at.index(i)); err != nil {
			return err
		}
	}
	return nil
}

// empty writes the value of an omitted parameter: an empty array or dict. It returns false for a
// type without an empty value.
func (e *encoder) empty(t *wire.Type) bool {
	switch t.Code {
	case wire.ArrayCode:
		e.U32(0)
		e.Pad(t.Elem.Align())
	case wire.DictCode:
		e.U32(0)
		e.Pad(8)
	default:
		return false
	}
	return true
}

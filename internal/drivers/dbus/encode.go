package dbus

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"aai"
)

// maxArray is the size limit of one array on the wire, by the specification.
const maxArray = 64 << 20

// An encoder writes values in the wire format, little-endian. Its buffer must
// begin on a boundary of 8 bytes of the message, as header and body do.
type encoder struct{ buf []byte }

func (e *encoder) pad(n int) {
	for len(e.buf)%n != 0 {
		e.buf = append(e.buf, 0)
	}
}

func (e *encoder) u16(v uint16) { e.pad(2); e.buf = binary.LittleEndian.AppendUint16(e.buf, v) }
func (e *encoder) u32(v uint32) { e.pad(4); e.buf = binary.LittleEndian.AppendUint32(e.buf, v) }
func (e *encoder) u64(v uint64) { e.pad(8); e.buf = binary.LittleEndian.AppendUint64(e.buf, v) }

func (e *encoder) str(s string) {
	e.u32(uint32(len(s)))
	e.buf = append(append(e.buf, s...), 0)
}

func (e *encoder) signature(s string) {
	e.buf = append(append(append(e.buf, byte(len(s))), s...), 0)
}

// array writes an array whose elements are written by f.
func (e *encoder) array(elemAlign int, at *place, f func() error) error {
	e.u32(0)
	length := len(e.buf) - 4
	e.pad(elemAlign)
	begin := len(e.buf)
	if err := f(); err != nil {
		return err
	}
	size := len(e.buf) - begin
	if size > maxArray {
		return aai.Errorf(aai.InvalidParams, "%s: expected at most %d MiB", at, maxArray>>20)
	}
	binary.LittleEndian.PutUint32(e.buf[length:], uint32(size))
	return nil
}

// value writes a JSON value as the type. Its error is an *aai.Error with code
// INVALID_PARAMS that names the place, or AUTOMATION_NOT_SUPPORTED for a file
// descriptor.
func (e *encoder) value(v any, t *dtype, at *place) error {
	if at.depth > maxDepth {
		return aai.Errorf(aai.InvalidParams, "%s: nested more than %d deep", at, maxDepth)
	}
	switch t.code {
	case 'b':
		return e.boolean(v, at)
	case 'y', 'n', 'q', 'i', 'u', 'x', 't':
		return e.integer(v, t.code, at)
	case 'd':
		f, ok := doubleOf(v)
		if !ok {
			return mismatch(at, `a number, "NaN", "Infinity" or "-Infinity"`, v)
		}
		e.u64(math.Float64bits(f))
		return nil
	case 's', 'o', 'g':
		return e.text(v, t.code, at)
	case 'v':
		return e.variant(v, at)
	case arrayCode:
		return e.list(v, t, at)
	case dictCode:
		return e.dict(v, t, at)
	case structCode:
		return e.structure(v, t, at)
	}
	return noDescriptors(at.String())
}

func noDescriptors(where string) *aai.Error {
	err := aai.Errorf(aai.AutomationNotSupported, "%s: the app wants a file descriptor (D-Bus type h), which this gateway does not pass on", where)
	err.Hint = "Use another tool of the app, if it has one that takes a path or the content."
	return err
}

func (e *encoder) boolean(v any, at *place) error {
	b, ok := v.(bool)
	if !ok {
		return mismatch(at, "true or false", v)
	}
	if b {
		e.u32(1)
	} else {
		e.u32(0)
	}
	return nil
}

// integer writes two's complement of the width that the code says.
func (e *encoder) integer(v any, code byte, at *place) error {
	n, ok := wholeOf(v)
	low, high := integerRange(code)
	if !ok || !n.within(low, high) {
		return mismatch(at, fmt.Sprintf("an integer from %d to %d", low, high), v)
	}
	bits := n.bits()
	switch code {
	case 'y':
		e.buf = append(e.buf, byte(bits))
	case 'n', 'q':
		e.u16(uint16(bits))
	case 'i', 'u':
		e.u32(uint32(bits))
	default:
		e.u64(bits)
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

func (e *encoder) text(v any, code byte, at *place) error {
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
		if _, err := parseSignature(s); err != nil {
			return aai.Errorf(aai.InvalidParams, "%s: expected a D-Bus signature such as a{sv}: %w", at, err)
		}
		e.signature(s)
		return nil
	case 'o':
		if !validPath(s) {
			return aai.Errorf(aai.InvalidParams, "%s: expected a D-Bus object path such as /org/example/Thing", at)
		}
	}
	e.str(s)
	return nil
}

// variant writes {"signature": "y", "value": 1} as the type it says and
// everything else as the type inferred from the value.
func (e *encoder) variant(v any, at *place) error {
	t, inner, err := variantType(v, at)
	if err != nil {
		return err
	}
	if t.hasDescriptor() {
		return noDescriptors(at.String())
	}
	e.signature(t.sig)
	return e.value(inner, t, at.within(""))
}

func variantType(v any, at *place) (*dtype, any, error) {
	if object, ok := v.(map[string]any); ok && len(object) == 2 {
		sig, isText := object["signature"].(string)
		inner, isThere := object["value"]
		if isText && isThere {
			t, err := parseType(sig)
			if err != nil {
				return nil, nil, aai.Errorf(aai.InvalidParams, "%s.signature: expected the D-Bus signature of one type: %w", at, err)
			}
			return t, inner, nil
		}
	}
	t, err := inferType(v, at)
	return t, v, err
}

func (e *encoder) list(v any, t *dtype, at *place) error {
	if t.elem.code == 'y' {
		if raw, ok, err := bytesOf(v, at); ok || err != nil {
			return e.rawBytes(raw, at, err)
		}
	}
	items, ok := v.([]any)
	if !ok {
		if t.elem.code == 'y' {
			return mismatch(at, `an array of bytes, a string or {"base64": "…"}`, v)
		}
		return mismatch(at, "an array", v)
	}
	return e.array(t.elem.align(), at, func() error {
		for i, item := range items {
			if err := e.value(item, t.elem, at.index(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *encoder) rawBytes(raw []byte, at *place, err error) error {
	if err != nil {
		return err
	}
	return e.array(1, at, func() error {
		e.buf = append(e.buf, raw...)
		return nil
	})
}

// bytesOf reads the short forms of an array of bytes.
func bytesOf(v any, at *place) (raw []byte, ok bool, err error) {
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
			return nil, false, aai.Errorf(aai.InvalidParams, "%s.base64: expected base64 in the standard alphabet, with padding: %w", at, err)
		}
		return raw, true, nil
	}
	return nil, false, nil
}

// dict writes the entries in the order of their names, so that the same value
// always makes the same message.
func (e *encoder) dict(v any, t *dtype, at *place) error {
	object, ok := v.(map[string]any)
	if !ok {
		return mismatch(at, "an object", v)
	}
	return e.array(8, at, func() error {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			e.pad(8)
			entry := at.within(name)
			key, err := keyOf(name, t.key.code, entry)
			if err != nil {
				return err
			}
			if err := e.value(key, t.key, entry); err != nil {
				return err
			}
			if err := e.value(object[name], t.elem, entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// keyOf reads the name in a JSON object as a value of the dict's key type.
func keyOf(name string, code byte, at *place) (any, error) {
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

func (e *encoder) structure(v any, t *dtype, at *place) error {
	items, ok := v.([]any)
	if !ok || len(items) != len(t.fields) {
		return mismatch(at, fmt.Sprintf("an array of %d values, for the D-Bus struct %s", len(t.fields), t.sig), v)
	}
	e.pad(8)
	for i, field := range t.fields {
		if err := e.value(items[i], field, at.index(i)); err != nil {
			return err
		}
	}
	return nil
}

// empty writes the value of a parameter that was left out: an empty array or
// dict. It reports false for a type that has no empty value.
func (e *encoder) empty(t *dtype) bool {
	switch t.code {
	case arrayCode:
		e.u32(0)
		e.pad(t.elem.align())
	case dictCode:
		e.u32(0)
		e.pad(8)
	default:
		return false
	}
	return true
}

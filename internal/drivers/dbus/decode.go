package dbus

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNodes is how many values one reply may hold. A value in memory is many
// times larger than on the wire.
const maxNodes = 1 << 20

var (
	errTruncated  = errors.New("the message ends too early")
	errDescriptor = errors.New("the reply holds a file descriptor, which this gateway does not take")
)

// A decoder reads values in the wire format. It trusts nothing it reads.
type decoder struct {
	data   []byte
	pos    int
	order  binary.ByteOrder
	nodes  int
	basics [128]*dtype // of variants, by code
}

// take returns the next n bytes on a boundary.
func (d *decoder) take(align, n int) ([]byte, error) {
	begin := (d.pos + align - 1) / align * align
	if n < 0 || begin > len(d.data) || n > len(d.data)-begin {
		return nil, errTruncated
	}
	d.pos = begin + n
	return d.data[begin:d.pos], nil
}

func (d *decoder) u32() (uint32, error) {
	b, err := d.take(4, 4)
	if err != nil {
		return 0, err
	}
	return d.order.Uint32(b), nil
}

func (d *decoder) str() (string, error) {
	n, err := d.u32()
	if err != nil {
		return "", err
	}
	return d.terminated(int(n))
}

func (d *decoder) signature() (string, error) {
	b, err := d.take(1, 1)
	if err != nil {
		return "", err
	}
	return d.terminated(int(b[0]))
}

func (d *decoder) terminated(n int) (string, error) {
	b, err := d.take(1, n)
	if err != nil {
		return "", err
	}
	end, err := d.take(1, 1)
	if err != nil {
		return "", err
	}
	if end[0] != 0 || !utf8.Valid(b) {
		return "", errors.New("a string is not valid UTF-8 with a NUL at its end")
	}
	return string(b), nil
}

// values reads all the values of a message's body as JSON values: integers as
// int64 or uint64, doubles as float64, and NaN and the infinities as strings.
func (d *decoder) values(types []*dtype) ([]any, error) {
	out := make([]any, len(types))
	for i, t := range types {
		v, err := d.value(t, 0)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (d *decoder) value(t *dtype, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the reply is nested more than %d deep", maxDepth)
	}
	if d.nodes++; d.nodes > maxNodes {
		return nil, fmt.Errorf("the reply holds more than %d values", maxNodes)
	}
	switch t.code {
	case 's', 'o':
		return d.str()
	case 'g':
		return d.signature()
	case 'v':
		return d.variant(depth)
	case arrayCode:
		return d.list(t, depth)
	case dictCode:
		return d.dict(t, depth)
	case structCode:
		return d.structure(t, depth)
	case 'h':
		return nil, errDescriptor
	}
	return d.number(t)
}

// number reads what has a fixed size.
func (d *decoder) number(t *dtype) (any, error) {
	size := t.align()
	b, err := d.take(size, size)
	if err != nil {
		return nil, err
	}
	switch t.code {
	case 'y':
		return int64(b[0]), nil
	case 'n':
		return int64(int16(d.order.Uint16(b))), nil
	case 'q':
		return int64(d.order.Uint16(b)), nil
	case 'i':
		return int64(int32(d.order.Uint32(b))), nil
	case 'u':
		return int64(d.order.Uint32(b)), nil
	case 'x':
		return int64(d.order.Uint64(b)), nil
	case 't':
		return d.order.Uint64(b), nil
	case 'd':
		return jsonDouble(math.Float64frombits(d.order.Uint64(b))), nil
	}
	switch n := d.order.Uint32(b); n {
	case 0, 1:
		return n == 1, nil
	default:
		return nil, fmt.Errorf("a boolean is 0 or 1, not %d", n)
	}
}

func jsonDouble(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return f
}

func (d *decoder) variant(depth int) (any, error) {
	t, err := d.variantType()
	if err != nil {
		return nil, err
	}
	return d.value(t, depth+1)
}

// variantType reads the signature at the beginning of a variant. Those of one
// letter, nearly all of them, are parsed once for each letter.
func (d *decoder) variantType() (*dtype, error) {
	sig, err := d.signature()
	if err != nil {
		return nil, err
	}
	if len(sig) == 1 && sig[0] < 128 && d.basics[sig[0]] != nil {
		return d.basics[sig[0]], nil
	}
	t, err := parseType(sig)
	if err == nil && len(sig) == 1 {
		d.basics[sig[0]] = t
	}
	return t, err
}

// array reads an array's length and calls each until its end.
func (d *decoder) array(elemAlign int, each func() error) error {
	n, err := d.u32()
	if err != nil {
		return err
	}
	if _, err = d.take(elemAlign, 0); err != nil {
		return err
	}
	if uint64(n) > uint64(len(d.data)-d.pos) {
		return errTruncated
	}
	end := d.pos + int(n)
	for d.pos < end {
		if err := each(); err != nil {
			return err
		}
	}
	if d.pos != end {
		return errors.New("an array's length is not that of its elements")
	}
	return nil
}

func (d *decoder) list(t *dtype, depth int) (any, error) {
	if t.elem.code == 'y' {
		return d.byteList()
	}
	items := []any{}
	err := d.array(t.elem.align(), func() error {
		v, err := d.value(t.elem, depth+1)
		items = append(items, v)
		return err
	})
	return items, err
}

// byteList reads bytes as text if they are text, and otherwise as base64. Many
// apps end such text with a NUL, as in C.
func (d *decoder) byteList() (any, error) {
	n, err := d.u32()
	if err != nil {
		return nil, err
	}
	b, err := d.take(1, int(n))
	if err != nil {
		return nil, err
	}
	if text := strings.TrimSuffix(string(b), "\x00"); isText(text) {
		return text, nil
	}
	return map[string]any{"base64": base64.StdEncoding.EncodeToString(b)}, nil
}

func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r < 0xa0
	})
}

func (d *decoder) dict(t *dtype, depth int) (any, error) {
	object := map[string]any{}
	err := d.array(8, func() error {
		if _, err := d.take(8, 0); err != nil {
			return err
		}
		key, err := d.value(t.key, depth+1)
		if err != nil {
			return err
		}
		v, err := d.value(t.elem, depth+1)
		object[keyText(key)] = v
		return err
	})
	return object, err
}

// keyText is the name under which a dict's key stands in a JSON object.
func keyText(key any) string {
	switch key := key.(type) {
	case string:
		return key
	case bool:
		return strconv.FormatBool(key)
	case int64:
		return strconv.FormatInt(key, 10)
	case uint64:
		return strconv.FormatUint(key, 10)
	case float64:
		return strconv.FormatFloat(key, 'g', -1, 64)
	}
	return ""
}

func (d *decoder) structure(t *dtype, depth int) (any, error) {
	if _, err := d.take(8, 0); err != nil {
		return nil, err
	}
	items := make([]any, len(t.fields))
	for i, field := range t.fields {
		v, err := d.value(field, depth+1)
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return items, nil
}

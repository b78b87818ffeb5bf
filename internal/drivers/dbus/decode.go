package dbus

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// maxNodes limits the values of one reply. A value in memory is many times larger than on the
// wire.
const maxNodes = 1 << 20

var errDescriptor = errors.New("the reply has a file descriptor, which this gateway does not support")

// decoder reads values as JSON values: integers as int64 or uint64, doubles as float64, and NaN
// and the infinities as strings. After an error its values are meaningless.
type decoder struct {
	*wire.Decoder
	nodes  int
	basics [128]*wire.Type // of variants, by code
}

// valuesOf decodes the body of a message into JSON values.
func valuesOf(m *wire.Message) ([]any, error) {
	types, err := wire.ParseSignature(m.Signature)
	if err != nil {
		return nil, err
	}
	d := &decoder{Decoder: m.Decoder()}
	out := make([]any, len(types))
	for i, t := range types {
		out[i] = d.value(t, 0)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// textsOf decodes a body that begins with n strings, as replies of the bus do.
func textsOf(m *wire.Message, n int) ([]string, error) {
	values, err := valuesOf(m)
	if err != nil {
		return nil, err
	}
	if len(values) < n {
		return nil, fmt.Errorf("expected %d strings, got %d values", n, len(values))
	}
	out := make([]string, n)
	for i := range out {
		s, ok := values[i].(string)
		if !ok {
			return nil, fmt.Errorf("expected a string as value %d", i+1)
		}
		out[i] = s
	}
	return out, nil
}

func (d *decoder) value(t *wire.Type, depth int) any {
	if depth > wire.MaxDepth {
		d.Fail(fmt.Errorf("the reply is nested more than %d deep", wire.MaxDepth))
	}
	if d.nodes++; d.nodes > maxNodes {
		d.Fail(fmt.Errorf("the reply has more than %d values", maxNodes))
	}
	if d.Err() != nil {
		return nil
	}
	switch t.Code {
	case 's', 'o':
		return d.Str()
	case 'g':
		return d.Signature()
	case 'v':
		return d.variant(depth)
	case wire.ArrayCode:
		return d.list(t, depth)
	case wire.DictCode:
		return d.dict(t, depth)
	case wire.StructCode:
		return d.structure(t, depth)
	}
	return d.plain(t.Code)
}

// plain reads a value of fixed size.
func (d *decoder) plain(code byte) any {
	switch code {
	case 'b':
		return d.Bool()
	case 'y':
		return int64(d.Byte())
	case 'n':
		return int64(d.I16())
	case 'q':
		return int64(d.U16())
	case 'i':
		return int64(d.I32())
	case 'u':
		return int64(d.U32())
	case 'x':
		return d.I64()
	case 't':
		return d.U64()
	case 'd':
		return jsonDouble(d.Double())
	}
	d.Fail(errDescriptor)
	return nil
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

func (d *decoder) variant(depth int) any {
	t := d.variantType()
	if d.Err() != nil {
		return nil
	}
	return d.value(t, depth+1)
}

// variantType reads the signature at the beginning of a variant. It parses each signature of one
// letter, which is nearly every one, only once.
func (d *decoder) variantType() *wire.Type {
	sig := d.Variant()
	if d.Err() != nil {
		return nil
	}
	if len(sig) == 1 && d.basics[sig[0]] != nil {
		return d.basics[sig[0]]
	}
	t, err := wire.ParseType(sig)
	if err != nil {
		d.Fail(err)
		return nil
	}
	if len(sig) == 1 {
		d.basics[sig[0]] = t
	}
	return t
}

func (d *decoder) list(t *wire.Type, depth int) any {
	if t.Elem.Code == 'y' {
		return bytesAsJSON(d.Bytes())
	}
	items := []any{}
	d.Array(t.Elem.Align(), func() {
		items = append(items, d.value(t.Elem, depth+1))
	})
	return items
}

// bytesAsJSON converts bytes to a string if they are text, otherwise to base64. Many apps end such
// text with a NUL, as in C.
func bytesAsJSON(b []byte) any {
	if text := strings.TrimSuffix(string(b), "\x00"); isText(text) {
		return text
	}
	return map[string]any{"base64": base64.StdEncoding.EncodeToString(b)}
}

func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r < 0xa0
	})
}

func (d *decoder) dict(t *wire.Type, depth int) any {
	object := map[string]any{}
	d.Array(8, func() {
		d.Struct()
		key := keyText(d.value(t.Key, depth+1))
		object[key] = d.value(t.Elem, depth+1)
	})
	return object
}

// keyText returns the JSON object name for a dict's key.
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

func (d *decoder) structure(t *wire.Type, depth int) any {
	d.Struct()
	items := make([]any, len(t.Fields))
	for i, field := range t.Fields {
		items[i] = d.value(field, depth+1)
	}
	return items
}

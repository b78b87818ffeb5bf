package wire

import (
	"encoding/binary"
	"errors"
	"math"
)

// MaxArray is the size limit of an array in bytes, by the specification.
const MaxArray = 64 << 20

// ErrArrayTooLarge is the error of an array above MaxArray.
var ErrArrayTooLarge = errors.New("an array has at most 64 MiB")

// An Encoder writes values in the wire format, little-endian, each on its boundary. The zero
// value is ready to write a body. It does not validate: a message is checked when it is sent.
type Encoder struct {
	buf  []byte
	base int // start of the message in buf; boundaries are relative to it
}

// Bytes returns the written data. It aliases the Encoder's buffer: write no more while using it.
func (e *Encoder) Bytes() []byte { return e.buf }

// Pad writes zeros up to a boundary of n bytes, a power of 2 up to 8. Structs and dict entries
// begin on one of 8.
func (e *Encoder) Pad(n int) {
	const zeros = "\x00\x00\x00\x00\x00\x00\x00\x00"
	e.buf = append(e.buf, zeros[:-(len(e.buf)-e.base)&(n-1)]...)
}

// Struct begins a struct or a dict entry. The caller writes the fields next.
func (e *Encoder) Struct() { e.Pad(8) }

// Byte writes a byte, the D-Bus type y.
func (e *Encoder) Byte(v byte) { e.buf = append(e.buf, v) }

// Bool writes a boolean, the D-Bus type b.
func (e *Encoder) Bool(v bool) {
	if v {
		e.U32(1)
	} else {
		e.U32(0)
	}
}

// U16 writes a uint16, the D-Bus type q.
func (e *Encoder) U16(v uint16) { e.Pad(2); e.buf = binary.LittleEndian.AppendUint16(e.buf, v) }

// U32 writes a uint32, the D-Bus type u.
func (e *Encoder) U32(v uint32) { e.Pad(4); e.buf = binary.LittleEndian.AppendUint32(e.buf, v) }

// U64 writes a uint64, the D-Bus type t.
func (e *Encoder) U64(v uint64) { e.Pad(8); e.buf = binary.LittleEndian.AppendUint64(e.buf, v) }

// I16 writes an int16, the D-Bus type n.
func (e *Encoder) I16(v int16) { e.U16(uint16(v)) }

// I32 writes an int32, the D-Bus type i.
func (e *Encoder) I32(v int32) { e.U32(uint32(v)) }

// I64 writes an int64, the D-Bus type x.
func (e *Encoder) I64(v int64) { e.U64(uint64(v)) }

// Double writes a float64, the D-Bus type d.
func (e *Encoder) Double(v float64) { e.U64(math.Float64bits(v)) }

// Str writes a string or an object path, D-Bus types s and o.
func (e *Encoder) Str(s string) {
	e.U32(uint32(len(s)))
	e.buf = append(append(e.buf, s...), 0)
}

// Signature writes a signature, D-Bus type g, or the beginning of a variant; the caller then writes its value. A
// signature has at most MaxSignature bytes.
func (e *Encoder) Signature(s string) {
	e.buf = append(append(append(e.buf, byte(len(s))), s...), 0)
}

// Raw writes bytes unchanged, such as the elements of an array of bytes.
func (e *Encoder) Raw(b []byte) { e.buf = append(e.buf, b...) }

// Array writes an array or dict; the function elements writes the elements. They begin on boundaries of elemAlign
// bytes: see Type.Align; for a dict it is 8. Array returns the error of elements, or ErrArrayTooLarge.
func (e *Encoder) Array(elemAlign int, elements func() error) error {
	e.U32(0)
	length := len(e.buf) - 4
	e.Pad(elemAlign)
	begin := len(e.buf)
	if err := elements(); err != nil {
		return err
	}
	size := len(e.buf) - begin
	if size > MaxArray {
		return ErrArrayTooLarge
	}
	binary.LittleEndian.PutUint32(e.buf[length:], uint32(size))
	return nil
}

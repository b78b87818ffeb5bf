package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

var (
	errTruncated    = errors.New("the message ends too early")
	errText         = errors.New("a string is not valid UTF-8 with a NUL at its end, and none before")
	errArray        = errors.New("an array's length is not that of its elements")
	errBodyTooLarge = errors.New("the message's body is too large to be kept")
)

// A Decoder reads values in the wire format, each on its boundary, in the order of writing. It
// validates all input. After the first error every read returns a zero value, so one check of Err
// at the end suffices, before the values are used. It is not safe for concurrent use.
type Decoder struct {
	data []byte
	pos  int
	big  bool // byte order
	err  error
}

// NewDecoder returns a Decoder for data that begins on a boundary of 8 bytes. A nil order means
// little-endian. The Decoder does not change the data.
func NewDecoder(data []byte, order binary.ByteOrder) *Decoder {
	return &Decoder{data: data, big: order == binary.BigEndian}
}

// Err returns the first error of reading, or nil.
func (d *Decoder) Err() error { return d.err }

// Fail sets the Decoder's error, unless it has one.
func (d *Decoder) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// More reports whether data remains.
func (d *Decoder) More() bool { return d.err == nil && d.pos < len(d.data) }

// take returns the next n bytes on a boundary, which is a power of 2. It reports false after an
// error.
func (d *Decoder) take(align, n int) ([]byte, bool) {
	begin := (d.pos + align - 1) &^ (align - 1)
	if d.err != nil || n < 0 || begin > len(d.data) || n > len(d.data)-begin {
		d.Fail(errTruncated)
		return nil, false
	}
	d.pos = begin + n
	return d.data[begin:d.pos], true
}

// Byte reads a byte, the D-Bus type y.
func (d *Decoder) Byte() byte {
	if b, ok := d.take(1, 1); ok {
		return b[0]
	}
	return 0
}

// Bool reads a boolean, the D-Bus type b, which must be 0 or 1.
func (d *Decoder) Bool() bool {
	n := d.U32()
	if n > 1 {
		d.Fail(fmt.Errorf("a boolean is 0 or 1, not %d", n))
	}
	return n == 1
}

// U16 reads a uint16, the D-Bus type q.
func (d *Decoder) U16() uint16 {
	b, ok := d.take(2, 2)
	switch {
	case !ok:
		return 0
	case d.big:
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// U32 reads a uint32, the D-Bus type u.
func (d *Decoder) U32() uint32 {
	b, ok := d.take(4, 4)
	switch {
	case !ok:
		return 0
	case d.big:
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// U64 reads a uint64, the D-Bus type t.
func (d *Decoder) U64() uint64 {
	b, ok := d.take(8, 8)
	switch {
	case !ok:
		return 0
	case d.big:
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// I16 reads an int16, the D-Bus type n.
func (d *Decoder) I16() int16 { return int16(d.U16()) }

// I32 reads an int32, the D-Bus type i.
func (d *Decoder) I32() int32 { return int32(d.U32()) }

// I64 reads an int64, the D-Bus type x.
func (d *Decoder) I64() int64 { return int64(d.U64()) }

// Double reads a float64, the D-Bus type d.
func (d *Decoder) Double() float64 { return math.Float64frombits(d.U64()) }

// Str reads a string or an object path, D-Bus types s and o. It checks for UTF-8, but not that a path is valid.
func (d *Decoder) Str() string { return string(d.text(int(d.U32()))) }

// StringLike reads a text as Str does. It returns like, without an allocation, if both are equal: names often repeat.
func (d *Decoder) StringLike(like string) string { return internLike(d.text(int(d.U32())), like) }

// Signature reads and validates a signature, the D-Bus type g.
func (d *Decoder) Signature() string {
	sig := d.signatureLike("")
	if err := checkSignature(sig); err != nil {
		d.Fail(err)
		return ""
	}
	return sig
}

// Variant reads the beginning of a variant, and returns the signature of the value that the caller reads next. It
// must be that of one complete type.
func (d *Decoder) Variant() string {
	sig := d.signatureLike("")
	if d.err != nil {
		return ""
	}
	if err := checkOneType(sig); err != nil {
		d.Fail(fmt.Errorf("a variant's signature: %w", err))
		return ""
	}
	return sig
}

func (d *Decoder) signatureLike(like string) string {
	b := d.text(int(d.Byte()))
	switch string(b) { // avoids an allocation in most cases
	case "s":
		return "s"
	case "o":
		return "o"
	case "i":
		return "i"
	case "u":
		return "u"
	case "v":
		return "v"
	}
	return internLike(b, like)
}

func internLike(b []byte, like string) string {
	if string(b) == like {
		return like
	}
	return string(b)
}

// text returns n bytes of text, which a NUL follows.
func (d *Decoder) text(n int) []byte {
	if n < 0 || n == math.MaxInt {
		d.Fail(errTruncated)
	}
	b, ok := d.take(1, n+1)
	if !ok {
		return nil
	}
	if text := b[:n]; b[n] == 0 && bytes.IndexByte(text, 0) < 0 && utf8.Valid(text) {
		return text
	}
	d.Fail(errText)
	return nil
}

// Struct begins a struct or a dict entry. The caller reads the fields next.
func (d *Decoder) Struct() { d.take(8, 0) }

// Array reads an array or dict. It calls each once for every element, which each must read. Elements begin on
// boundaries of elemAlign bytes: see Type.Align; for a dict it is 8. An element of a dict, or of an array of structs,
// begins with Struct.
func (d *Decoder) Array(elemAlign int, each func()) {
	n, ok := d.arrayHead(elemAlign)
	if !ok {
		return
	}
	end := d.pos + n
	for d.pos < end {
		begin := d.pos
		if each(); d.err != nil {
			return
		}
		if d.pos == begin {
			break // avoids an endless loop
		}
	}
	if d.pos != end {
		d.Fail(errArray)
	}
}

// arrayHead reads the length before the elements, and reports whether so many bytes remain.
func (d *Decoder) arrayHead(elemAlign int) (size int, ok bool) {
	n := d.U32()
	if _, ok := d.take(elemAlign, 0); !ok {
		return 0, false
	}
	if uint64(n) > uint64(len(d.data)-d.pos) {
		d.Fail(errTruncated)
		return 0, false
	}
	return int(n), true
}

// Bytes reads an array of bytes, the D-Bus type ay. The result aliases the message: do not change it. It keeps the
// message in memory.
func (d *Decoder) Bytes() []byte {
	b, _ := d.take(1, int(d.U32()))
	return b
}

// Skip validates and skips values of the types in the signature.
func (d *Decoder) Skip(sig string) {
	if err := checkSignature(sig); err != nil {
		d.Fail(err)
	}
	d.skipAll(sig, 0)
}

func (d *Decoder) skipAll(sig string, depth int) {
	for sig != "" && d.err == nil {
		sig = d.skipFirst(sig, depth)
	}
}

// skipFirst skips one value. It returns the rest of the signature, which must be valid.
func (d *Decoder) skipFirst(sig string, depth int) (rest string) {
	if depth > MaxDepth {
		d.Fail(fmt.Errorf("the message is nested more than %d deep", MaxDepth))
		return ""
	}
	switch code := sig[0]; code {
	case 'b':
		d.Bool()
	case 's':
		d.text(int(d.U32()))
	case 'o':
		if path := d.text(int(d.U32())); d.err == nil && !ValidPath(string(path)) {
			d.Fail(errors.New("an object path is invalid"))
		}
	case 'g':
		d.Signature()
	case 'v':
		d.skipAll(d.Variant(), depth+1)
	case ArrayCode:
		_, rest, _ := firstType(sig, 0)
		d.skipArray(sig[1:len(sig)-len(rest)], depth+1)
		return rest
	case StructCode:
		first, rest, _ := firstType(sig, 0)
		d.Struct()
		d.skipAll(first[1:len(first)-1], depth+1)
		return rest
	default:
		size := fixedSize(code)
		d.take(size, size)
	}
	return sig[1:]
}

// skipArray skips an array with elements of one type, or of dict entries.
func (d *Decoder) skipArray(elem string, depth int) {
	if size := fixedSize(elem[0]); size > 0 && elem[0] != 'b' {
		if n, ok := d.arrayHead(size); ok && n%size == 0 {
			d.take(1, n)
		} else {
			d.Fail(errArray)
		}
		return
	}
	d.Array(align(elem[0]), func() {
		if elem[0] == DictCode {
			d.Struct()
			d.skipAll(elem[1:len(elem)-1], depth)
			return
		}
		d.skipAll(elem, depth)
	})
}

package x11

import (
	"encoding/binary"
	"fmt"
)

// xid identifies a resource of the X server: a window, a pixmap, an atom.
type xid = uint32

// none is the xid that means no resource.
const none xid = 0

// pad is a number of unused bytes in a request.
type pad int

// request encodes a request in this computer's byte order, which the handshake has
// announced to the server. The second byte is the detail of a core request and the minor
// opcode of an extension's. A request must not exceed 262,140 bytes, the limit without the
// extension BIG-REQUESTS.
func request(opcode, detail byte, fields ...any) []byte {
	buf := []byte{opcode, detail, 0, 0}
	for _, field := range fields {
		buf = appendField(buf, field)
	}
	buf = append(buf, make([]byte, padding(len(buf)))...)
	binary.NativeEndian.PutUint16(buf[2:], uint16(len(buf)/4))
	return buf
}

func appendField(buf []byte, field any) []byte {
	order := binary.NativeEndian
	switch v := field.(type) {
	case byte:
		return append(buf, v)
	case bool:
		if v {
			return append(buf, 1)
		}
		return append(buf, 0)
	case uint16:
		return order.AppendUint16(buf, v)
	case int16:
		return order.AppendUint16(buf, uint16(v))
	case uint32:
		return order.AppendUint32(buf, v)
	case []uint32:
		for _, n := range v {
			buf = order.AppendUint32(buf, n)
		}
		return buf
	case []byte:
		return append(buf, v...)
	case string:
		return append(buf, v...)
	case pad:
		return append(buf, make([]byte, v)...)
	}
	panic(fmt.Sprintf("x11: a request cannot have a %T", field)) // unreachable: only this package writes requests
}

// padding returns the number of bytes missing to a multiple of four.
func padding(n int) int { return -n & 3 }

// A replyReader decodes a reply. Values behind the end are zero, so that a short reply is
// wrong but not fatal.
type replyReader struct{ rest []byte }

// from returns a reader that starts at an offset of the reply.
func from(buf []byte, offset int) *replyReader { return &replyReader{buf[min(offset, len(buf)):]} }

func (c *replyReader) take(n int) []byte {
	if n < 0 || n > len(c.rest) {
		c.rest = nil
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *replyReader) u8() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *replyReader) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.NativeEndian.Uint16(b)
	}
	return 0
}

func (c *replyReader) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.NativeEndian.Uint32(b)
	}
	return 0
}

func (c *replyReader) i16() int { return int(int16(c.u16())) }

// u32s reads n numbers, or fewer if the reply ends.
func (c *replyReader) u32s(n int) []uint32 {
	n = max(0, min(n, len(c.rest)/4))
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = c.u32()
	}
	return numbers
}

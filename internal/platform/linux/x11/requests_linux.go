package x11

import (
	"encoding/binary"
	"fmt"

	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// The requests of the core protocol in use, with the names and the field order of the
// protocol specification.

func query(opcode, detail byte, fields ...any) *call {
	return &call{request: request(opcode, detail, fields...)}
}

func command(opcode, detail byte, fields ...any) *call {
	return &call{request: request(opcode, detail, fields...), void: true}
}

const (
	inputOnly          = 2
	copyFromParent     = 0
	viewable           = 2 // of a window's map state
	propertyChange     = 1 << 22
	structureNotify    = 1 << 17
	substructureNotify = 1 << 19
)

// createWindow creates an invisible window of 1 by 1 pixel that receives the events.
func createWindow(id, parent xid, events uint32) *call {
	const eventMaskValue = 1 << 11
	return command(1, 0, id, parent, int16(-1), int16(-1), uint16(1), uint16(1), uint16(0), uint16(inputOnly),
		uint32(copyFromParent), uint32(eventMaskValue), events)
}

// createAside creates an invisible window beside the screen, which window managers ignore.
func createAside(id, parent xid) *call { return createUnseen(id, parent, -1) }

// createUnseen creates a window of one pixel at x = y, which is not drawn and which window
// managers ignore.
func createUnseen(id, parent xid, at int16) *call {
	const overrideRedirectValue, yes = 1 << 9, 1
	return command(1, 0, id, parent, at, at, uint16(1), uint16(1), uint16(0), uint16(inputOnly),
		uint32(copyFromParent), uint32(overrideRedirectValue), uint32(yes))
}

func mapWindow(window xid) *call { return command(8, 0, window) }

func selectEvents(window xid, events uint32) *call {
	const eventMaskValue = 1 << 11
	return command(2, 0, window, uint32(eventMaskValue), events)
}

func getWindowAttributes(window xid) *call { return query(3, 0, window) }
func destroyWindow(window xid) *call       { return command(4, 0, window) }

// raiseWindow is ConfigureWindow with a stack mode of Above.
func raiseWindow(window xid) *call {
	const stackMode, above = 1 << 6, 0
	return command(12, 0, window, uint16(stackMode), pad(2), uint32(above))
}

func getGeometry(drawable xid) *call { return query(14, 0, drawable) }
func queryTree(window xid) *call     { return query(15, 0, window) }

func internAtom(name string) *call {
	return query(16, 0, uint16(len(name)), pad(2), name)
}

func getAtomName(atom xid) *call { return query(17, 0, atom) }

func changeProperty(mode byte, window, property, kind xid, format byte, data []byte) *call {
	return command(18, mode, window, property, kind, format, pad(3), uint32(len(data)/int(format/8)), data)
}

// The modes of changeProperty.
const (
	replaceProperty = 0
	appendProperty  = 2
)

func deleteProperty(window, property xid) *call { return command(19, 0, window, property) }

// getProperty reads up to most bytes of a property. With remove it deletes the property
// after reading it to the end.
func getProperty(window, property xid, most int, remove bool) *call {
	const anyType = none
	c := query(20, 0, window, property, anyType, uint32(0), uint32(most/4))
	if remove {
		c.request[1] = 1
	}
	return c
}

func setSelectionOwner(owner, selection xid, time uint32) *call {
	return command(22, 0, owner, selection, time)
}
func getSelectionOwner(selection xid) *call { return query(23, 0, selection) }

func convertSelection(requestor, selection, target, property xid, time uint32) *call {
	return command(24, 0, requestor, selection, target, property, time)
}

func sendEvent(window xid, events uint32, event []byte) *call {
	return command(25, 0, window, events, event)
}
func queryPointer(window xid) *call { return query(38, 0, window) }

func translateCoordinates(from, to xid) *call {
	return query(40, 0, from, to, int16(0), int16(0))
}

// setInputFocus moves the person's focus, so it needs the input lock.
func setInputFocus(_ *inputlock.Lease, window xid) *call {
	const toParent, currentTime = 2, 0
	return command(42, toParent, window, uint32(currentTime))
}
func getInputFocus() *call        { return query(43, 0) }
func freePixmap(pixmap xid) *call { return command(54, 0, pixmap) }
func getModifierMapping() *call   { return query(119, 0) }
func getKeyboardMapping(s *setup) *call {
	return query(101, 0, s.minKeycode, s.maxKeycode-s.minKeycode+1)
}

// changeKeyboardMapping assigns keysyms to consecutive keycodes.
func changeKeyboardMapping(first byte, perKeycode int, keysyms []uint32) *call {
	return command(100, byte(len(keysyms)/perKeycode), first, byte(perKeycode), pad(2), keysyms)
}

func getImage(drawable xid, x, y, w, h int) *call {
	const zPixmap, allPlanes = 2, ^uint32(0)
	return query(73, zPixmap, drawable, int16(x), int16(y), uint16(w), uint16(h), allPlanes)
}

func queryExtension(name string) *call {
	return query(98, 0, uint16(len(name)), pad(2), name)
}

// A property is the content of a reply to getProperty.
type property struct {
	kind   xid // none if the property does not exist
	format byte
	after  int // bytes that were not read
	data   []byte
}

func (c *call) property() property {
	if c.err != nil || len(c.reply) < 32 {
		return property{}
	}
	r := from(c.reply, 8)
	p := property{format: c.reply[1], kind: r.u32(), after: int(r.u32())}
	n := int(r.u32()) * int(p.format) / 8
	p.data = from(c.reply, 32).take(n)
	return p
}

// numbers returns the values of a property with format 32.
func (p property) numbers() []uint32 {
	if p.format != 32 {
		return nil
	}
	return from(p.data, 0).u32s(len(p.data) / 4)
}

func (p property) first() uint32 {
	if n := p.numbers(); len(n) > 0 {
		return n[0]
	}
	return 0
}

// children returns the parent and the child windows from a reply to queryTree, lowest first.
func (c *call) children() (parent xid, windows []xid) {
	r := from(c.reply, 12)
	parent = r.u32()
	n := int(r.u16())
	r.take(14)
	return parent, r.u32s(n)
}

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

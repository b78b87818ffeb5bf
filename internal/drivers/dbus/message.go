package dbus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits on what is read from the bus.
const (
	maxReply   = 16 << 20  // the body of a message that is kept
	maxMessage = 128 << 20 // a whole message, by the specification
	maxFields  = 64 << 10  // the header fields of a message
)

// Message types and flags, by the specification.
const (
	typeCall   = 1
	typeReply  = 2
	typeError  = 3
	typeSignal = 4

	flagNoReply = 1
)

// Codes of header fields, by the specification.
const (
	fieldPath        = 1
	fieldInterface   = 2
	fieldMember      = 3
	fieldErrorName   = 4
	fieldReplySerial = 5
	fieldDestination = 6
	fieldSender      = 7
	fieldSignature   = 8
)

// A message is what goes over the bus. Which fields are set depends on its kind.
type message struct {
	kind        byte
	flags       byte
	serial      uint32
	replySerial uint32
	destination string
	sender      string
	path        string
	iface       string
	member      string
	errorName   string
	signature   string

	body     []byte
	order    binary.ByteOrder // of the body, where it was received
	tooLarge int              // the size of a body above maxReply, which was not kept
}

// frame is the message on the wire, with the serial.
func (m *message) frame(serial uint32) []byte {
	e := encoder{buf: make([]byte, 0, 160+len(m.body))}
	e.buf = append(e.buf, 'l', m.kind, m.flags, 1)
	e.u32(uint32(len(m.body)))
	e.u32(serial)
	e.u32(0)
	e.field(fieldPath, 'o', m.path)
	e.field(fieldInterface, 's', m.iface)
	e.field(fieldMember, 's', m.member)
	e.field(fieldErrorName, 's', m.errorName)
	e.field(fieldDestination, 's', m.destination)
	e.field(fieldSignature, 'g', m.signature)
	if m.replySerial != 0 {
		e.pad(8)
		e.buf = append(e.buf, fieldReplySerial, 1, 'u', 0)
		e.u32(m.replySerial)
	}
	binary.LittleEndian.PutUint32(e.buf[12:], uint32(len(e.buf)-16))
	e.pad(8)
	return append(e.buf, m.body...)
}

func (e *encoder) field(code, kind byte, text string) {
	if text == "" {
		return
	}
	e.pad(8)
	e.buf = append(e.buf, code, 1, kind, 0)
	if kind == 'g' {
		e.signature(text)
	} else {
		e.str(text)
	}
}

// readMessage reads one message. After an error the stream cannot be used any
// more. A body that is too large is passed over, and the message says so.
func readMessage(in io.Reader) (*message, error) {
	var head [16]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	m := &message{kind: head[1], flags: head[2]}
	switch head[0] {
	case 'l':
		m.order = binary.LittleEndian
	case 'B':
		m.order = binary.BigEndian
	default:
		return nil, fmt.Errorf("the bus sent a message with the byte order %q", head[0])
	}
	bodySize := uint64(m.order.Uint32(head[4:]))
	m.serial = m.order.Uint32(head[8:])
	fieldsSize := uint64(m.order.Uint32(head[12:]))
	padded := (fieldsSize + 7) / 8 * 8
	if head[3] != 1 || fieldsSize > maxFields || bodySize+padded+16 > maxMessage {
		return nil, errors.New("the bus sent a message outside of the protocol's limits")
	}
	if bodySize > maxReply {
		m.tooLarge = int(bodySize)
		bodySize = 0
	}
	// The header fields keep the first 16 bytes before them, so that positions
	// are those of the message.
	data := make([]byte, 16+padded+bodySize)
	if _, err := io.ReadFull(in, data[16:]); err != nil {
		return nil, err
	}
	if m.tooLarge > 0 {
		if _, err := io.CopyN(io.Discard, in, int64(m.tooLarge)); err != nil {
			return nil, err
		}
	}
	m.body = data[16+padded:]
	return m, m.readFields(data[:16+fieldsSize])
}

func (m *message) readFields(data []byte) error {
	d := &decoder{data: data, pos: 16, order: m.order}
	for d.pos < len(data) {
		code, err := d.take(8, 1)
		if err != nil {
			return err
		}
		t, err := d.variantType()
		if err != nil {
			return err
		}
		v, err := d.value(t, 0)
		if err != nil {
			return err
		}
		if err := m.setField(code[0], v); err != nil {
			return err
		}
	}
	return nil
}

func (m *message) setField(code byte, v any) error {
	if code == fieldReplySerial {
		n, ok := v.(int64)
		if !ok {
			return errors.New("the bus sent a reply serial that is no number")
		}
		m.replySerial = uint32(n)
		return nil
	}
	field := m.textField(code)
	if field == nil {
		return nil
	}
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("the bus sent a header field %d that is no string", code)
	}
	*field = text
	return nil
}

// textField is where a header field of text is kept, or nil.
func (m *message) textField(code byte) *string {
	switch code {
	case fieldPath:
		return &m.path
	case fieldInterface:
		return &m.iface
	case fieldMember:
		return &m.member
	case fieldErrorName:
		return &m.errorName
	case fieldDestination:
		return &m.destination
	case fieldSender:
		return &m.sender
	case fieldSignature:
		return &m.signature
	}
	return nil
}

// values reads the body.
func (m *message) values() ([]any, error) {
	types, err := parseSignature(m.signature)
	if err != nil {
		return nil, err
	}
	d := &decoder{data: m.body, order: m.order}
	return d.values(types)
}

// texts reads a body whose first n values are strings, as those of the bus are.
func (m *message) texts(n int) ([]string, error) {
	values, err := m.values()
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

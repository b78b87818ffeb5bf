package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ReadMessage reads one message and no byte more. After an error the stream is unusable. It skips a body above
// MaxBody and sets OversizedBody.
func ReadMessage(in io.Reader) (*Message, error) {
	r := messageReader{in: in}
	return r.read()
}

// A messageReader reads the messages of a stream. Header texts equal to those of the previous
// message are not allocated again.
type messageReader struct {
	in     io.Reader
	header []byte                     // of the current message
	last   [fieldSignature + 1]string // header texts of the previous message, by field
}

func (r *messageReader) read() (*Message, error) {
	r.header = slices.Grow(r.header[:0], headSize)[:headSize]
	if _, err := io.ReadFull(r.in, r.header); err != nil {
		return nil, err
	}
	m := &Message{Kind: r.header[1], Flags: r.header[2]}
	switch r.header[0] {
	case 'l':
		m.Order = binary.LittleEndian
	case 'B':
		m.Order = binary.BigEndian
	default:
		return nil, fmt.Errorf("the bus sent a message with the byte order %q", r.header[0])
	}
	bodySize := uint64(m.Order.Uint32(r.header[4:]))
	m.Serial = m.Order.Uint32(r.header[8:])
	fieldsSize := uint64(m.Order.Uint32(r.header[12:]))
	padded := (fieldsSize + 7) &^ 7
	if r.header[3] != 1 || fieldsSize > maxFields || bodySize+padded+headSize > maxMessage {
		return nil, errors.New("the bus sent a message outside of the protocol's limits")
	}
	// The head stays before the fields, so that positions are relative to the message.
	r.header = slices.Grow(r.header, int(padded))[:headSize+padded]
	if _, err := io.ReadFull(r.in, r.header[headSize:]); err != nil {
		return nil, err
	}
	if err := r.readBody(m, int(bodySize)); err != nil {
		return nil, err
	}
	if err := r.readFields(m, int(fieldsSize)); err != nil {
		return nil, err
	}
	return m, nil
}

func (r *messageReader) readBody(m *Message, size int) error {
	if size > MaxBody {
		m.OversizedBody = size
		_, err := io.CopyN(io.Discard, r.in, int64(size))
		return err
	}
	if size == 0 {
		return nil
	}
	m.Body = make([]byte, size)
	_, err := io.ReadFull(r.in, m.Body)
	return err
}

func (r *messageReader) readFields(m *Message, size int) error {
	d := Decoder{data: r.header[:headSize+size], pos: headSize, big: m.Order == binary.BigEndian}
	for d.More() {
		d.Struct()
		code, sig := d.Byte(), d.Variant()
		want := fieldType(code)
		switch {
		case want == "":
			d.Skip(sig)
		case d.err == nil && sig != want:
			return fmt.Errorf("the bus sent a header field %d of the type %q", code, sig)
		case want == "u":
			m.ReplySerial = d.U32()
		case want == "g":
			r.last[code] = d.signatureLike(r.last[code])
			m.Signature = r.last[code]
		default:
			r.last[code] = d.StringLike(r.last[code])
			m.setText(code, r.last[code])
		}
	}
	return d.err
}

// fieldType returns the type of a known header field, or "".
func fieldType(code byte) string {
	switch code {
	case fieldPath:
		return "o"
	case fieldReplySerial:
		return "u"
	case fieldSignature:
		return "g"
	case fieldInterface, fieldMember, fieldErrorName, fieldDestination, fieldSender:
		return "s"
	}
	return ""
}

func (m *Message) setText(code byte, text string) {
	switch code {
	case fieldPath:
		m.Path = text
	case fieldInterface:
		m.Interface = text
	case fieldMember:
		m.Member = text
	case fieldErrorName:
		m.ErrorName = text
	case fieldDestination:
		m.Destination = text
	case fieldSender:
		m.Sender = text
	}
}

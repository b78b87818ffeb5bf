package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxBody is the size in bytes up to which a received body is kept; see Message.OversizedBody.
const MaxBody = 16 << 20

// The limits of messages, in bytes.
const (
	maxMessage = 128 << 20 // a whole message, by the specification
	maxFields  = 64 << 10  // the header fields of a received message
	headSize   = 16        // the part before the header fields
)

// Kinds of messages, by the specification.
const (
	KindCall   = 1
	KindReply  = 2
	KindError  = 3
	KindSignal = 4
)

// Flags of messages, by the specification.
const (
	FlagNoReply     = 1 // the sender expects no reply
	FlagNoAutoStart = 2 // the bus must not start the service
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

// ErrInvalid is the cause of a TransportError for a message that a bus would not accept.
var ErrInvalid = errors.New("the message cannot be sent")

// A Message is a D-Bus message. Its kind determines the fields in use. Sending only reads it, so
// it may be sent repeatedly and concurrently. A received message belongs to its receiver.
type Message struct {
	Kind        byte
	Flags       byte
	Serial      uint32 // of a received message
	ReplySerial uint32 // serial of the call that a reply or an error answers
	Destination string
	Sender      string // set by the bus, so trustworthy; empty from a peer
	Path        string
	Interface   string
	Member      string
	ErrorName   string
	Signature   string // of the body

	Body          []byte
	Order         binary.ByteOrder // of the body; nil means little-endian
	OversizedBody int              // size of a received body above MaxBody, which was not stored
}

// Decoder returns a new Decoder of the body. The caller must check m.Signature first, and read values of its types.
func (m *Message) Decoder() *Decoder {
	d := NewDecoder(m.Body, m.Order)
	if m.OversizedBody > 0 {
		d.Fail(errBodyTooLarge)
	}
	return d
}

// frameSize returns the approximate size of the message on the wire.
func (m *Message) frameSize() int {
	return headSize + 7*16 + len(m.Destination) + len(m.Path) + len(m.Interface) + len(m.Member) + len(m.ErrorName) +
		len(m.Signature) + len(m.Body)
}

// Frame returns the message in wire format with the serial, without validation. It is for programs that act as a bus
// or peer, such as tests.
func (m *Message) Frame(serial uint32) []byte {
	return m.appendFrame(nil, m.Kind, m.Flags, serial, false)
}

// appendFrame appends the message in wire format, without a destination if toPeer is set.
func (m *Message) appendFrame(buf []byte, kind, flags byte, serial uint32, toPeer bool) []byte {
	e := Encoder{buf: buf, base: len(buf)}
	e.buf = append(e.buf, 'l', kind, flags, 1)
	e.U32(uint32(len(m.Body)))
	e.U32(serial)
	e.U32(0)
	e.textField(fieldPath, 'o', m.Path)
	e.textField(fieldInterface, 's', m.Interface)
	e.textField(fieldMember, 's', m.Member)
	e.textField(fieldErrorName, 's', m.ErrorName)
	e.textField(fieldSender, 's', m.Sender)
	if !toPeer {
		e.textField(fieldDestination, 's', m.Destination)
	}
	if m.Signature != "" {
		e.Pad(8)
		e.buf = append(e.buf, fieldSignature, 1, 'g', 0)
		e.Signature(m.Signature)
	}
	if m.ReplySerial != 0 {
		e.Pad(8)
		e.buf = append(e.buf, fieldReplySerial, 1, 'u', 0)
		e.U32(m.ReplySerial)
	}
	fields := len(e.buf) - e.base - headSize
	binary.LittleEndian.PutUint32(e.buf[e.base+12:], uint32(fields))
	e.Pad(8)
	return append(e.buf, m.Body...)
}

func (e *Encoder) textField(code, kind byte, text string) {
	if text == "" {
		return
	}
	e.Pad(8)
	e.buf = append(e.buf, code, 1, kind, 0)
	e.Str(text)
}

// check returns an error that wraps ErrInvalid for a message that would make a bus end the
// connection, and with it all calls.
func (m *Message) check(kind byte, toPeer bool) error {
	err := m.checkHeader(kind, toPeer)
	if err == nil {
		err = m.checkBody()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

func (m *Message) checkHeader(kind byte, toPeer bool) error {
	named := kind == KindCall || kind == KindSignal
	answers := kind == KindReply || kind == KindError
	switch {
	case !named && !answers:
		return fmt.Errorf("a message of the kind %d", kind)
	case m.Sender != "":
		return errors.New("a message with a sender, which only the bus may set")
	case m.Destination == "" && !toPeer && kind != KindSignal:
		return errors.New("a message without a destination")
	case m.Destination != "" && !ValidBusName(m.Destination):
		return fmt.Errorf("the destination %q is no bus name", m.Destination)
	case !ValidPath(m.Path) && (m.Path != "" || named):
		return fmt.Errorf("%q is no object path", m.Path)
	case !ValidInterface(m.Interface) && (m.Interface != "" || kind == KindSignal):
		return fmt.Errorf("%q is no interface", m.Interface)
	case !ValidMember(m.Member) && (m.Member != "" || named):
		return fmt.Errorf("%q is no name of a method or signal", m.Member)
	case !ValidInterface(m.ErrorName) && (m.ErrorName != "" || kind == KindError):
		return fmt.Errorf("%q is no name of an error", m.ErrorName)
	case m.ReplySerial == 0 && answers:
		return errors.New("an answer to no call")
	case m.Order == binary.BigEndian:
		return errors.New("a body that is not little-endian")
	case m.frameSize() > maxMessage:
		return fmt.Errorf("a message has at most %d MiB", maxMessage>>20)
	}
	return nil
}

func (m *Message) checkBody() error {
	d := Decoder{data: m.Body}
	d.Skip(m.Signature)
	if d.More() {
		d.Fail(errors.New("it has more values"))
	}
	if d.err != nil {
		return fmt.Errorf("the body is not of the type %q: %w", m.Signature, d.err)
	}
	return nil
}

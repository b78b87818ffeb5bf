package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
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
	fieldFiles       = 9
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
	Files         []*os.File       // received and not taken, see TakeFile
}

// TakeFile returns a received file by its index, the value of an argument of the D-Bus type h; nil if there is none.
// The caller closes it. Files of signals must be taken in Options.OnSignal; files that no caller takes are closed.
func (m *Message) TakeFile(index uint32) *os.File {
	if uint64(index) >= uint64(len(m.Files)) {
		return nil
	}
	f := m.Files[index]
	m.Files[index] = nil
	return f
}

// closeFiles closes the files that were not taken.
func (m *Message) closeFiles() {
	for _, f := range m.Files {
		_ = f.Close() // nil is allowed
	}
	m.Files = nil
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

// The grammar of names, from the specification's "Valid Names" and "Valid Object
// Paths".

// MaxName is the length limit of a name other than an object path.
const MaxName = 255

// ValidBusName reports whether s is a name on the bus: a unique one (":1.42"), or a
// well-known one.
func ValidBusName(s string) bool {
	unique, isUnique := strings.CutPrefix(s, ":")
	return len(s) <= MaxName && (isUnique && validDotted(unique, true, true) || validDotted(s, true, false))
}

// ValidInterface reports whether s is the name of an interface, or of an error.
func ValidInterface(s string) bool { return validDotted(s, false, false) }

// validDotted checks for at least two elements separated by dots.
func validDotted(s string, dashes, digitsFirst bool) bool {
	if len(s) > MaxName {
		return false
	}
	dots, begin := 0, true
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if begin {
				return false
			}
			dots, begin = dots+1, true
		case isLetter(c) || c == '-' && dashes || isDigit(c) && (!begin || digitsFirst):
			begin = false
		default:
			return false
		}
	}
	return dots > 0 && !begin
}

// ValidMember reports whether s is the name of a method or a signal.
func ValidMember(s string) bool {
	if s == "" || len(s) > MaxName || isDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// ValidPath reports whether s is an object path.
func ValidPath(s string) bool {
	if s == "/" {
		return true
	}
	if s == "" || s[0] != '/' || s[len(s)-1] == '/' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !isLetter(c) && !isDigit(c) && (c != '/' || s[i-1] == '/') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isLetter accepts the letters and "_", which the specification treats alike.
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

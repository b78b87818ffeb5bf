package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
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
	in        io.Reader
	files     *fileReader                // nil if none can be received
	header    []byte                     // of the current message
	fileCount uint32                     // of the current message
	last      [fieldSignature + 1]string // header texts of the previous message, by field
}

func (r *messageReader) read() (*Message, error) {
	r.fileCount = 0
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
	if r.fileCount > 0 {
		if m.Files = r.files.take(r.fileCount); m.Files == nil {
			return nil, errors.New("the bus sent a message without its files")
		}
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
		case code == fieldFiles:
			r.fileCount = d.U32()
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
	case fieldReplySerial, fieldFiles:
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

const (
	// stallLimit is the time after which a connection with an unread message counts as dead.
	stallLimit = 10 * time.Second
	// maxWrite is the approximate size of one write of small messages.
	maxWrite = 256 << 10
	// maxReplies is the queue length up to which incoming calls are answered.
	maxReplies = 64
)

// An outgoingFrame holds one frame, or several of a batch. It is queued, then either sent or
// withdrawn; sent may become partlySent. Guarded by Conn.mu.
type outgoingFrame struct {
	frame   []byte
	state   sendState
	written int           // bytes accepted by the socket, if partlySent
	done    chan struct{} // closed when the socket has accepted all of it; may be nil
}

type sendState byte

const (
	queued     sendState = iota
	sent                 // or being written
	withdrawn            // its caller stopped waiting
	partlySent           // the socket did not accept all of it
)

func (o *outgoingFrame) setSerial(serial uint32) { binary.LittleEndian.PutUint32(o.frame[8:], serial) }

// withdraw removes the frame if it is still in the queue.
func (o *outgoingFrame) withdraw() {
	if o.state == queued {
		o.state, o.frame = withdrawn, nil
	}
}

// delivery returns the delivery of the message that ends at a position in the frame, after
// withdraw. The other end ignores an incomplete message.
func (o *outgoingFrame) delivery(end int) aai.Delivery {
	if o.state == withdrawn || o.state == partlySent && o.written < end {
		return aai.NotDelivered
	}
	return aai.DeliveryUnknown
}

// A writeState is the state of the active writer. A caller becomes the writer if there is none, and passes the rest
// to the writing goroutine.
type writeState struct {
	direct  *directWriter // nil if not available
	taken   []*outgoingFrame
	data    []byte // their frames, concatenated
	written int    // bytes of data that the socket accepted
	buffer  []byte // memory for several frames
}

func newWriteState(socket net.Conn) writeState { return writeState{direct: newDirectWriter(socket)} }

// enqueue appends a message to the queue. It reports true if there is no writer: the caller must
// then call writeNow. The caller holds c.mu.
func (c *Conn) enqueue(o *outgoingFrame) (mine bool) {
	c.queue = append(c.queue, o)
	mine = !c.writing
	c.writing = true
	return mine
}

// writeNow writes the queue as far as the socket accepts it without blocking, and passes the rest
// to the writing goroutine. It never blocks.
func (c *Conn) writeNow() {
	if c.out.direct != nil {
		if !c.takeQueue() {
			return
		}
		n, err := c.out.direct.write(c.out.data)
		c.out.written = n
		if err != nil {
			c.failWrites()
			return
		}
		if n == len(c.out.data) && c.finishWrite() {
			return
		}
	}
	c.wake <- struct{}{} // never full: only the writer sends here
}

// write is the writing goroutine. It may wait for the socket.
func (c *Conn) write() {
	for {
		select {
		case <-c.lost:
			return
		case <-c.wake:
		}
		for more := len(c.out.taken) > 0 || c.takeQueue(); more; more = c.takeQueue() {
			if err := c.writeAll(); err != nil {
				c.failWrites()
				return
			}
			if c.finishWrite() {
				break
			}
		}
	}
}

// takeQueue takes messages from the queue and concatenates their frames. It reports false if
// there are none, and the writer is then released. Only the active writer may call it and the
// functions below.
func (c *Conn) takeQueue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	size, n := 0, 0
	for _, o := range c.queue {
		if size > 0 && size+len(o.frame) > maxWrite {
			break
		}
		n++
		if o.state == queued {
			o.state = sent
			size += len(o.frame)
			c.out.taken = append(c.out.taken, o)
		}
	}
	left := copy(c.queue, c.queue[n:])
	clear(c.queue[left:])
	c.queue = c.queue[:left]
	if len(c.out.taken) == 0 {
		c.writing = false
		return false
	}
	c.out.joinFrames(size)
	return true
}

func (b *writeState) joinFrames(size int) {
	b.written = 0
	if len(b.taken) == 1 {
		b.data = b.taken[0].frame
		return
	}
	if cap(b.buffer) < size {
		b.buffer = make([]byte, 0, size)
	}
	b.buffer = b.buffer[:0]
	for _, o := range b.taken {
		b.buffer = append(b.buffer, o.frame...)
	}
	b.data = b.buffer
}

// writeAll writes the rest of the data, and waits for the socket up to stallLimit.
func (c *Conn) writeAll() error {
	if c.out.direct != nil {
		n, err := c.out.direct.write(c.out.data[c.out.written:])
		c.out.written += n
		if err != nil || c.out.written == len(c.out.data) {
			return err
		}
	}
	_ = c.socket.SetWriteDeadline(time.Now().Add(stallLimit))
	n, err := c.socket.Write(c.out.data[c.out.written:])
	c.out.written += n
	_ = c.socket.SetWriteDeadline(time.Time{})
	return err
}

// finishWrite releases the written frames. It reports true if the queue is empty, and the writer
// is then released.
func (c *Conn) finishWrite() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.out.taken {
		o.frame = nil
		if o.done != nil {
			close(o.done)
		}
	}
	c.out.reset()
	c.writing = len(c.queue) > 0
	return !c.writing
}

// failWrites ends the connection after a failed write, and notes for each message how much of it
// was written. No writer is active after it.
func (c *Conn) failWrites() {
	c.mu.Lock()
	left := c.out.written
	for _, o := range c.out.taken {
		o.written = min(left, len(o.frame))
		left -= o.written
		if o.written < len(o.frame) {
			o.state = partlySent
		}
	}
	c.out.reset()
	c.mu.Unlock()
	c.Close()
}

func (b *writeState) reset() {
	clear(b.taken)
	b.taken, b.data = b.taken[:0], nil
}

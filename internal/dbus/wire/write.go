package wire

import (
	"encoding/binary"
	"net"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// stallLimit is the time after which a connection with an unread message counts as dead.
	stallLimit = 10 * time.Second
	// maxWrite is the approximate size of one write of small messages.
	maxWrite = 256 << 10
	// maxRefusals is the queue length up to which refusals are sent.
	maxRefusals = 64
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

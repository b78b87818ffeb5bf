package wire

import (
	"encoding/binary"
	"net"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// stallLimit is how long the other end may leave a message unread before the
	// connection counts as dead.
	stallLimit = 10 * time.Second
	// maxWrite is about how much is written at once, of small messages.
	maxWrite = 256 << 10
	// maxRefusals is how much may be queued when one more refusal is.
	maxRefusals = 64
)

// An outgoing is one frame, or several of a batch, on its way. It is queued, then
// exactly one of sent and withdrawn; sent may turn out to be torn. Guarded by the
// Conn's mu.
type outgoingFrame struct {
	frame   []byte
	state   sendState
	written int           // of a torn one: how much of it the socket took
	done    chan struct{} // closed when the socket took all of it; may be nil
}

type sendState byte

const (
	queued     sendState = iota
	sent                 // or being written at this moment
	withdrawn            // its caller did not wait
	partlySent           // the socket did not take all of it
)

func (o *outgoingFrame) setSerial(serial uint32) { binary.LittleEndian.PutUint32(o.frame[8:], serial) }

// withdraw takes the frame back if it is still in the queue.
func (o *outgoingFrame) withdraw() {
	if o.state == queued {
		o.state, o.frame = withdrawn, nil
	}
}

// delivery says what became of the message that ends at a position in the frame,
// after giveUp. A message that was not written in full is none to the other end.
func (o *outgoingFrame) delivery(end int) aai.Delivery {
	if o.state == withdrawn || o.state == partlySent && o.written < end {
		return aai.NotDelivered
	}
	return aai.DeliveryUnknown
}

// An outbox is what whoever writes has in hand: the caller that found nobody
// writing, or the writing goroutine. It is handed over with the writing.
type writeState struct {
	direct  *directWriter // nil where there is no such thing
	taken   []*outgoingFrame
	data    []byte // their frames, one after the other
	written int    // how much of the data the socket took
	buffer  []byte // where several frames are put together
}

func newWriteState(socket net.Conn) writeState { return writeState{direct: newDirectWriter(socket)} }

// enqueue puts a message in the queue. It reports true if nobody writes: then the
// caller does now, by writeNow. The caller holds c.mu.
func (c *Conn) enqueue(o *outgoingFrame) (mine bool) {
	c.queue = append(c.queue, o)
	mine = !c.writing
	c.writing = true
	return mine
}

// writeNow writes what is queued as far as the socket takes it without waiting.
// What is left it hands over to the writing goroutine. It never waits.
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
	c.wake <- struct{}{} // never full: only who writes comes here
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

// takeQueue takes messages out of the queue and puts their frames together. It
// reports false if there are none; then nobody writes any more. That is for who
// writes, as is all below.
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

// writeAll writes the rest of the data, and waits for the socket as long as is
// right.
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

// finishWrite lets go of what was written. It reports true if nothing more is queued;
// then nobody writes any more.
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

// failWrites ends the connection after a write failed, and says of each message how much
// of it was written. Nobody writes after it.
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

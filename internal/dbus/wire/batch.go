package wire

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// How many calls of a batch are in flight: never more than maxInFlight, and when
// only half of them are left the next ones follow. The buses of desktop sessions
// allow a connection 50,000 (session.conf of the reference implementation); others
// may allow 128 and answer the rest with LimitsExceeded.
const (
	maxInFlight = 512
	fewInFlight = maxInFlight / 2
)

// A Reply is the outcome of one call of a batch: a Message, which may be of the
// kind KindError, or an Err, which is a *TransportError.
type Reply struct {
	Message *Message
	Err     error
}

// A batch is calls that are waited for together. What the reading goroutine needs
// is guarded by the Conn's mu, until the batch is no longer among the Conn's.
type batch struct {
	first    uint32 // the serial of the first message; the others follow
	messages []*Message
	replies  []Reply
	places   []framePosition // of the messages that were posted
	inFlight int             // posted and not answered
	wakeAt   int             // the number in flight at which to wake
	wake     chan struct{}
}

// A slot is where a message of a batch is on its way. That of one which is not
// sent is empty.
type framePosition struct {
	in  *outgoingFrame
	end int // in the frame of in
}

// Batch makes calls, up to 512 of them in flight at a time, and waits for all
// answers. They are in the order of the messages. When the context ends first, or
// the connection, the rest of the replies say so and those that came are kept. For
// each message the same holds as for Call. It starts no goroutines.
func (c *Conn) Batch(ctx context.Context, messages []*Message) []Reply {
	b := &batch{
		messages: messages,
		replies:  make([]Reply, len(messages)),
		places:   make([]framePosition, 0, len(messages)),
		wakeAt:   -1,
		wake:     make(chan struct{}, 1),
	}
	if len(messages) == 0 {
		return b.replies
	}
	c.mu.Lock()
	b.first = c.reserve(uint32(len(messages)))
	c.batches = append(c.batches, b)
	c.mu.Unlock()
	c.abandonBatch(b, c.runBatch(ctx, b))
	return b.replies
}

// runBatch sends everything and waits for all answers. Its error says why it did not.
func (c *Conn) runBatch(ctx context.Context, b *batch) error {
	for len(b.places) < len(b.messages) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.post(b)
		if err := c.waitInFlight(ctx, b, fewInFlight); err != nil {
			return err
		}
	}
	return c.waitInFlight(ctx, b, 0)
}

// post sends as many messages as may be in flight beside those that are, in one
// piece.
func (c *Conn) post(b *batch) {
	c.mu.Lock()
	room := maxInFlight - b.inFlight
	c.mu.Unlock()
	o := &outgoingFrame{}
	places, errs := b.frames(o, room, c.options.PeerToPeer)
	c.mu.Lock()
	for i, err := range errs {
		if err != nil {
			b.replies[len(b.places)+i].Err = &TransportError{aai.NotDelivered, err}
		} else {
			b.inFlight++
		}
	}
	b.places = append(b.places, places...)
	mine := len(o.frame) > 0 && c.enqueue(o)
	c.mu.Unlock()
	if mine {
		c.writeNow()
	}
}

// frames makes the frames of the next messages, at most room of them and about
// maxWrite bytes. An error is that of a message which cannot be sent.
func (b *batch) frames(o *outgoingFrame, room int, toPeer bool) (places []framePosition, errs []error) {
	next := b.messages[len(b.places):]
	next = next[:min(len(next), room)]
	places, errs = make([]framePosition, 0, len(next)), make([]error, 0, len(next))
	o.frame = make([]byte, 0, min(len(next)*next[0].frameSize(), maxWrite))
	for _, m := range next {
		serial := b.first + uint32(len(b.places)+len(places))
		at := framePosition{}
		err := m.check(KindCall, toPeer)
		if err == nil {
			o.frame = m.appendFrame(o.frame, KindCall, m.Flags&^FlagNoReply, serial, toPeer)
			at = framePosition{o, len(o.frame)}
		}
		places, errs = append(places, at), append(errs, err)
		if len(o.frame) >= maxWrite {
			break
		}
	}
	return places, errs
}

// waitInFlight waits until no more than so many calls are in flight. Its error says why
// that will not come to be.
func (c *Conn) waitInFlight(ctx context.Context, b *batch, inFlight int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.wakeAt = inFlight
	for b.inFlight > inFlight {
		c.mu.Unlock()
		var err error
		select {
		case <-b.wake:
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.lost:
			err = ErrConnectionLost
		}
		c.mu.Lock()
		if err != nil && b.inFlight > inFlight {
			return err
		}
	}
	return nil
}

// waitsFor reports whether the serial is that of a call that was not answered, and
// who may answer.
func (b *batch) waitsFor(serial uint32) (to string, waits bool) {
	i := serial - b.first
	if i >= uint32(len(b.places)) || b.places[i].in == nil || b.replies[i].Message != nil {
		return "", false
	}
	return b.messages[i].Destination, true
}

// take takes an answer in.
func (b *batch) take(answer *Message) {
	b.replies[answer.ReplySerial-b.first].Message = answer
	b.inFlight--
	if b.inFlight == b.wakeAt {
		select {
		case b.wake <- struct{}{}:
		default: // it is awake already
		}
	}
}

// abandonBatch lets go of the batch. Calls without an answer end with the cause.
func (c *Conn) abandonBatch(b *batch, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.batches {
		if other == b {
			c.batches = append(c.batches[:i], c.batches[i+1:]...)
			break
		}
	}
	for i := range b.replies {
		r := &b.replies[i]
		if r.Message != nil || r.Err != nil {
			continue
		}
		delivery := aai.NotDelivered
		if i < len(b.places) {
			b.places[i].in.withdraw()
			delivery = b.places[i].in.delivery(b.places[i].end)
		}
		r.Err = &TransportError{delivery, cause}
	}
}

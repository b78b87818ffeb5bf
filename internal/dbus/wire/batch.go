package wire

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// The number of calls of a batch in flight: at most maxInFlight, and refilled when half of them
// are left. Buses of desktop sessions allow a connection 50,000 (session.conf of the reference
// implementation); others may allow 128 and answer the rest with LimitsExceeded.
const (
	maxInFlight = 512
	fewInFlight = maxInFlight / 2
)

// A Reply is the outcome of one call of a batch. Message is the answer, possibly of the kind KindError. Without an
// answer, Err is a *TransportError.
type Reply struct {
	Message *Message
	Err     error
}

// A batch is a list of calls with a common wait. Conn.mu guards the fields that the reading
// goroutine uses, as long as the batch is in Conn.batches.
type batch struct {
	first    uint32 // serial of the first message; the others follow
	messages []*Message
	replies  []Reply
	places   []framePosition // of the posted messages
	inFlight int             // posted and not answered
	wakeAt   int             // number in flight at which to wake
	wake     chan struct{}
}

// A framePosition is the place of a message in an outgoing frame. It is empty for a message that
// is not sent.
type framePosition struct {
	in  *outgoingFrame
	end int // end of the message in the frame
}

// Batch makes calls, up to 512 in flight at a time, and waits for all answers. It returns them in the order of the
// messages. If the context or the connection ends first, it is the cause of each missing reply's *TransportError. The
// rules of Call apply to each message. Batch starts no goroutines.
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

// runBatch sends everything and waits for all answers, or returns an error.
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

// post sends as many further messages as may be in flight, in one write.
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

// frames returns the frames of the next messages, at most room of them and about maxWrite bytes.
// The errors are those of messages that cannot be sent.
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

// waitInFlight waits until at most inFlight calls are in flight, or returns an error.
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

// waitsFor reports whether the serial is that of an unanswered call, and returns the destination
// that may answer.
func (b *batch) waitsFor(serial uint32) (to string, waits bool) {
	i := serial - b.first
	if i >= uint32(len(b.places)) || b.places[i].in == nil || b.replies[i].Message != nil {
		return "", false
	}
	return b.messages[i].Destination, true
}

// take stores an answer, and wakes the batch's caller if few enough calls are left in flight.
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

// abandonBatch removes the batch. Unanswered calls end with the cause.
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

// A pendingCall is a call that awaits its answer.
type pendingCall struct {
	outgoingFrame
	to     string        // the destination that may answer
	answer chan *Message // buffered for one
}

// Call sends the message as a method call and waits for the answer, possibly of the kind KindError. Without an answer
// it returns a *TransportError. Call ignores m.Kind and FlagNoReply. Any peer on the bus may answer for a well-known
// name, so a unique name is a better destination.
func (c *Conn) Call(ctx context.Context, m *Message) (*Message, error) {
	if err := c.admit(ctx, m, KindCall); err != nil {
		return nil, err
	}
	p := &pendingCall{to: m.Destination, answer: make(chan *Message, 1)}
	p.frame = m.appendFrame(make([]byte, 0, m.frameSize()), KindCall, m.Flags&^FlagNoReply, 0, c.options.PeerToPeer)
	size := len(p.frame)
	c.mu.Lock()
	serial := c.reserve(1)
	p.setSerial(serial)
	c.pending[serial] = p
	mine := c.enqueue(&p.outgoingFrame)
	c.mu.Unlock()
	if mine {
		c.writeNow()
	}
	var cause error
	select {
	case answer := <-p.answer:
		return answer, nil
	case <-ctx.Done():
		cause = ctx.Err()
	case <-c.lost:
		cause = ErrConnectionLost
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, serial)
	select {
	case answer := <-p.answer: // it arrived with the last bytes
		return answer, nil
	default:
	}
	p.withdraw()
	return nil, &TransportError{p.delivery(size), cause}
}

// Send sends a message of its Kind, or a call if it has none, and expects no reply. It waits until the socket has
// accepted the message. Its error is a *TransportError.
func (c *Conn) Send(ctx context.Context, m *Message) error {
	kind := m.Kind
	if kind == 0 {
		kind = KindCall
	}
	if err := c.admit(ctx, m, kind); err != nil {
		return err
	}
	o := &outgoingFrame{done: make(chan struct{})}
	o.frame = m.appendFrame(make([]byte, 0, m.frameSize()), kind, m.Flags|FlagNoReply, 0, c.options.PeerToPeer)
	size := len(o.frame)
	c.mu.Lock()
	o.setSerial(c.reserve(1))
	mine := c.enqueue(o)
	c.mu.Unlock()
	if mine {
		c.writeNow()
	}
	var cause error
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
		cause = ctx.Err()
	case <-c.lost:
		cause = ErrConnectionLost
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-o.done:
		return nil
	default:
	}
	o.withdraw()
	return &TransportError{o.delivery(size), cause}
}

// admit returns a *TransportError if the message cannot be sent.
func (c *Conn) admit(ctx context.Context, m *Message, kind byte) error {
	err := ctx.Err()
	if err == nil && !c.IsAlive() {
		err = ErrConnectionLost
	}
	if err == nil {
		err = m.check(kind, c.options.PeerToPeer)
	}
	if err != nil {
		return &TransportError{aai.NotDelivered, err}
	}
	return nil
}

// reserve returns the first of n consecutive unused serials, none of which is 0. The caller holds
// c.mu.
func (c *Conn) reserve(n uint32) uint32 {
	for {
		first, last := c.serial+1, c.serial+n
		c.serial = last
		if first != 0 && first <= last && !c.isAwaited(first, last) {
			return first
		}
	}
}

// isAwaited reports whether a call awaits one of the serials, which is possible after they wrap
// around.
func (c *Conn) isAwaited(first, last uint32) bool {
	for _, b := range c.batches {
		if first <= b.first+uint32(len(b.messages)-1) && b.first <= last {
			return true
		}
	}
	if first == last {
		return c.pending[first] != nil
	}
	for serial := range c.pending {
		if first <= serial && serial <= last {
			return true
		}
	}
	return false
}

package wire

import (
	"context"

	"github.com/gybob/aai-gateway"
)

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

package dbus

import (
	"context"
	"errors"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Attempts at a call that certainly reached nobody, and the pause before the
// second one, which doubles.
const (
	maxAttempts = 3
	firstPause  = 50 * time.Millisecond
)

// A target is the object that a tool works on.
type target struct {
	bus             *bus
	service         string
	path            string
	iface           string
	member          string // the method, or the property
	requiresRunning bool   // none is started, not by the bus either
	// start starts the app where the bus cannot; nil: nothing does.
	start func(context.Context) (runs func() bool, err error)
}

// A failure is how an attempt ended, and whether it may be made again: only where
// nothing was delivered.
type failure struct {
	err       *aai.Error
	retryable bool
}

// undelivered is the failure of something that came before the call itself. When
// the connection was lost there, another one is worth a try.
func (f *failure) undelivered() *failure {
	f.err.Delivery = aai.NotDelivered
	switch {
	case errors.Is(f.err, wire.ErrConnectionLost):
		f.retryable = true
		f.err.Hint = "The app did not get the call. Try again."
	case f.err.Code == aai.Timeout:
		f.err.Hint = "The app did not get the call. It, or the bus, may be busy or frozen."
	}
	return f
}

// A peer is the target's present owner on the present connection.
type peer struct {
	*target
	link  *busLink
	owner string
}

// A prepareFunc makes the message for the peer. It may ask the peer first.
type prepareFunc func(ctx context.Context, p *peer) (*wire.Message, *failure)

// callPeer makes one call: it finds the peer, has the message prepared and sends
// it. It tries again where nothing was delivered, and never otherwise. Its
// error says what became of the message.
func (t *target) callPeer(ctx context.Context, prepare prepareFunc) (*wire.Message, error) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		reply, f := t.attempt(ctx, prepare)
		if f == nil {
			return reply, nil
		}
		if !f.retryable || attempt == maxAttempts || t.bus.sleep(ctx, pause) != nil {
			return nil, f.err
		}
		pause *= 2
	}
}

func (t *target) attempt(ctx context.Context, prepare prepareFunc) (*wire.Message, *failure) {
	l, err := t.bus.connect(ctx)
	if err != nil {
		return nil, (&failure{err: t.noBus(err)}).undelivered()
	}
	owner, f := t.bus.owner(ctx, l, t)
	if f != nil {
		return nil, f
	}
	p := &peer{target: t, link: l, owner: owner}
	if denied := l.names.deniedNameOf(owner); denied != "" {
		return nil, &failure{err: unreachable("service", t.service+", which is also "+denied+",")}
	}
	m, f := prepare(ctx, p)
	if f != nil {
		return nil, f.undelivered()
	}
	return p.call(ctx, m)
}

// call sends a message to the peer and waits for the reply.
func (p *peer) call(ctx context.Context, m *wire.Message) (*wire.Message, *failure) {
	if err := p.checkRequest(m); err != nil {
		return nil, &failure{err: aai.AsError(err)}
	}
	m.Destination, m.Path = p.owner, p.path
	reply, err := p.link.Call(ctx, m)
	if err != nil {
		return nil, p.lostFailure(err)
	}
	if reply.Kind == wire.KindError {
		return nil, p.failed(ctx, reply)
	}
	if reply.OversizedBody > 0 {
		return nil, &failure{err: p.oversized(reply.OversizedBody)}
	}
	return reply, nil
}

// failed reads an error message and takes its consequences for what we remember.
func (p *peer) failed(ctx context.Context, reply *wire.Message) *failure {
	f := p.errorFailure(reply)
	switch name := reply.ErrorName; {
	case isStale(name):
		p.link.objects.drop(p.owner, p.path)
	case p.service == wire.BusName:
		// What the bus says of names is then its answer, and not about the call.
	case reply.Sender == wire.BusName && isNoOwner(name):
		// Nobody is there under the unique name any more: the message reached
		// no one, and the service may have come back under another.
		p.link.names.forget(p.service)
		return &failure{err: p.goneError("it has left the bus"), retryable: true}
	case reply.Sender == wire.BusName && name == errorPrefix+"NoReply" && !p.isPresent(ctx):
		f.err = p.goneError("it ended while it was working on the call")
		f.err.Delivery = aai.DeliveryUnknown
	}
	return f
}

// isPresent asks whether the peer is still on the bus. When in doubt, it is.
func (p *peer) isPresent(ctx context.Context) bool {
	answer, err := p.link.CallBus(ctx, "NameHasOwner", p.owner)
	if err != nil || answer.Kind != wire.KindReply {
		return true
	}
	values, err := valuesOf(answer)
	return err != nil || len(values) != 1 || values[0] != false
}

// lostFailure is the failure of a call to which no answer came.
func (t *target) lostFailure(err error) *failure {
	if errors.Is(err, wire.ErrInvalid) {
		return &failure{err: t.unsendable(err)}
	}
	f := &failure{err: t.unanswered(err)}
	var transport *wire.TransportError
	if errors.As(err, &transport) && transport.Delivery == aai.NotDelivered {
		return f.undelivered()
	}
	return f
}

package dbus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Attempts at a call that was certainly not delivered, and the pause before the second attempt.
// The pause doubles.
const (
	maxAttempts = 3
	firstPause  = 50 * time.Millisecond
)

// target is the object of a tool, with the member to call.
type target struct {
	bus             *bus
	service         string
	path            string
	iface           string
	member          string // the method or the property
	signature       string // of the method's arguments, if the descriptor gives it
	requiresRunning bool   // do not start the service, not through the bus either
	// start starts the app if the bus cannot; nil means that nothing can.
	start func(context.Context) (runs func() bool, err error)
}

// failure is the error of an attempt. It is retryable only if nothing was delivered.
type failure struct {
	err       *aai.Error
	retryable bool
}

// undelivered marks a failure that occurred before the call itself. If the cause is a lost
// connection, the failure is retryable.
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

// peer is the target's current owner on the current connection.
type peer struct {
	*target
	link  *busLink
	owner string
}

// prepareFunc builds the message for the peer. It may call the peer to do so.
type prepareFunc func(ctx context.Context, p *peer) (*wire.Message, *failure)

// callPeer makes one call: it finds the peer, prepares the message and sends it. It retries only
// if nothing was delivered. Its error has Delivery set.
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

// failed converts an error message into a failure and drops outdated cache entries.
func (p *peer) failed(ctx context.Context, reply *wire.Message) *failure {
	f := p.errorFailure(reply)
	switch name := reply.ErrorName; {
	case isStale(name):
		p.link.objects.drop(p.owner, p.path)
	case p.service == wire.BusName:
		// An error about names is the bus's own answer here.
	case reply.Sender == wire.BusName && isNoOwner(name):
		// The unique name has no owner any more, so nothing was delivered. The service may have
		// returned under another unique name.
		p.link.names.forget(p.service)
		return &failure{err: p.goneError("it has disconnected from the bus"), retryable: true}
	case reply.Sender == wire.BusName && name == errorPrefix+"NoReply" && !p.isPresent(ctx):
		f.err = p.goneError("it ended while it was working on the call")
		f.err.Delivery = aai.DeliveryUnknown
	}
	return f
}

// isPresent reports whether the peer is still on the bus, and true in doubt.
func (p *peer) isPresent(ctx context.Context) bool {
	answer, err := p.link.CallBus(ctx, "NameHasOwner", p.owner)
	if err != nil || answer.Kind != wire.KindReply {
		return true
	}
	values, err := valuesOf(answer)
	return err != nil || len(values) != 1 || values[0] != false
}

// lostFailure returns the failure of a call that got no reply.
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

// Values of a recipe's OutputParser; empty means unparsed.
const (
	parseString = "string"
	parseJSON   = "json"
)

// noValueText is the text for a reply without a value. It claims no more than the reply does.
const noValueText = "The app answered without a value."

func checkParser(name string) error {
	switch name {
	case "", parseString, parseJSON:
		return nil
	}
	return invalid("output_parser", `"json", "string" or none`, name)
}

// combineValues combines the values of a reply into one.
func combineValues(values []any, names []string) any {
	switch {
	case len(values) == 0:
		return nil
	case len(values) == 1:
		return values[0]
	case len(names) != len(values):
		return values
	}
	object := make(map[string]any, len(values))
	for i, name := range names {
		object[name] = values[i]
	}
	return object
}

// result converts the app's reply into the tool's result. The app has acted, so a reply that
// contradicts the descriptor remains unparsed: a reply that should be JSON in a string but is no
// string is already data.
func (t *target) result(data any, parser string) (*aai.Result, error) {
	if text, ok := data.(string); ok && parser == parseJSON {
		return parsed(text), nil
	}
	text, err := textOf(data)
	if err != nil {
		return nil, t.unreadable(err)
	}
	if data == nil && parser != parseString {
		text = noValueText
	}
	return &aai.Result{Text: text, Data: data}, nil
}

// textOf returns a string unchanged, and every other value as compact JSON.
func textOf(data any) (string, error) {
	switch data := data.(type) {
	case nil:
		return "", nil
	case string:
		return data, nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(data)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// parsed decodes JSON in a string and keeps the spelling of numbers. A text that is not JSON
// becomes text with a warning.
func parsed(text string) *aai.Result {
	var result aai.Result
	var raw json.RawMessage
	err := json.Unmarshal([]byte(text), &raw)
	if err == nil {
		var compact bytes.Buffer
		_ = json.Compact(&compact, raw) // valid JSON
		result.Text = compact.String()
		d := json.NewDecoder(&compact)
		d.UseNumber()
		err = d.Decode(&result.Data)
	}
	if err == nil {
		return &result
	}
	at := int64(len(text))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	}
	return &aai.Result{
		Text:    text,
		Warning: fmt.Sprintf("the app's answer should be JSON and is not, at byte %d: %v; it is given as text", at, err),
	}
}

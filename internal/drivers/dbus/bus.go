package dbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"aai"
	"aai/internal/dbuswire"
)

// dialLimit is how long the making of a connection may take, however long the
// calls that wait for it would.
const dialLimit = 15 * time.Second

var errClosed = errors.New("the driver is closed")

// A bus is the session or the system bus, with the one connection that all calls
// share. It is dialled at the first call and again when it was lost. Safe for
// concurrent use.
type bus struct {
	name    string // "session" or "system"
	address func() (string, error)
	log     *slog.Logger
	sleep   func(context.Context, time.Duration) error // between attempts

	mu      sync.Mutex
	live    *link
	dialing *dialing
	closed  bool
	seen    map[string]bool // services that have had an owner
}

// A link is a connection and what is known of those at its other end.
type link struct {
	*dbuswire.Conn
	names   *nameTable
	objects *objectCache
}

// A dialing is a connection in the making, for which any number of calls wait.
type dialing struct {
	done   chan struct{}
	cancel context.CancelFunc
	link   *link
	err    error
}

func newBus(name string, address func() (string, error), log *slog.Logger) *bus {
	return &bus{name: name, address: address, log: log, sleep: aai.Pause, seen: map[string]bool{}}
}

// connect returns the connection, and makes it where there is none. Each caller
// waits no longer than its own context allows.
func (b *bus) connect(ctx context.Context) (*link, error) {
	b.mu.Lock()
	switch {
	case b.closed:
		b.mu.Unlock()
		return nil, errClosed
	case b.live != nil && b.live.Alive():
		defer b.mu.Unlock()
		return b.live, nil
	}
	d := b.dialing
	if d == nil {
		d = b.startDialing(ctx)
	}
	b.mu.Unlock()
	select {
	case <-d.done:
		return d.link, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// startDialing makes the connection in a goroutine that outlives the call which
// came first, for the sake of the others. The caller holds b.mu.
func (b *bus) startDialing(ctx context.Context) *dialing {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialLimit)
	d := &dialing{done: make(chan struct{}), cancel: cancel}
	b.dialing = d
	go func() {
		defer cancel()
		l, err := b.dial(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("it did not answer within %s", dialLimit)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.closed {
			if l != nil {
				l.Close()
			}
			l, err = nil, errClosed
		}
		d.link, d.err = l, err
		b.live, b.dialing = l, nil
		close(d.done)
	}()
	return d
}

func (b *bus) dial(ctx context.Context) (*link, error) {
	address, err := b.address()
	if err != nil {
		return nil, err
	}
	l := &link{names: newNameTable(), objects: newObjectCache()}
	if l.Conn, err = dbuswire.Dial(ctx, address, dbuswire.Options{OnSignal: l.heard}); err != nil {
		return nil, err
	}
	if err := l.settle(ctx); err != nil {
		l.Close()
		return nil, err
	}
	b.log.Debug("connected to the bus", "bus", b.name)
	return l, nil
}

// settle introduces us to the bus and learns who holds the denied names. The
// match comes first, so that no change is missed.
func (l *link) settle(ctx context.Context) error {
	if _, err := l.Hello(ctx); err != nil {
		return err
	}
	match := "type='signal',sender='" + dbuswire.BusName + "',path='" + dbuswire.BusPath +
		"',interface='" + dbuswire.BusInterface + "',member='NameOwnerChanged'"
	if _, err := l.demand(ctx, "AddMatch", match); err != nil {
		return err
	}
	listed, err := l.demand(ctx, "ListNames")
	if err != nil {
		return err
	}
	names, _ := listed[0].([]any)
	for _, name := range taintedIn(names) {
		version := l.names.version()
		answer, err := l.Ask(ctx, "GetNameOwner", name)
		if err != nil {
			return err
		}
		// An error means that the name was given up; a changed version, that
		// NameOwnerChanged told us more than this answer does.
		if owner, err := textsOf(answer, 1); err == nil && answer.Kind == dbuswire.KindReply {
			l.names.learn(name, owner[0], version)
		}
	}
	return nil
}

// demand asks the bus for what it must not refuse. The answer holds at least one
// value, which may be nil.
func (l *link) demand(ctx context.Context, member string, args ...string) ([]any, error) {
	answer, err := l.Ask(ctx, member, args...)
	if err != nil {
		return nil, err
	}
	if answer.Kind == dbuswire.KindError {
		return nil, fmt.Errorf("the bus refused %s: %s", member, aai.CleanLabel(answer.ErrorName, 100))
	}
	values, err := valuesOf(answer)
	if err != nil {
		return nil, err
	}
	return append(values, nil), nil
}

// heard takes in a signal. Only the bus itself may speak of names.
func (l *link) heard(m *dbuswire.Message) {
	if m.Sender != dbuswire.BusName || m.Member != "NameOwnerChanged" {
		return
	}
	args, err := textsOf(m, 3)
	if err != nil {
		return
	}
	name, owner := args[0], args[2]
	l.names.changed(name, owner)
	if strings.HasPrefix(name, ":") && owner == "" {
		l.objects.dropOwner(name)
	}
}

// owner finds who has the service's name and has the bus start the service if
// nobody does.
func (b *bus) owner(ctx context.Context, l *link, t *target) (string, *failure) {
	if t.service == dbuswire.BusName {
		return dbuswire.BusName, nil
	}
	if owner := l.names.owner(t.service); owner != "" {
		return owner, nil
	}
	var owner string
	started := false
	for attempt := 0; attempt < 3; attempt++ {
		version := l.names.version()
		answer, err := l.Ask(ctx, "GetNameOwner", t.service)
		if err != nil {
			return "", t.lost(err).undelivered()
		}
		if answer.Kind == dbuswire.KindError && t.running {
			return "", &failure{err: t.gone("it does not run, and was not to be started")}
		}
		if answer.Kind == dbuswire.KindError {
			if answer, err = l.Call(ctx, startRequest(t.service)); err != nil {
				return "", t.lost(err).undelivered()
			}
			if answer.Kind == dbuswire.KindError {
				if started || t.start == nil || answer.ErrorName != errorPrefix+"ServiceUnknown" {
					return "", b.notStarted(t, answer)
				}
				if f := t.launch(ctx, l); f != nil {
					return "", f
				}
				started = true
			}
			continue
		}
		texts, err := textsOf(answer, 1)
		if err != nil {
			return "", &failure{err: t.unreadable(err)}
		}
		owner = texts[0]
		if l.names.learn(t.service, owner, version) {
			break
		}
	}
	if owner == "" {
		return "", &failure{err: t.gone("it was started, but ended at once"), again: true}
	}
	b.mu.Lock()
	b.seen[t.service] = true
	b.mu.Unlock()
	return owner, nil
}

// notStarted says why the bus did not start a service. One that ran before may
// just be restarting, so that is worth another try.
func (b *bus) notStarted(t *target, answer *dbuswire.Message) *failure {
	if answer.ErrorName != errorPrefix+"ServiceUnknown" {
		return t.refused(answer).undelivered()
	}
	b.mu.Lock()
	ran := b.seen[t.service]
	b.mu.Unlock()
	if ran {
		return &failure{err: t.gone("it has left the bus"), again: true}
	}
	return &failure{err: t.absent()}
}

func (b *bus) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.live != nil {
		b.live.Close()
	}
	if b.dialing != nil {
		b.dialing.cancel()
	}
}

package dbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// dialTimeout limits one connection attempt, however long the waiting calls would wait.
const dialTimeout = 15 * time.Second

var errClosed = errors.New("the driver is closed")

// bus is the session or the system bus, with one connection that all calls share. The first call
// dials it, as does the first call after a lost connection. It is safe for concurrent use.
type bus struct {
	name    string // "session" or "system"
	address func() (string, error)
	log     *slog.Logger
	sleep   func(context.Context, time.Duration) error // between attempts

	mu      sync.Mutex
	link    *busLink
	dialing *pendingDial
	closed  bool
	seen    map[string]bool // services that have had an owner
}

// busLink is a connection with the cached names and objects of its peers.
type busLink struct {
	*wire.Conn
	names   *nameTable
	objects *objectCache
}

// pendingDial is a connection attempt, for which any number of calls wait.
type pendingDial struct {
	done   chan struct{}
	cancel context.CancelFunc
	link   *busLink
	err    error
}

func newBus(name string, address func() (string, error), log *slog.Logger) *bus {
	return &bus{name: name, address: address, log: log, sleep: aai.Sleep, seen: map[string]bool{}}
}

// connect returns the connection and dials if there is none. Each caller waits no longer than its
// own context allows.
func (b *bus) connect(ctx context.Context) (*busLink, error) {
	b.mu.Lock()
	switch {
	case b.closed:
		b.mu.Unlock()
		return nil, errClosed
	case b.link != nil && b.link.IsAlive():
		defer b.mu.Unlock()
		return b.link, nil
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

// startDialing dials in a goroutine that outlives the first caller, because other callers wait for
// it too. The caller holds b.mu.
func (b *bus) startDialing(ctx context.Context) *pendingDial {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
	d := &pendingDial{done: make(chan struct{}), cancel: cancel}
	b.dialing = d
	go func() {
		defer cancel()
		l, err := b.dial(ctx, (*busLink).handleSignal)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("it did not answer within %s", dialTimeout)
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
		b.link, b.dialing = l, nil
		close(d.done)
	}()
	return d
}

// dial opens a connection that passes its signals to handle.
func (b *bus) dial(ctx context.Context, handle func(*busLink, *wire.Message)) (*busLink, error) {
	address, err := b.address()
	if err != nil {
		return nil, err
	}
	l := &busLink{names: newNameTable(), objects: newObjectCache()}
	if l.Conn, err = wire.Dial(ctx, address, wire.Options{OnSignal: func(m *wire.Message) { handle(l, m) }}); err != nil {
		return nil, err
	}
	if err := l.initialize(ctx); err != nil {
		l.Close()
		return nil, err
	}
	b.log.Debug("connected to the bus", "bus", b.name)
	return l, nil
}

// initialize registers the connection and finds the owners of the denied names. It adds the match
// rule first, so that it misses no change.
func (l *busLink) initialize(ctx context.Context) error {
	if _, err := l.Hello(ctx); err != nil {
		return err
	}
	match := "type='signal',sender='" + wire.BusName + "',path='" + wire.BusPath +
		"',interface='" + wire.BusInterface + "',member='NameOwnerChanged'"
	if _, err := l.mustCall(ctx, "AddMatch", match); err != nil {
		return err
	}
	listed, err := l.mustCall(ctx, "ListNames")
	if err != nil {
		return err
	}
	names, _ := listed[0].([]any)
	for _, name := range taintedIn(names) {
		version := l.names.version()
		answer, err := l.CallBus(ctx, "GetNameOwner", name)
		if err != nil {
			return err
		}
		// An error means that the owner released the name. A changed version means that
		// NameOwnerChanged brought newer data than this answer.
		if owner, err := textsOf(answer, 1); err == nil && answer.Kind == wire.KindReply {
			l.names.learn(name, owner[0], version)
		}
	}
	return nil
}

// mustCall calls a method that the bus must not refuse. The returned slice has at least one value,
// which may be nil.
func (l *busLink) mustCall(ctx context.Context, member string, args ...string) ([]any, error) {
	answer, err := l.CallBus(ctx, member, args...)
	if err != nil {
		return nil, err
	}
	if answer.Kind == wire.KindError {
		return nil, fmt.Errorf("the bus refused %s: %s", member, aai.CleanLabel(answer.ErrorName, 100))
	}
	values, err := valuesOf(answer)
	if err != nil {
		return nil, err
	}
	return append(values, nil), nil
}

// handleSignal processes a signal. It accepts name changes from the bus only.
func (l *busLink) handleSignal(m *wire.Message) {
	if m.Sender != wire.BusName || m.Member != "NameOwnerChanged" {
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

// owner returns the unique name of the service's owner. If there is none, it starts the service.
func (b *bus) owner(ctx context.Context, l *busLink, t *target) (string, *failure) {
	if t.service == wire.BusName {
		return wire.BusName, nil
	}
	if owner := l.names.owner(t.service); owner != "" {
		return owner, nil
	}
	var owner string
	started := false
	for attempt := 0; attempt < 3; attempt++ {
		version := l.names.version()
		answer, err := l.CallBus(ctx, "GetNameOwner", t.service)
		if err != nil {
			return "", t.lostFailure(err).undelivered()
		}
		if answer.Kind == wire.KindError && t.requiresRunning {
			return "", &failure{err: t.goneError("it does not run, and the call does not start it")}
		}
		if answer.Kind == wire.KindError {
			if answer, err = l.Call(ctx, startRequest(t.service)); err != nil {
				return "", t.lostFailure(err).undelivered()
			}
			if answer.Kind == wire.KindError {
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
		return "", &failure{err: t.goneError("it was started, but ended at once"), retryable: true}
	}
	b.mu.Lock()
	b.seen[t.service] = true
	b.mu.Unlock()
	return owner, nil
}

// notStarted explains why the bus did not start a service. A service with an earlier owner may be
// restarting, so its failure is retryable.
func (b *bus) notStarted(t *target, answer *wire.Message) *failure {
	if answer.ErrorName != errorPrefix+"ServiceUnknown" {
		return t.errorFailure(answer).undelivered()
	}
	b.mu.Lock()
	ran := b.seen[t.service]
	b.mu.Unlock()
	if ran {
		return &failure{err: t.goneError("it has disconnected from the bus"), retryable: true}
	}
	return &failure{err: t.absentError()}
}

func (b *bus) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.link != nil {
		b.link.Close()
	}
	if b.dialing != nil {
		b.dialing.cancel()
	}
}

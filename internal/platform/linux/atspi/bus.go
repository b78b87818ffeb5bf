package atspi

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Names of at-spi2-core: bus/at-spi-bus-launcher.c and registryd.
const (
	launcherName    = "org.a11y.Bus"
	launcherPath    = "/org/a11y/bus"
	statusInterface = "org.a11y.Status"
	registryName    = "org.a11y.atspi.Registry"
	registryPath    = "/org/a11y/atspi/registry"
	rootPath        = "/org/a11y/atspi/accessible/root"
	cachePath       = "/org/a11y/atspi/cache"
)

// defaultTimeout is the time limit of a method called without a deadline.
const defaultTimeout = 30 * time.Second

// Config configures a Bus.
type Config struct {
	// Getenv looks up variables of the person's session, for the address of its bus; each dial calls it.
	// Nil means that no variable is set.
	Getenv func(name string) string
	// Windows lists the windows of the screen. With it, Apps includes apps that have a window but no tree,
	// and elements get a Frame in toolkits that do not know the position of their windows (GTK 4). May be
	// nil.
	Windows desktop.Windows
	// HasRelativeFrames reports whether apps do not know where their windows are, whatever their toolkit, as on
	// Wayland. Nil means no.
	HasRelativeFrames func(ctx context.Context) bool
	// KeepOpen keeps a connection open until its other end closes it, even after this process has ended. An
	// app hangs if the connection that opened a dialog ends before the dialog closes. Calling release undoes
	// that. Nil keeps no connection open.
	KeepOpen func(*os.File) (release func(), err error)
	// Log receives messages about problems that no call returns. Nil discards them.
	Log *slog.Logger
}

// A Bus reads and operates apps by AT-SPI2. It implements desktop.Tree, desktop.Actor and desktop.Events,
// is safe for concurrent use, and returns *aai.Errors.
//
// The first method that connects to the accessibility bus, except Ready, switches accessibility on for the
// login (org.a11y.Status.IsEnabled), as every assistive program does. It stays on: other programs may
// depend on it by then, and apps check it only once. Bus never announces a screen reader.
type Bus struct {
	config    Config
	requests  *requests
	version   atomic.Uint64 // of the last distinct snapshot
	processes processCache

	dialling chan struct{} // held while dialling
	mu       sync.Mutex
	closed   bool
	link     *link // the last one; it may be lost
}

// A link is one connection to one accessibility bus, with all data about the apps on it. It is discarded
// when the connection is lost.
type link struct {
	conn    *wire.Conn
	records appRecords

	mu       sync.Mutex
	programs map[string]*program // by desktop.App.Key
	senders  map[string]*program // by unique name; only programs with subscribed events
}

// New returns a Bus. It does no I/O: the first call that needs a bus dials it, and so does the first call
// after a lost connection.
func New(c Config) *Bus {
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Bus{config: c, requests: newRequests(), dialling: make(chan struct{}, 1)}
}

// Close closes the connections to the accessibility bus and to the apps. Calls in flight end, watched
// channels are closed, and later calls fail with APP_NOT_RUNNING.
func (b *Bus) Close() {
	b.mu.Lock()
	b.closed = true
	l := b.link
	b.mu.Unlock()
	if l != nil {
		for _, p := range l.all() {
			p.releaseActConns()
		}
		l.conn.Close()
	}
}

// all returns all known programs.
func (l *link) all() []*program {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.programs))
}

// withDefaultTimeout adds a deadline to a context without one.
func withDefaultTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, defaultTimeout)
}

// connect returns the live connection to the accessibility bus, or dials a new one.
func (b *Bus) connect(ctx context.Context) (*link, error) {
	if l, err := b.current(); l != nil || err != nil {
		return l, err
	}
	select {
	case b.dialling <- struct{}{}:
		defer func() { <-b.dialling }()
	case <-ctx.Done():
		return nil, noBus("nobody answered in time", ctx.Err())
	}
	if l, err := b.current(); l != nil || err != nil {
		return l, err
	}
	address, err := b.accessibility(ctx)
	if err != nil {
		return nil, err
	}
	l := &link{programs: map[string]*program{}, senders: map[string]*program{}}
	if l.conn, err = dialBus(ctx, address, l.signal); err != nil {
		return nil, noBus("the accessibility bus cannot be reached", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		l.conn.Close()
		return nil, errClosed()
	}
	b.link = l
	go l.awaitLoss()
	return l, nil
}

// current returns the connection if it is alive, otherwise nil.
func (b *Bus) current() (*link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, errClosed()
	case b.link != nil && b.link.conn.IsAlive():
		return b.link, nil
	}
	return nil, nil
}

// accessibility switches accessibility on and returns the address of its bus.
func (b *Bus) accessibility(ctx context.Context) (string, error) {
	session, err := b.dialSession(ctx)
	if err != nil {
		return "", err
	}
	defer session.Close()
	address, err := launcherAddress(ctx, session, 0)
	if err != nil {
		return "", err
	}
	if on, err := enabled(ctx, session); err != nil || on {
		return address, nil // GTK apps provide a tree even without the switch
	}
	e := wire.Encoder{}
	e.Str(statusInterface)
	e.Str("IsEnabled")
	e.Signature("b")
	e.Bool(true)
	answer, err := session.Call(ctx, &wire.Message{Destination: launcherName, Path: launcherPath,
		Interface: propertiesInterface, Member: "Set", Signature: "ssv", Body: e.Bytes()})
	if err == nil && answer.Kind == wire.KindError {
		err = replyError(answer)
	}
	if err != nil {
		b.config.Log.Warn("accessibility could not be switched on", "error", err)
	} else {
		b.config.Log.Info("accessibility was switched on for this login (org.a11y.Status.IsEnabled)")
	}
	return address, nil
}

// dialSession connects to the session bus. It does not start one.
func (b *Bus) dialSession(ctx context.Context) (*wire.Conn, error) {
	address, err := wire.SessionAddress(b.config.Getenv)
	if err != nil {
		return nil, noBus("there is no session bus", err)
	}
	session, err := dialBus(ctx, address, nil)
	if err != nil && ctx.Err() != nil {
		return nil, noBus("the session bus does not answer", errors.Join(ctx.Err(), err))
	}
	if err != nil {
		return nil, noBus("the session bus cannot be reached", err)
	}
	return session, nil
}

func dialBus(ctx context.Context, address string, onSignal func(*wire.Message)) (*wire.Conn, error) {
	conn, err := wire.Dial(ctx, address, wire.Options{OnSignal: onSignal})
	if err != nil {
		return nil, err
	}
	if _, err := conn.Hello(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// launcherAddress returns the address of the accessibility bus. The call starts the launcher if it is not
// running, unless flags forbid it.
func launcherAddress(ctx context.Context, session *wire.Conn, flags byte) (string, error) {
	answer, err := session.Call(ctx, &wire.Message{Flags: flags, Destination: launcherName, Path: launcherPath,
		Interface: launcherName, Member: "GetAddress"})
	if err != nil {
		return "", noBus("the accessibility bus was asked for and nobody answered", err)
	}
	if answer.Kind == wire.KindError {
		return "", noBus("there is no accessibility bus", replyError(answer))
	}
	d := answer.Decoder()
	address := d.Str()
	if err := d.Err(); err != nil || address == "" {
		return "", noBus("the accessibility bus has no address", err)
	}
	return address, nil
}

// enabled reads whether accessibility is switched on.
func enabled(ctx context.Context, session *wire.Conn) (bool, error) {
	q := property(statusInterface, "IsEnabled")
	answer, err := session.Call(ctx, &wire.Message{Destination: launcherName, Path: launcherPath,
		Interface: q.iface, Member: q.member, Signature: q.signature, Body: q.body})
	if err != nil {
		return false, err
	}
	if answer.Kind == wire.KindError {
		return false, replyError(answer)
	}
	d := answer.Decoder()
	if sig := d.Variant(); sig != "b" {
		return false, aai.Errorf(aai.AutomationFailed, "IsEnabled is of the type %q, expected b", sig)
	}
	on := d.Bool()
	return on, d.Err()
}

// awaitLoss waits for the loss of the connection and then ends all programs and their watchers.
func (l *link) awaitLoss() {
	<-l.conn.Done()
	for _, p := range l.all() {
		p.end()
	}
}

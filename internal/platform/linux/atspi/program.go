package atspi

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// peerPatience is the time limit for an app to accept a connection on its own socket. A slower app is
// queried over the bus.
const peerPatience = time.Second

// A program is an app on the accessibility bus, with its cached state.
type program struct {
	bus    *Bus
	link   *link
	app    desktop.App
	sender string // its unique name
	root   ref

	identifyLock chan struct{} // held while identify runs
	// cache holds the tree and the app's events. It is closed when the app or the bus has ended.
	cache        *treecache.Cache[ref, *tree]
	windows      int           // number at the last reading; only the reader uses it
	visibleState atomic.Uint64 // of the last snapshot's tree; 0 without one
	inFlight     inFlightLimit
	gathered     atomic.Bool // page properties are collected, see gathers
	// gatheredWords reports whether the frames of words are collected, see placeWords.
	gatheredWords atomic.Bool
	offscreen     atomic.Bool  // off-screen elements were requested at least once
	pressed       atomic.Int64 // time of the last press by an action, in nanoseconds
	passwords     treecache.PasswordFields[ref]

	mu         sync.Mutex
	identified bool
	socket     *wire.Conn // to the app itself, for queries only
	address    string     // of the app's own socket, "" if it has none
	cells      []wantedCell
	actConns   []*actConn // of actions that may be unfinished
	deviations *profile   // a zero profile until the app is identified
}

// program returns the program of an app, and identifies it if necessary.
func (b *Bus) program(ctx context.Context, app desktop.App) (*program, error) {
	l, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	if app.Key == "" {
		if app, err = b.find(ctx, app); err != nil {
			return nil, err
		}
	}
	slash := strings.IndexByte(app.Key, '/')
	if slash <= 0 || !wire.ValidBusName(app.Key[:slash]) || !wire.ValidPath(app.Key[slash:]) {
		return nil, treeless(app)
	}
	root := ref{app.Key[:slash], app.Key[slash:]}
	l.mu.Lock()
	p := l.programs[app.Key]
	if p == nil {
		p = &program{bus: b, link: l, app: app, sender: root.sender, root: root, identifyLock: make(chan struct{}, 1), deviations: &profile{}}
		p.cache = treecache.New(p, treecache.Config{
			Version: func() uint64 { return b.version.Add(1) },
			OnRead:  func(beat treecache.Heartbeat) { l.records.noteIdle(root, p.windows, beat) },
		})
		l.programs[app.Key], l.senders[p.sender] = p, p
	}
	l.mu.Unlock()
	if p.app.PID != app.PID {
		return nil, ended(app, nil) // the name belongs to another process by now
	}
	if err := p.identify(ctx); err != nil {
		return nil, failed(app, err)
	}
	return p, nil
}

// find looks up an app by its process.
func (b *Bus) find(ctx context.Context, app desktop.App) (desktop.App, error) {
	apps, err := b.Apps(ctx)
	if err != nil {
		return app, err
	}
	for _, a := range apps {
		if a.PID == app.PID {
			return a, nil
		}
	}
	return app, ended(app, nil)
}

// treeless returns the error for an app that has windows but no tree.
func treeless(app desktop.App) *aai.Error {
	hint := app.HiddenReason
	if hint == "" {
		hint = "Look at a picture of its window instead."
	}
	return &aai.Error{Code: aai.AutomationNotSupported, Message: label(app) + " shows no tree of its elements", Hint: hint, Delivery: aai.NotDelivered}
}

// acquire acquires a lock that is a channel of capacity one.
func acquire(ctx context.Context, lock chan struct{}) error {
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// identify checks, once, that the app belongs to the expected process, probes its profile, and subscribes to
// its events.
func (p *program) identify(ctx context.Context) error {
	if met, over := p.identification(); over {
		return ended(p.app, nil)
	} else if met {
		return nil
	}
	if err := acquire(ctx, p.identifyLock); err != nil {
		return err
	}
	defer func() { <-p.identifyLock }()
	if met, _ := p.identification(); met {
		return nil
	}
	pid, err := processOf(ctx, p.link.conn, p.sender)
	if err != nil || pid != p.app.PID {
		p.end()
		if err == nil {
			err = ended(p.app, nil)
		}
		return err
	}
	if err := p.subscribe(ctx); err != nil {
		return err
	}
	is, address, err := p.askProfile(ctx)
	if err != nil {
		return err
	}
	socket := p.dialPeer(ctx, address, peerPatience)
	p.cache.SetTrust(is.trust)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.identified, p.deviations, p.socket, p.address = true, &is, socket, address
	return nil
}

func (p *program) identification() (met, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.identified, p.cache.IsClosed()
}

// askProfile queries the toolkit and the address of the app's own socket. The latter query also makes
// atk-bridge list its objects.
func (p *program) askProfile(ctx context.Context) (is profile, address string, err error) {
	r := &batch{}
	var toolkit, version, name string
	lists, ask := false, p.bus.requests
	r.add(ask.name, p.root, func(d *wire.Decoder) { name, _ = readText(d) })
	r.add(ask.toolkit, p.root, func(d *wire.Decoder) { toolkit, _ = readText(d) })
	r.add(ask.toolkitVersion, p.root, func(d *wire.Decoder) { version, _ = readText(d) })
	r.add(ask.peerAddress, p.root, func(d *wire.Decoder) { address, lists = d.Str(), d.Err() == nil })
	if err := r.dispatch(p.link.conn.Batch(ctx, r.messages)); err != nil {
		return is, "", err
	}
	is = newProfile(toolkit, version, name, lists)
	if relative := p.bus.config.HasRelativeFrames; relative != nil && relative(ctx) {
		is.windowRelative, is.comparesSizes = true, true
	}
	return is, address, nil
}

// dialPeer connects to the app's own socket, or returns nil: a sandbox may hide it, or the app may be busy.
// For queries the socket is only faster; for actions, see newActConn.
func (p *program) dialPeer(ctx context.Context, address string, patience time.Duration) *wire.Conn {
	if !strings.HasPrefix(address, "unix:") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	socket, err := wire.Dial(ctx, address, wire.Options{PeerToPeer: true})
	if err != nil {
		p.bus.config.Log.Debug("the app's own socket cannot be reached", "app", p.app.ID, "error", err)
		return nil
	}
	return socket
}

// peer returns the connection to the app's own socket, or nil.
func (p *program) peer() *wire.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.socket
}

// dropPeer discards the connection to the app's own socket.
func (p *program) dropPeer(socket *wire.Conn) {
	socket.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.socket == socket {
		p.socket = nil
	}
}

// profile returns the profile of the app.
func (p *program) profile() *profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deviations
}

// end removes the program after it or its bus has ended, and closes its watchers.
func (p *program) end() {
	p.link.mu.Lock()
	delete(p.link.programs, p.root.sender+p.root.path)
	if p.link.senders[p.sender] == p {
		delete(p.link.senders, p.sender)
	}
	p.link.mu.Unlock()
	p.releaseActConns()
	p.mu.Lock()
	socket := p.socket
	p.socket = nil
	p.mu.Unlock()
	p.cache.Close()
	if socket != nil {
		socket.Close()
	}
}

// processOf queries the process ID of a bus name.
func processOf(ctx context.Context, conn *wire.Conn, name string) (int, error) {
	answer, err := conn.CallBus(ctx, "GetConnectionUnixProcessID", name)
	if err != nil {
		return 0, err
	}
	if answer.Kind == wire.KindError {
		return 0, replyError(answer)
	}
	d := answer.Decoder()
	pid := d.U32()
	return int(pid), d.Err()
}

// Limits for the answers of an app that are in memory at a time.
const (
	minInFlight = 32      // queries in flight to a new app
	maxInFlight = 512     // to an app with short answers
	longReplies = 4 << 20 // total bytes of a batch's answers; above that, one at a time
)

// An inFlightLimit limits the number of queries in flight to an app: many, unless the app's answers are so
// long that they would fill the memory. The zero value is ready; it is safe for concurrent use.
type inFlightLimit struct{ size atomic.Int32 }

// run sends the queries and dispatches the answers as they arrive. It returns the first error.
func (a *inFlightLimit) run(ctx context.Context, conn *wire.Conn, r *batch) error {
	var first error
	for from := 0; from < len(r.messages); {
		size := max(int(a.size.Load()), minInFlight)
		if a.size.Load() < 0 {
			size = 1
		}
		to := min(from+size, len(r.messages))
		replies := conn.Batch(ctx, r.messages[from:to])
		a.learn(replies, size)
		part := batch{waiters: r.waiters[from:to]}
		if err := part.dispatch(replies); err != nil {
			if first == nil {
				first = err
			}
			if ctx.Err() != nil || !conn.IsAlive() {
				return first
			}
		}
		from = to
	}
	return first
}

// learn adapts the limit to the size of the last answers.
func (a *inFlightLimit) learn(replies []wire.Reply, size int) {
	total := 0
	for _, reply := range replies {
		if reply.Message != nil {
			total += len(reply.Message.Body)
		}
	}
	switch {
	case total > longReplies && len(replies) > 1:
		a.size.Store(-1)
	case a.size.Load() >= 0 && len(replies) == size:
		a.size.Store(int32(min(2*size, maxInFlight)))
	}
}

package atspi

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// peerPatience is how long an app may take to open its own socket to us. One that
// takes longer is asked over the bus.
const peerPatience = time.Second

// A program is an app on the accessibility bus, and what is known of it.
type program struct {
	bus    *Bus
	link   *link
	app    desktop.App
	sender string // its unique name
	root   ref

	identifyLock chan struct{} // held by who asks what the app can do
	// cache keeps what was read, and the app's events; those are over when it has ended,
	// or the bus has.
	cache        *treecache.Cache[ref, *tree]
	windows      int           // in the last reading; for who reads
	visibleState atomic.Uint64 // of the tree of the last snapshot; 0 if there is none
	inFlight     inFlightLimit
	gathered     atomic.Bool  // what its pages say, see gathers
	offscreen    atomic.Bool  // what is out of view is wanted too, from when somebody first did
	pressed      atomic.Int64 // when something was last pressed by asking, in nanoseconds
	passwords    treecache.PasswordFields[ref]

	mu         sync.Mutex
	identified bool
	socket     *wire.Conn // to the app itself, for what only asks
	address    string     // of the app's own socket, "" if it says none
	cells      []wantedCell
	actConns   []*actConn // of acts that may not be over
	traits     traits
}

// What toolkits call themselves, and one program: LibreOffice says that it is "gtk".
const (
	chromium = "Chromium"
	gecko    = "Gecko"
	qt       = "Qt"
	office   = "soffice"
)

// browser reports whether programs of the toolkit show pages, which are in other processes.
func browser(toolkit string) bool { return toolkit == chromium || toolkit == gecko }

// traits are what an app can do and how it means what it says. They are found out
// by asking, since they differ between versions of a toolkit.
type traits struct {
	toolkit string // as it calls itself, such as "gtk" or "Qt"
	major   int    // the first number of the toolkit's version
	// peers says that it is of the family that answers GetApplicationBusAddress
	// (atk-bridge). It lists all of its objects at once, and tells of all changes.
	peers bool
	// unlisted says that it must not be asked for all of its objects at once: LibreOffice
	// keeps some of them in that list after they have gone, and ends of it.
	unlisted bool
}

// trust is how far it can be gone by what the app tells of itself. Of the family that
// lists its objects Chromium alone leaves out what [program.check] looks after.
func (t traits) trust() treecache.Trust {
	switch {
	case t.toolkit == chromium && t.peers:
		return treecache.TrustChecked
	case t.peers:
		return treecache.TrustEvents
	}
	return treecache.Untrusted
}

// utf16 reports whether lengths of text are in UTF-16 units; else they are in
// bytes. Source: Qt's atspiadaptor.cpp cuts a QString; atk-bridge and GTK hand the
// number on to functions that count bytes.
func (t traits) utf16() bool { return t.toolkit == qt }

// rowsOfTables reports whether only rows of tables can be selected, and a table says nowhere
// that it can hold several. Source: GTK's gtktreeviewaccessible.c.
func (t traits) rowsOfTables() bool { return t.toolkit == "gtk" && t.major < 4 && !t.unlisted }

// addsSelected reports whether a list that may hold several does not say so, and selects one
// more where it is to select one.
func (t traits) addsSelected() bool { return strings.EqualFold(t.toolkit, "gtk") && t.major >= 4 }

// plainActions reports whether the list of an element's actions has their names as
// they are. Source: Qt's atspiadaptor.cpp.
func (t traits) plainActions() bool { return t.toolkit == qt }

// windowRelative reports whether the app does not know where on the screen its
// windows are: GTK 4 has forgotten all about it.
func (t traits) windowRelative() bool { return strings.EqualFold(t.toolkit, "gtk") && t.major >= 4 }

// program finds the program that an app is, and makes its acquaintance.
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
		p = &program{bus: b, link: l, app: app, sender: root.sender, root: root, identifyLock: make(chan struct{}, 1)}
		p.cache = treecache.New(p, treecache.Config{
			Version: func() uint64 { return b.version.Add(1) },
			OnRead:  func(beat treecache.Heartbeat) { l.records.noteIdle(root, p.windows, beat) },
		})
		l.programs[app.Key], l.senders[p.sender] = p, p
	}
	l.mu.Unlock()
	if p.app.PID != app.PID {
		return nil, ended(app, nil) // the name was given to another process
	}
	if err := p.identify(ctx); err != nil {
		return nil, failed(app, err)
	}
	return p, nil
}

// find looks up an app of which only the process is known.
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

// treeless is the error for an app that has windows but no tree.
func treeless(app desktop.App) *aai.Error {
	hint := app.HiddenReason
	if hint == "" {
		hint = "Look at a picture of its window instead."
	}
	return &aai.Error{Code: aai.AutomationNotSupported, Message: label(app) + " shows no tree of its elements", Hint: hint, Delivery: aai.NotDelivered}
}

// acquire takes a lock that is a channel of one.
func acquire(ctx context.Context, lock chan struct{}) error {
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// identify asks, once, that the app is the process it is taken for, what it can do,
// and for its events.
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
	t, address, err := p.askTraits(ctx)
	if err != nil {
		return err
	}
	socket := p.dialPeer(ctx, address, peerPatience)
	p.cache.SetTrust(t.trust())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.identified, p.traits, p.socket, p.address = true, t, socket, address
	return nil
}

func (p *program) identification() (met, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.identified, p.cache.IsClosed()
}

// askTraits asks for the toolkit, and for the address of the app's own socket. To
// have asked for that also makes atk-bridge list its objects.
func (p *program) askTraits(ctx context.Context) (t traits, address string, err error) {
	r := &batch{}
	var version, name string
	ask := p.bus.requests
	r.add(ask.name, p.root, func(d *wire.Decoder) { name, _ = readText(d) })
	r.add(ask.toolkit, p.root, func(d *wire.Decoder) { t.toolkit, _ = readText(d) })
	r.add(ask.toolkitVersion, p.root, func(d *wire.Decoder) { version, _ = readText(d) })
	r.add(ask.peerAddress, p.root, func(d *wire.Decoder) { address, t.peers = d.Str(), d.Err() == nil })
	if err := r.dispatch(p.link.conn.Batch(ctx, r.messages)); err != nil {
		return t, "", err
	}
	number, _, _ := strings.Cut(version, ".")
	t.major, _ = strconv.Atoi(number)
	t.unlisted = name == office
	return t, address, nil
}

// dialPeer connects to the app's own socket, or returns nil: a sandbox may hide it, an
// app may be busy. To ask is only faster there; as to acts, see newLine.
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

// dropPeer forgets the app's own socket.
func (p *program) dropPeer(socket *wire.Conn) {
	socket.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.socket == socket {
		p.socket = nil
	}
}

// currentTraits returns what is known of how the app behaves.
func (p *program) currentTraits() traits {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.traits
}

// end forgets the program: it has ended, or its bus has. Who watches it is told.
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

// processOf asks the bus which process has a name.
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

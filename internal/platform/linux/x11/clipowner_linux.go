package x11

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// chunk is the maximum size of one piece of a clip, in bytes.
const chunk = 128 << 10

// Limits for programs that fetch a clip in pieces: their number at the same time, and the
// time for one piece.
const (
	maxTransfers     = 64
	transferPatience = 30 * time.Second
)

// An event is an event about selections; X11 protocol, section 11.
type event struct {
	code      byte
	time      uint32
	window    xid // the event's window; of a SelectionRequest the requestor
	selection xid
	target    xid
	property  xid
	deleted   bool // of a PropertyNotify
}

// The codes of the events.
const (
	propertyNotify   = 28
	selectionClear   = 29
	selectionRequest = 30
	selectionNotify  = 31
)

func parseEvent(buf []byte) event {
	e := event{code: buf[0] & 0x7f}
	r := from(buf, 4)
	switch e.code {
	case propertyNotify:
		e.window, e.property, e.time = r.u32(), r.u32(), r.u32()
		e.deleted = r.u8() == 1
	case selectionClear:
		e.time, e.window, e.selection = r.u32(), r.u32(), r.u32()
	case selectionRequest:
		e.time = r.u32()
		r.take(4)
		e.window, e.selection, e.target, e.property = r.u32(), r.u32(), r.u32(), r.u32()
	case selectionNotify:
		e.time, e.window, e.selection, e.target, e.property = r.u32(), r.u32(), r.u32(), r.u32(), r.u32()
	}
	return e
}

// A clipboardConn is the connection for the clipboard. One goroutine serves other programs
// as long as the connection lives.
type clipboardConn struct {
	*server
	window xid           // the owner of the selection
	owning chan struct{} // held while setting a clip
	news   chan struct{} // signals new events to serve
	stamps <-chan event  // events of the own window
	lost   chan struct{} // another program copied something

	mu              sync.Mutex
	queue           []event
	listeners       map[xid]chan event // by window
	deferredWindows []xid              // windows of readers that gave up before the answer came
	owned           *ownedClip
	transfers       map[transferKey]*transfer
}

// ownedClip is the gateway's clip on the clipboard.
type ownedClip struct {
	clip desktop.Clip
	time uint32
}

// A transfer is a clip that a program fetches in pieces, through a property of one of the
// program's windows.
type transfer struct {
	kind xid
	rest []byte
	last time.Time
}

type transferKey struct{ window, property xid }

func newClipboardConn(ctx context.Context, d *Display) (*clipboardConn, error) {
	c := &clipboardConn{
		owning: make(chan struct{}, 1), news: make(chan struct{}, 1), lost: make(chan struct{}, 1),
		listeners: make(map[xid]chan event), transfers: make(map[transferKey]*transfer),
	}
	s, err := d.connect(ctx, c.heard)
	if err != nil {
		return nil, err
	}
	c.server, c.window = s, s.newID()
	c.stamps = c.listen(c.window)
	if err := c.must(ctx, createWindow(c.window, c.root, propertyChange)); err != nil {
		s.lose(err)
		return nil, err
	}
	go c.serve() //nolint:gosec // it lives as long as the connection, not as long as the call that made it
	return c, nil
}

// alive reports whether the connection works, even with few free IDs: a new one would
// lose the clip.
func (c *clipboardConn) alive() bool { return c.conn.alive() }

// heard queues an event for serve, and passes it to the listener of its window. It runs
// in the reading goroutine, so it must not block.
func (c *clipboardConn) heard(buf []byte) {
	const maxQueue = 10000 // a program that floods the queue loses answers
	c.mu.Lock()
	defer c.mu.Unlock()
	e := parseEvent(buf)
	if listener := c.listeners[e.window]; listener != nil && e.code != selectionRequest {
		select {
		case listener <- e:
		default:
		}
	}
	if len(c.queue) < maxQueue {
		c.queue = append(c.queue, e)
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// listen returns the events of one of the gateway's windows.
func (c *clipboardConn) listen(window xid) <-chan event {
	events := make(chan event, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners[window] = events
	return events
}

func (c *clipboardConn) unlisten(window xid) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.listeners, window)
}

// deferDestroy keeps a window until its answer comes. Beyond the limit, the oldest is destroyed.
func (c *clipboardConn) deferDestroy(ctx context.Context, window xid) {
	const most = 64
	c.mu.Lock()
	c.deferredWindows = append(c.deferredWindows, window)
	full, oldest := len(c.deferredWindows) > most, c.deferredWindows[0]
	c.mu.Unlock()
	if full {
		c.destroyDeferred(ctx, oldest)
	}
}

// destroyDeferred destroys a window after its late answer.
func (c *clipboardConn) destroyDeferred(ctx context.Context, window xid) {
	c.mu.Lock()
	i := slices.Index(c.deferredWindows, window)
	if i >= 0 {
		c.deferredWindows = slices.Delete(c.deferredWindows, i, i+1)
	}
	c.mu.Unlock()
	if i >= 0 {
		_ = c.do(ctx, destroyWindow(window)) // otherwise it is destroyed with the connection
	}
}

// own puts a clip on the clipboard. An empty clip empties the clipboard.
func (c *clipboardConn) own(ctx context.Context, clip desktop.Clip) error {
	select {
	case c.owning <- struct{}{}:
		defer func() { <-c.owning }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now, err := c.now(ctx)
	if err != nil {
		return err
	}
	selection := c.atoms["CLIPBOARD"]
	if clip.Text == "" && len(clip.PNG) == 0 {
		return c.must(ctx, setSelectionOwner(none, selection, now))
	}
	c.mu.Lock()
	c.owned = &ownedClip{clip: clip, time: now}
	c.mu.Unlock()
	owner := getSelectionOwner(selection)
	if err := c.must(ctx, setSelectionOwner(c.window, selection, now), owner); err != nil {
		return err
	}
	if id := from(owner.reply, 8).u32(); id != c.window {
		return fmt.Errorf("another program took the clipboard at the same time")
	}
	return nil
}

// now returns the server's time, which ICCCM requires for selections. It gets the time by
// appending nothing to a property.
func (c *clipboardConn) now(ctx context.Context) (uint32, error) {
	mark := c.atoms["AAI_CLIPBOARD"]
	if err := c.must(ctx, changeProperty(appendProperty, c.window, mark, atomString, 8, nil)); err != nil {
		return 0, err
	}
	var latest uint32
	for {
		e, err := c.await(ctx, c.stamps)
		if err != nil {
			return 0, err
		}
		if e.code == propertyNotify && e.property == mark {
			latest = e.time
		}
		if latest != 0 && len(c.stamps) == 0 {
			return latest, nil
		}
	}
}

// serve answers other programs until the connection ends.
func (c *clipboardConn) serve() {
	for {
		select {
		case <-c.gone:
			return
		case <-c.news:
		}
		c.mu.Lock()
		events := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, e := range events {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			c.handle(ctx, e)
			cancel()
		}
	}
}

// handle processes one event. It ignores errors: either the other program's window is gone, or the
// connection has ended, and then the loop in serve returns.
func (c *clipboardConn) handle(ctx context.Context, e event) {
	switch e.code {
	case selectionClear:
		c.mu.Lock()
		if c.owned != nil && int32(e.time-c.owned.time) >= 0 {
			c.owned = nil
			select {
			case c.lost <- struct{}{}:
			default:
			}
		}
		c.mu.Unlock()
	case selectionRequest:
		c.answer(ctx, e)
	case selectionNotify:
		c.destroyDeferred(ctx, e.window)
	case propertyNotify:
		if e.deleted {
			c.proceed(ctx, transferKey{e.window, e.property})
		}
	}
}

func (c *clipboardConn) shut(ctx context.Context) { c.server.shut(ctx) }

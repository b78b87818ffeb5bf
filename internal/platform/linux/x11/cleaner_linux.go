package x11

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A cleaner runs cleanups at the end of calls. A cleanup runs even after the call's
// deadline, but then the caller does not wait for it.
type cleaner struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when no cleanup runs any more; nil if none runs
}

// cleanUp runs clean, with a limit of closePatience. If the context ends first, cleanUp
// returns at once and clean continues.
func (t *cleaner) cleanUp(ctx context.Context, clean func(context.Context) error) error {
	t.begin()
	done := make(chan error, 1)
	go func() {
		defer t.end()
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), closePatience)
		defer cancel()
		done <- clean(cleanup)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *cleaner) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running++; t.running == 1 {
		t.idle = make(chan struct{})
	}
}

func (t *cleaner) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running--; t.running == 0 {
		close(t.idle)
		t.idle = nil
	}
}

// wait waits until all cleanups have ended.
func (t *cleaner) wait(ctx context.Context) {
	t.mu.Lock()
	idle := t.idle
	t.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// GTK 3 queries the pointer of each event that it reads. If that pointer is gone, GTK
// exits the program, and unsaved data is lost. So the own seat stays until the programs
// have read all of its events, and is parked before, so that no more events arrive.

// unreadWindows are the windows on which the own seat was used since it was parked.
type unreadWindows struct {
	mu      sync.Mutex
	windows map[xid]bool
	parked  bool
}

// add records a use of the seat on the window.
func (r *unreadWindows) add(window xid) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.windows == nil {
		r.windows = make(map[xid]bool)
	}
	r.windows[window], r.parked = true, false
}

// unread returns the windows whose programs may not have read all events.
func (r *unreadWindows) unread() []xid {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.windows))
}

// remove records that the window's program has read all events.
func (r *unreadWindows) remove(window xid) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.windows, window)
}

// startPark reports whether the seat still has to be parked, and marks it as parked.
func (r *unreadWindows) startPark() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.parked
	r.parked = true
	return !was
}

// Times for programs to read the own seat's events: before the next try, and at the end of
// a gateway. A program that hangs for longer then may exit.
const (
	readSoon  = 300 * time.Millisecond
	readAtEnd = 3 * time.Second
)

// parkAndAwaitRead parks the seat, and reports whether all programs have read its events.
// Programs that do not answer pings get a fixed time (leavePatience).
func (d *Display) parkAndAwaitRead(ctx context.Context, own *ownSeat, within time.Duration) bool {
	if err := own.park(ctx); err != nil {
		return true // the server is gone or hangs: nothing more can be done
	}
	person, ok := d.main.peek(ctx)
	if !ok {
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	for _, window := range own.unreadWindows.unread() {
		for _, of := range person.sameProgram(ctx, window) {
			if answers, err := person.answersPings(ctx, of); err != nil || !answers {
				continue
			}
			if person.ping(ctx, of) != nil && person.conn.alive() {
				return false
			}
			break
		}
		own.unreadWindows.remove(window)
	}
	return true
}

// awaitRead waits until programs have read all events of the own seat, if there is one.
func (d *Display) awaitRead(ctx context.Context) {
	own, ok := d.own.peek(ctx)
	if !ok || !own.alive() || len(own.unreadWindows.unread()) == 0 {
		return
	}
	d.parkAndAwaitRead(ctx, own, readAtEnd)
}

// sameProgram returns the managed windows of the program that owns or owned the window: a
// key may have closed the window, while its program still runs.
func (s *server) sameProgram(ctx context.Context, window xid) []xid {
	list := getProperty(s.root, s.atoms["_NET_CLIENT_LIST"], 4*maxTops, false)
	if s.must(ctx, list) != nil {
		return []xid{window}
	}
	var own []xid
	for _, id := range list.property().numbers() {
		if id&^s.setup.idMask == window&^s.setup.idMask {
			own = append(own, id)
		}
	}
	if len(own) == 0 {
		return []xid{window}
	}
	return own
}

// noteUse records the window on which the own seat is used.
func (h inputConn) noteUse(window desktop.WindowID) {
	if id, err := windowOf(window); err == nil && h.own != nil {
		h.own.unreadWindows.add(id)
	}
}

package x11

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// GTK 3 asks the server where the pointer is of which it reads an event, and takes it for
// its own fault if that pointer is no more: the program ends, with all that was not saved.
// So our own seat stays until the programs that it was used on have read all that came of
// it, and is parked before, so that nothing more comes.

// unreadWindows are the windows that our own seat was used on since it was parked.
type unreadWindows struct {
	mu      sync.Mutex
	windows map[xid]bool
	parked  bool
}

// add notes that the seat is used on the window.
func (r *unreadWindows) add(window xid) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.windows == nil {
		r.windows = make(map[xid]bool)
	}
	r.windows[window], r.parked = true, false
}

// unread are the windows of which it is not known that their programs have read all.
func (r *unreadWindows) unread() []xid {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.windows))
}

// remove notes that the window's program has read all.
func (r *unreadWindows) remove(window xid) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.windows, window)
}

// startPark reports whether the seat is to be parked, which it is then.
func (r *unreadWindows) startPark() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.parked
	r.parked = true
	return !was
}

// How long programs may take to read what came of our seat: before it is looked again, and
// at the end of a gateway. One that hangs for longer then may end of it.
const (
	readSoon  = 300 * time.Millisecond
	readAtEnd = 3 * time.Second
)

// parkAndAwaitRead parks the seat, and reports whether all programs that it was used on have read
// all that came of it. Those that do not tell are given a moment (leavePatience).
func (d *Display) parkAndAwaitRead(ctx context.Context, own *ownSeat, within time.Duration) bool {
	if err := own.park(ctx); err != nil {
		return true // the server is gone, or stands still: nothing more can be done
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

// awaitRead waits until all is read that our own seat did, if there is one.
func (d *Display) awaitRead(ctx context.Context) {
	own, ok := d.own.peek(ctx)
	if !ok || !own.alive() || len(own.unreadWindows.unread()) == 0 {
		return
	}
	d.parkAndAwaitRead(ctx, own, readAtEnd)
}

// sameProgram are the windows that the window manager manages of the program that has the
// window, or had it: what a key closes is gone by then, and its program is not.
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

// noteUse notes on what our own seat is used.
func (h inputConn) noteUse(window desktop.WindowID) {
	if id, err := windowOf(window); err == nil && h.own != nil {
		h.own.unreadWindows.add(id)
	}
}

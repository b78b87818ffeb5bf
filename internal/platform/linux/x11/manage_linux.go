package x11

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Manage sends a request to the window manager, by ICCCM and EWMH, and returns when the
// server has forwarded it.
func (d *Display) Manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	const doing = "asking the window manager"
	window, err := windowOf(id)
	if err != nil {
		return err
	}
	s, err := d.server(ctx)
	if err != nil {
		return err
	}
	managed, err := s.managed(ctx)
	if err != nil {
		return wrapError(doing, err)
	}
	if !managed {
		e := aai.Errorf(aai.AutomationNotSupported, "no window manager runs on this screen, so nobody can %s a window", wish)
		e.Hint = "Act on an element of the window instead, such as its own button to close it."
		e.Delivery = aai.NotDelivered
		return e
	}
	if err := s.must(ctx, getGeometry(window)); err != nil {
		return windowFailure(doing, err)
	}
	var ask *call
	switch wish {
	case desktop.Raise:
		ask = raiseWindow(window) // the server redirects it to the window manager
	case desktop.Restore:
		ask = mapWindow(window) // redirected as well: ICCCM 4.1.4
	case desktop.Minimize:
		const iconic = 3
		ask = s.toManager(window, "WM_CHANGE_STATE", iconic)
	case desktop.Close:
		const currentTime, tool = 0, 2
		ask = s.toManager(window, "_NET_CLOSE_WINDOW", currentTime, tool)
	default:
		return notDeliveredError(aai.InvalidParams, "a window cannot %q", wish)
	}
	if err := s.must(ctx, ask); err != nil {
		return windowFailure(doing, err)
	}
	return nil
}

// toManager returns the request that sends the window manager a message about a window.
func (s *server) toManager(window xid, message string, data ...uint32) *call {
	const substructureRedirect = 1 << 20
	return sendEvent(s.root, substructureRedirect|substructureNotify, s.clientMessage(window, message, data...))
}

// pongs are the pending answers of programs to pings; EWMH, "_NET_WM_PING". A program
// answers after it has handled earlier events of its window, so an answer means that it
// has read the pressed keys.
type pongs struct {
	mu      sync.Mutex
	waiting map[uint32]chan struct{} // by the number that the answer repeats
}

func newPongs() *pongs { return &pongs{waiting: make(map[uint32]chan struct{})} }

// heard passes an answer to the ping that waits for it. It runs in the reading goroutine.
func (p *pongs) heard(event []byte) {
	const clientMessage = 33
	if event[0]&0x7f != clientMessage || len(event) < 32 {
		return
	}
	number := binary.NativeEndian.Uint32(event[16:])
	p.mu.Lock()
	defer p.mu.Unlock()
	if answered := p.waiting[number]; answered != nil {
		close(answered)
		delete(p.waiting, number)
	}
}

func (p *pongs) expect() (number uint32, answered <-chan struct{}) {
	// A window manager puts the time here; programs ignore the number. It is random
	// because there may be another gateway.
	number = rand.Uint32() //nolint:gosec // nothing is secret
	waiting := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[number] = waiting
	return number, waiting
}

func (p *pongs) forget(number uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, number)
}

// answersPings reports whether the window's program supports _NET_WM_PING.
func (s *server) answersPings(ctx context.Context, window xid) (bool, error) {
	protocols := getProperty(window, s.atoms["WM_PROTOCOLS"], 256, false)
	if err := s.must(ctx, protocols); err != nil {
		return false, err
	}
	return s.pongs != nil && slices.Contains(protocols.property().numbers(), s.atoms["_NET_WM_PING"]), nil
}

// ping waits until the window's program has handled all earlier events.
func (s *server) ping(ctx context.Context, window xid) error {
	number, answered := s.pongs.expect()
	defer s.pongs.forget(number)
	message := s.clientMessage(window, "WM_PROTOCOLS", s.atoms["_NET_WM_PING"], number, window)
	// The answer goes to the root. Qt sends it without the mask for children.
	if err := s.must(ctx, selectEvents(s.root, structureNotify|substructureNotify), sendEvent(window, 0, message)); err != nil {
		return err
	}
	defer func() {
		_ = s.cleanUp(ctx, func(ctx context.Context) error { return s.must(ctx, selectEvents(s.root, 0)) })
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case <-answered:
		return nil
	case <-s.gone:
		return s.lostError()
	case <-timer.C:
		err = context.DeadlineExceeded
	case <-ctx.Done():
		err = ctx.Err()
	}
	e := *aai.AsError(wrapError("typing", err))
	e.Message = "the program of the window does not read its keys"
	e.Hint = "It may hang. Try again in a moment."
	return &e
}

// settleSoon is settle with half of closePatience, which leaves time for later cleanups.
func (s *server) settleSoon(ctx context.Context, window xid, answers bool) error {
	ctx, cancel := context.WithTimeout(ctx, closePatience/2)
	defer cancel()
	return s.settle(ctx, window, answers)
}

// settle waits until the window's program has handled its events, or for the time settle
// if the program does not answer pings.
func (s *server) settle(ctx context.Context, window xid, answers bool) error {
	if answers {
		return s.ping(ctx, window)
	}
	return aai.Sleep(ctx, settle)
}

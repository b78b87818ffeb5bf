package x11

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

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

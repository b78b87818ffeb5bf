package x11

import (
	"context"
	"sync"
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

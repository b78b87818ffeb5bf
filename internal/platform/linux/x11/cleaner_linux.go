package x11

import (
	"context"
	"sync"
)

// A tidier cleans up at the end of calls. Cleaning must happen also when a call's
// time is up, but then the caller does not wait for it.
type cleaner struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when none runs; nil where none does
}

// cleanUp cleans up, which may take a second. If the context ends before, it
// returns at once and the cleaning goes on without it.
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

// wait waits until all is clean.
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

package audit

import (
	"context"
	"fmt"
	"sync"
)

// fillEvery is how many records are made, by whichever process, before the index is
// brought up to date beside the calls, so that who asks for the history has little to
// wait for.
const fillEvery = 20_000

// A filler brings the index up to date, one at a time in a process. It is there only
// while it does.
type indexFiller struct {
	every   uint64 // fillEvery
	mu      sync.Mutex
	cancel  context.CancelFunc
	running chan struct{} // closed when it ends; nil if there is none
}

// fillIfDue fills the index if another so many records are full.
func (j *Journal) fillIfDue(before, after uint64) {
	if before/j.filler.every == after/j.filler.every {
		return
	}
	f := &j.filler
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	running := make(chan struct{})
	f.cancel, f.running = cancel, running
	go func() {
		defer close(running)
		defer cancel()
		err := j.withIndex(ctx, func(*indexer) error { return nil })
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			j.warn(fmt.Errorf("the index of the history: %w", err))
		}
	}()
}

// stop ends the filling, which goes on where it was the next time.
func (f *indexFiller) stop() {
	f.mu.Lock()
	running, cancel := f.running, f.cancel
	f.mu.Unlock()
	if running != nil {
		cancel()
		<-running
	}
}

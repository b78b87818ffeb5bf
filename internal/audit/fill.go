package audit

import (
	"context"
	"fmt"
	"sync"
)

// fillEvery is the number of records, by all processes, after which the index is updated
// in the background. It keeps the wait for the history short.
const fillEvery = 20_000

// An indexFiller updates the index, at most once at a time in a process. Its goroutine
// exists only during an update.
type indexFiller struct {
	every   uint64 // fillEvery
	mu      sync.Mutex
	cancel  context.CancelFunc
	running chan struct{} // closed when it ends; nil if there is none
}

// fillIfDue starts an update of the index if the records after before, up to after,
// include a multiple of filler.every.
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

// stop ends a running update. The next update continues at that point.
func (f *indexFiller) stop() {
	f.mu.Lock()
	running, cancel := f.running, f.cancel
	f.mu.Unlock()
	if running != nil {
		cancel()
		<-running
	}
}

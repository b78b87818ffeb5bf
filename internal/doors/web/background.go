package web

import (
	"context"
	"sync"
)

// backgroundRuns holds work that continues after its request was answered. It ends with the
// door. The zero value is ready to use.
type backgroundRuns struct {
	mu     sync.Mutex
	ended  bool
	begun  int
	cancel map[int]context.CancelFunc // of running work
	all    sync.WaitGroup
}

// begin starts run with the values of a request's context, but not its end; after stop the
// context is cancelled from the start. It returns at once, with a channel that is closed
// when run has returned.
func (o *backgroundRuns) begin(request context.Context, run func(ctx context.Context)) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	over := make(chan struct{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(request))
	if o.ended {
		cancel()
	}
	if o.cancel == nil {
		o.cancel = make(map[int]context.CancelFunc)
	}
	o.begun++
	id := o.begun
	o.cancel[id] = cancel
	o.all.Go(func() {
		defer close(over)
		defer o.finished(id)
		run(ctx)
	})
	return over
}

func (o *backgroundRuns) finished(id int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cancel[id]()
	delete(o.cancel, id)
}

// stop cancels all runs, and waits for them until late ends.
func (o *backgroundRuns) stop(late context.Context) {
	o.mu.Lock()
	o.ended = true
	for _, cancel := range o.cancel {
		cancel()
	}
	o.mu.Unlock()
	over := make(chan struct{})
	go func() {
		defer close(over)
		o.all.Wait()
	}()
	select {
	case <-over:
	case <-late.Done():
	}
}

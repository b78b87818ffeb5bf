package web

import (
	"context"
	"sync"
)

// backgroundRuns is what goes on when the request that began it has been answered. It ends with
// the door. The zero value has nothing that goes on.
type backgroundRuns struct {
	mu     sync.Mutex
	ended  bool
	begun  int
	cancel map[int]context.CancelFunc // of what goes on
	all    sync.WaitGroup
}

// begin begins what goes on, with the values of a request's context and not its end. When the
// door has ended, so has the context. It returns at once, with a channel that is closed when
// run has returned.
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

// stop ends all that goes on, and waits for that until late ends.
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

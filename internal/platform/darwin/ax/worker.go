//go:build darwin || axdouble

package ax

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// A worker runs the calls of one run of an app, one at a time. A call that outlives its context keeps the worker, so that an app that
// hangs costs at most one thread.
type worker struct {
	started string
	table   *table
	turn    chan struct{}
	ended   chan struct{} // closed once the elements are released
}

// workers are the workers of the apps, by process.
type workers struct {
	api  *native.API
	last atomic.Uint64 // number of an element, so that no number comes again
	mu   sync.Mutex
	all  map[int]*worker
}

// of returns the worker of a process that started then.
func (w *workers) of(pid int, started string) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.all[pid]; old != nil {
		if old.started == started {
			return old
		}
		go old.end()
	}
	if w.all == nil {
		w.all = make(map[int]*worker)
	}
	w.all[pid] = &worker{started, newTable(w.api, pid, &w.last), make(chan struct{}, 1), make(chan struct{})}
	return w.all[pid]
}

// forget removes the worker of a process that has ended.
func (w *workers) forget(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.all[pid]; old != nil {
		delete(w.all, pid)
		go old.end()
	}
}

// close ends all workers and waits until each has finished its call.
func (w *workers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pid, old := range w.all {
		delete(w.all, pid)
		old.end()
	}
}

// end releases the elements once no call uses them. It keeps the turn.
func (w *worker) end() {
	w.turn <- struct{}{}
	w.table.release()
	close(w.ended)
}

// run runs call, and returns at the end of the context even if call does not.
func run[T any](ctx context.Context, w *worker, call func(context.Context) (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, expired(ctx)
	}
	select {
	case w.turn <- struct{}{}:
	case <-w.ended:
		return none, &aai.Error{Code: aai.AppNotRunning, Message: "the app has ended", Delivery: aai.NotDelivered}
	case <-ctx.Done():
		return none, notAnswered(ctx)
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-w.turn }()
		value, err := call(ctx)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, notAnswered(ctx)
	}
}

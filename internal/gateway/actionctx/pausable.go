package actionctx

import (
	"context"
	"sync"
	"time"
)

// PauseDeadline pauses the deadline of the context's call until goOn is called. An Action calls
// it while it waits for the person to answer another call's question. The pauses of a call are
// limited to the time for one question; further waiting counts. Enclosing calls are paused too.
// PauseDeadline is safe for concurrent use. It has an effect only in Actions on windows, Actions
// of a server, and Actions that only make calls.
func PauseDeadline(ctx context.Context) (goOn func()) {
	w, _ := ctx.Value(pausableKey{}).(*pausable)
	if w == nil {
		return func() {}
	}
	outer, own := PauseDeadline(w.Context), w.pause()
	return func() { own(); outer() }
}

type pausableKey struct{}

// pausable is the context of an Action with a deadline that can move, unlike that of
// package context.
type pausable struct {
	context.Context // the door's
	moved           func(left time.Duration)

	mu          sync.Mutex // guards the fields below
	until       time.Time
	timer       *time.Timer
	done        chan struct{}
	err         error
	callbacks   map[*func()]struct{}
	paused      int
	since       time.Time     // of the first of the nested pauses
	remaining   time.Duration // time left at since
	budget      time.Duration // remaining time for pauses
	pausedTotal time.Duration // sum of all pauses
}

// WithPauses returns a context that ends with door, or at until. Its pauses are limited to the
// budget; moved receives the time left when one begins or ends. end returns the total time of pauses.
func WithPauses(door context.Context, until time.Time, budget time.Duration, moved func(left time.Duration)) (ctx context.Context, end func() (stood time.Duration)) {
	w := &pausable{Context: door, moved: moved, until: until, done: make(chan struct{}), callbacks: make(map[*func()]struct{}), budget: budget}
	w.timer = time.AfterFunc(time.Until(until), w.expire)
	stop := context.AfterFunc(door, func() { w.end(door.Err()) })
	return w, func() time.Duration {
		stop()
		w.end(context.Canceled)
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.pausedTotal
	}
}

// expire ends the context, unless its deadline has moved meanwhile.
func (w *pausable) expire() {
	w.mu.Lock()
	late := !time.Now().Before(w.until)
	w.mu.Unlock()
	if late {
		w.end(context.DeadlineExceeded)
	}
}

func (w *pausable) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err = err
	w.timer.Stop()
	close(w.done)
	for f := range w.callbacks {
		go (*f)()
	}
	w.callbacks = nil
}

// pause moves the deadline by the remaining budget for pauses, until goOn is called.
func (w *pausable) pause() (goOn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused++; w.paused == 1 {
		w.since = time.Now()
		w.remaining = w.until.Sub(w.since)
		w.set(w.remaining + w.budget)
	}
	var once sync.Once
	return func() { once.Do(w.resume) }
}

func (w *pausable) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused--; w.paused > 0 {
		return
	}
	took := time.Since(w.since)
	stood := min(took, w.budget)
	w.budget -= stood
	w.pausedTotal += stood
	w.set(w.remaining - (took - stood))
}

func (w *pausable) set(left time.Duration) {
	if w.err != nil {
		return
	}
	w.until = time.Now().Add(left)
	w.timer.Reset(left)
	w.moved(left)
}

// Deadline implements context.Context.
func (w *pausable) Deadline() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.until, true
}

// Done implements context.Context.
func (w *pausable) Done() <-chan struct{} { return w.done }

// Err implements context.Context.
func (w *pausable) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Value implements context.Context.
func (w *pausable) Value(key any) any {
	if key == (pausableKey{}) {
		return w
	}
	return w.Context.Value(key)
}

// AfterFunc implements the method that package context looks for, so that derived contexts need
// no goroutine.
func (w *pausable) AfterFunc(f func()) (stop func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		go f()
		return func() bool { return false }
	}
	w.callbacks[&f] = struct{}{}
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		_, waits := w.callbacks[&f]
		delete(w.callbacks, &f)
		return waits
	}
}

package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// The limits for an app that does not respond.
const (
	// missedLimit is the number of consecutive timeouts after which an app without Ping counts as
	// hung.
	missedLimit = 3
	// The next call may try after minBackoff, then after twice as long each time, up to
	// maxBackoff.
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
	// An app with Ping is probed with growing delays for at most maxProbing; then the next call
	// may try.
	firstProbeDelay = 100 * time.Millisecond
	probeLimit      = 2 * time.Second
	maxProbing      = 2 * time.Minute
)

// queues let one call at a time act on a program, and fail calls to an app that hangs, so that
// other apps are not affected. A queue is removed when it is empty and its app is not suspected
// to hang. The zero value is ready.
type queues struct {
	mu    sync.Mutex
	byKey map[queueKey]*queue
}

type queueKey struct {
	app     string
	process int
}

// A queue orders the calls to one app. Its fields are guarded by queues.mu.
type queue struct {
	owner *queues
	key   queueKey
	app   *aai.App
	token chan struct{} // holds one token

	occupants    int       // calls that hold or await a slot
	misses       int       // consecutive timeouts
	hung         time.Time // start of the hang; zero: it responds
	retryAt      time.Time // next time for a trial call
	backoff      time.Duration
	trialRunning bool // a trial call is running
	probing      bool // probeLoop is running
}

// A slot is the place of one call in a queue. Its fields are guarded by queues.mu, except those
// that only the call's goroutine uses.
type slot struct {
	queue     *queue
	exclusive bool // it holds the token
	since     time.Time

	isTrial     bool // it is the trial call
	missCounted bool // its timeout is counted

	outer        *slot         // slot of an enclosing call that holds the token, or nil
	inner        chan struct{} // holds one token for nested calls; nil before the first
	releaseClaim func()        // releases the claim against other gateways; may be nil
	ended        bool          // ended; nested calls get no token from it
}

// token returns the token that an Exclusive call needs: the queue's, or the inner one of an
// enclosing call that holds the queue's.
func (v *slot) token() chan struct{} {
	if v.outer == nil {
		return v.queue.token
	}
	return v.outer.inner
}

// nestIn makes nested calls use the inner token of the outer slot, since waiting for the outer
// call's token would deadlock. An ended outer slot has no effect.
func (v *slot) nestIn(outer *slot) {
	v.queue.owner.mu.Lock()
	defer v.queue.owner.mu.Unlock()
	if outer == nil || outer.ended {
		return
	}
	if v.outer = outer; outer.inner == nil {
		outer.inner = make(chan struct{}, 1)
		outer.inner <- struct{}{}
	}
}

// releaseToken returns the token and leaves the queue once nested calls have returned theirs: an
// abandoned nested call may still act.
func (v *slot) releaseToken() {
	v.queue.owner.mu.Lock()
	inner := v.inner
	v.ended = true
	v.queue.owner.mu.Unlock()
	if inner != nil {
		select {
		case <-inner:
		default:
			go func() {
				<-inner
				v.handOver()
			}()
			return
		}
	}
	v.handOver()
}

// acquire waits for the call's token. It fails at once if the app hangs. outer is the slot of an
// enclosing call, or nil. v is nil without an error if the context ends.
func (l *queues) acquire(ctx context.Context, app *aai.App, alone bool, outer *slot) (v *slot, waited bool, err *aai.Error) {
	v = &slot{queue: l.queueFor(app), exclusive: alone}
	v.nestIn(outer)
	if err := v.checkAvailable(); err != nil {
		v.queue.leave()
		return nil, false, err
	}
	if !alone {
		return v, false, nil
	}
	select {
	case <-v.token():
		return v, false, nil
	default:
	}
	select {
	case <-v.token():
	case <-ctx.Done():
		v.exclusive = false
		v.release(false, nil, nil)
		return nil, true, nil
	}
	if err := v.checkAvailable(); err != nil { // it hung meanwhile
		v.release(false, nil, nil)
		return nil, true, err
	}
	return v, true, nil
}

func (l *queues) queueFor(app *aai.App) *queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := queueKey{app.ID, app.PID}
	way := l.byKey[key]
	if way == nil {
		if l.byKey == nil {
			l.byKey = make(map[queueKey]*queue)
		}
		way = &queue{owner: l, key: key, app: app, token: make(chan struct{}, 1)}
		way.token <- struct{}{}
		l.byKey[key] = way
	}
	way.occupants++
	return way
}

// leave reverts queueFor.
func (w *queue) leave() {
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.occupants--
	w.removeIfIdle()
}

// removeIfIdle must be called with queues.mu held.
func (w *queue) removeIfIdle() {
	if w.occupants == 0 && w.hung.IsZero() && w.misses == 0 {
		delete(w.owner.byKey, w.key)
	}
}

// release ends the slot. For a call that ran, err and its context's error ended show whether the
// app responds.
func (v *slot) release(ran bool, ended, err error) {
	w := v.queue
	if ran {
		v.recordOutcome(ended, err)
	}
	w.owner.mu.Lock()
	if v.isTrial {
		w.trialRunning = false
	}
	w.owner.mu.Unlock()
	if v.exclusive {
		v.releaseToken()
		return
	}
	w.leave()
}

// checkAvailable returns an error while the app hangs. At intervals it lets one trial call
// through.
func (v *slot) checkAvailable() *aai.Error {
	w := v.queue
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	now := time.Now()
	if w.hung.IsZero() || v.isTrial || v.outer != nil && v.outer.isTrial {
		return nil
	}
	if !w.probing && !w.trialRunning && !now.Before(w.retryAt) {
		w.trialRunning, v.isTrial = true, true
		return nil
	}
	e := aai.Errorf(aai.Timeout, "%s has not answered for %s", aai.CleanLabel(firstName(w.app), 60), now.Sub(w.hung).Round(time.Second/10))
	e.Delivery = aai.NotDelivered
	e.Hint = "Call again when it may have recovered, or ask the person to look at it."
	if !w.probing {
		e.Hint = "The next call may try again soon. Other apps are not affected."
		e.RetryAfter = max(time.Millisecond, w.retryAt.Sub(now))
	}
	return e
}

// recordOutcome derives from the outcome of a call whether the app responds. A TIMEOUT that the
// Action reports before its deadline is no miss, except for an app with Ping, which is probed at
// once.
func (v *slot) recordOutcome(ended, err error) {
	failure, w := aai.AsError(err), v.queue
	if failure != nil && failure.Code == aai.Timeout && !failure.AppResponded && (w.app.Process.Ping != nil || ended != nil && failure.Delivery != aai.Delivered) {
		v.recordMiss()
		return
	}
	if failure == nil || failure.Delivery == aai.Delivered || failure.AppResponded {
		w.owner.mu.Lock()
		defer w.owner.mu.Unlock()
		w.misses, w.hung, w.backoff = 0, time.Time{}, 0
	}
}

// markAbandoned notes that the caller has left a running call; late reports that its deadline
// passed.
func (v *slot) markAbandoned(late bool) {
	if late {
		v.recordMiss()
		return
	}
	v.queue.owner.mu.Lock()
	defer v.queue.owner.mu.Unlock()
	if v.isTrial { // another call may try
		v.isTrial, v.queue.trialRunning = false, false
	}
}

// recordMiss notes, once for each call, that the app did not respond in time.
func (v *slot) recordMiss() {
	w := v.queue
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	if v.missCounted {
		return
	}
	v.missCounted = true
	w.misses++
	now := time.Now()
	if w.app.Process.Ping != nil {
		if w.hung.IsZero() {
			w.hung, w.probing = v.since, true
			go w.probeLoop(now)
		}
		return
	}
	tried := v.isTrial
	if tried {
		v.isTrial, w.trialRunning = false, false
	}
	if w.hung.IsZero() && w.misses < missedLimit || !w.hung.IsZero() && !tried {
		return
	}
	if w.hung.IsZero() {
		w.hung = v.since
	}
	w.backoff = min(max(minBackoff, 2*w.backoff), maxBackoff)
	w.retryAt = now.Add(w.backoff)
}

// probeLoop probes the app until it responds or maxProbing has passed. While a probe hangs, it
// starts no other.
func (w *queue) probeLoop(since time.Time) {
	said := make(chan bool, 1)
	under := false
	for wait := firstProbeDelay; time.Since(since) < maxProbing; wait = min(2*wait, probeLimit) {
		time.Sleep(wait)
		if !under {
			under = true
			go func() { said <- w.probe() }()
		}
		select {
		case does := <-said:
			if under = false; does {
				w.reopen()
				return
			}
		case <-time.After(probeLimit):
		}
	}
	w.reopen()
}

// reopen accepts calls again.
func (w *queue) reopen() {
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.hung, w.probing, w.misses = time.Time{}, false, 0
	w.removeIfIdle()
}

func (w *queue) probe() (does bool) {
	defer func() {
		if recover() != nil {
			does = false
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	err := w.app.Process.Ping(ctx)
	return err == nil || aai.AsError(err).Code != aai.Timeout
}

// concurrency returns the level of the request's call. Calls to the gateway itself, or to no
// particular program, are Independent.
func concurrency(r *aai.Request) aai.Concurrency {
	switch {
	case r.Call.Target.ID == aai.BuiltinApp, r.IsWholeScreen():
		return aai.Independent
	}
	level := r.Assessment().Concurrency
	if level == aai.Exclusive && r.Call.Target.PID == 0 {
		return aai.Shared
	}
	return level
}

// acquireSlot waits for a slot in the target's queue, which the call keeps until release.
func (p *invocation) acquireSlot(ctx context.Context) (waited bool, err *aai.Error) {
	turn := concurrency(p.request)
	if turn == aai.Independent {
		return false, nil
	}
	v, waited, err := p.g.queues.acquire(ctx, p.request.Call.Target, turn == aai.Exclusive, p.outerSlot(p.request.Call.Target))
	if err != nil {
		return waited, err
	}
	if v == nil {
		return waited, p.cancel()
	}
	p.mu.Lock()
	p.slot = v
	p.mu.Unlock()
	also, err := p.claimProcess(ctx, v)
	return waited || also, err
}

// outerSlot returns the slot of the nearest enclosing call that holds the token of the app's
// queue, or nil.
func (p *invocation) outerSlot(app *aai.App) *slot {
	for outer := p.outer; outer != nil; outer = outer.outer {
		outer.mu.Lock()
		v := outer.slot
		outer.mu.Unlock()
		if v != nil && v.exclusive && v.queue.key == (queueKey{app.ID, app.PID}) {
			return v
		}
	}
	return nil
}

// release leaves the queue, however the goroutine of the call ends.
func (p *invocation) release(ctx context.Context, err error) {
	p.mu.Lock()
	v, ran := p.slot, p.ran()
	p.mu.Unlock()
	if v != nil {
		v.release(ran, ctx.Err(), err)
	}
}

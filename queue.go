package aai

import (
	"context"
	"sync"
	"time"
)

// A Turn is how a call goes together with other calls to the same app.
type Concurrency int

// The turns.
const (
	// Exclusive is one at a time on the windows of a program. Calls to an app that is
	// reached otherwise run beside each other.
	Exclusive Concurrency = iota
	// Shared is beside the call that has its turn, such as one that waits for what
	// others do.
	Shared
	// Independent is whatever the app does: the call needs no answer of it.
	Independent
)

// How an app that does not answer is treated.
const (
	// missedLimit is how many calls in a row have to end by their deadline before an
	// app that cannot be asked whether it answers counts as hung.
	missedLimit = 3
	// The next call may try after firstRest, then after twice as long each time.
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
	// An app that can be asked is asked: soon, then less often, and for so long; then
	// the next call may try by itself.
	firstProbeDelay = 100 * time.Millisecond
	probeLimit      = 2 * time.Second
	maxProbing      = 2 * time.Minute
)

// queues let one call at a time act on a program, and let no call wait for an app that
// is known to hang: an app that hangs costs only the calls to it. A lane is forgotten
// when nobody is in it and nothing is known against its app. The zero value is ready.
type queues struct {
	mu    sync.Mutex
	byKey map[queueKey]*queue
}

type queueKey struct {
	app     string
	process int
}

// A lane leads to one app. Its fields are guarded by lanes.mu.
type queue struct {
	owner *queues
	key   queueKey
	app   *App
	token chan struct{} // holds one token

	occupants    int       // calls in it, or waiting for it
	misses       int       // calls in a row that ended by their deadline
	hung         time.Time // since when it does not answer; zero: it does
	retryAt      time.Time // when one call may try
	backoff      time.Duration
	trialRunning bool // one does
	probing      bool // the app is asked whether it answers
}

// A visit is one call's stay in a lane. Who stays in it is guarded by lanes.mu, but for
// what only the call's own goroutine knows.
type slot struct {
	queue     *queue
	exclusive bool // it has the turn
	since     time.Time

	isTrial     bool // it is the one that tries
	missCounted bool // it is known not to have been answered in time

	outer        *slot         // of a call that this one is within, and that has the turn; or nil
	inner        chan struct{} // its turn, for the calls within: holds one token; nil: none came yet
	releaseClaim func()        // lets other gateways act; nil: they may
	ended        bool          // it has ended, and lends nothing any more
}

// token is what a call needs to act alone: the lane's token, or of a call within one that
// has it, that one's.
func (v *slot) token() chan struct{} {
	if v.outer == nil {
		return v.queue.token
	}
	return v.outer.inner
}

// nestIn has the calls within a visit take turns with each other, since they would wait
// for ever for the one that it has itself. A visit that has ended lends nothing.
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

// releaseToken gives the turn back and leaves the lane, when the calls within have given
// theirs: one that was left behind may still act.
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

// acquire waits for the call's turn. It fails at once where the app is known to hang. Outer
// is the visit of a call that this one is within, or nil.
func (l *queues) acquire(ctx context.Context, app *App, alone bool, outer *slot) (v *slot, waited bool, err *Error) {
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

func (l *queues) queueFor(app *App) *queue {
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

// leave ends what join began.
func (w *queue) leave() {
	w.owner.mu.Lock()
	defer w.owner.mu.Unlock()
	w.occupants--
	w.removeIfIdle()
}

// removeIfIdle is called with lanes.mu held.
func (w *queue) removeIfIdle() {
	if w.occupants == 0 && w.hung.IsZero() && w.misses == 0 {
		delete(w.owner.byKey, w.key)
	}
}

// release ends the stay. Of a call that ran, how it ended says whether the app answers:
// ended is of its context.
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

// checkAvailable fails while the app hangs. Now and then it lets one call through that tries.
func (v *slot) checkAvailable() *Error {
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
	e := Errorf(Timeout, "%s has not answered for %s", CleanLabel(firstName(w.app), 60), now.Sub(w.hung).Round(time.Second/10))
	e.Delivery = NotDelivered
	e.Hint = "It is being watched: call again when it may have recovered, or ask the person to look at it."
	if !w.probing {
		e.Hint = "The next call may try again soon. Other apps are not affected."
		e.RetryAfter = max(time.Millisecond, w.retryAt.Sub(now))
	}
	return e
}

// recordOutcome takes from how a call ended whether the app answers. One that says by itself
// that something took too long has answered; only of an app that can be asked is it
// believed that it did not, since it is asked at once.
func (v *slot) recordOutcome(ended, err error) {
	failure, w := AsError(err), v.queue
	if failure != nil && failure.Code == Timeout && !failure.AppResponded && (w.app.Ping != nil || ended != nil && failure.Delivery != Delivered) {
		v.recordMiss()
		return
	}
	if failure == nil || failure.Delivery == Delivered || failure.AppResponded {
		w.owner.mu.Lock()
		defer w.owner.mu.Unlock()
		w.misses, w.hung, w.backoff = 0, time.Time{}, 0
	}
}

// markAbandoned notes that nobody waits for the call any more, which is still under way:
// late says that its time was over.
func (v *slot) markAbandoned(late bool) {
	if late {
		v.recordMiss()
		return
	}
	v.queue.owner.mu.Lock()
	defer v.queue.owner.mu.Unlock()
	if v.isTrial { // somebody else may
		v.isTrial, v.queue.trialRunning = false, false
	}
}

// recordMiss notes, once for each call, that the app did not answer in time.
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
	if w.app.Ping != nil {
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

// probeLoop asks the app whether it answers, until it does or has been asked for long.
// Somebody who never comes back from asking is not asked again meanwhile.
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

// reopen lets calls in again.
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
	err := w.app.Ping(ctx)
	return err == nil || AsError(err).Code != Timeout
}

// concurrency is how the request's call goes together with others to its target. What
// touches the gateway itself, or no program in particular, waits for nobody.
func (r *Request) concurrency() Concurrency {
	switch {
	case r.Call.Target.ID == BuiltinApp, r.IsWholeScreen():
		return Independent
	case r.Tool.Concurrency != nil:
		return r.Tool.Concurrency(r.Call)
	case r.Call.Target.PID == 0:
		return Shared
	}
	return Exclusive
}

// acquireSlot waits for the lane of the call's target, which it has until it departs.
func (p *invocation) acquireSlot(ctx context.Context) (waited bool, err *Error) {
	turn := p.request.concurrency()
	if turn == Independent {
		return false, nil
	}
	v, waited, err := p.g.queues.acquire(ctx, p.request.Call.Target, turn == Exclusive, p.outerSlot(p.request.Call.Target))
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

// outerSlot is the visit to the app of the nearest call that has the turn there and that
// the passage is within, or nil.
func (p *invocation) outerSlot(app *App) *slot {
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

// release leaves the lane, however the goroutine of the call ends.
func (p *invocation) release(ctx context.Context, err error) {
	p.mu.Lock()
	v, ran := p.slot, p.actionStarted
	p.mu.Unlock()
	if v != nil {
		v.release(ran, ctx.Err(), err)
	}
}

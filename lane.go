package aai

import (
	"context"
	"sync"
	"time"
)

// A Turn is how a call goes together with other calls to the same app.
type Turn int

// The turns.
const (
	// InTurn is one at a time on the windows of a program. Calls to an app that is
	// reached otherwise run beside each other.
	InTurn Turn = iota
	// Beside is beside the call that has its turn, such as one that waits for what
	// others do.
	Beside
	// Apart is whatever the app does: the call needs no answer of it.
	Apart
)

// How an app that does not answer is treated.
const (
	// missedLimit is how many calls in a row have to end by their deadline before an
	// app that cannot be asked whether it answers counts as hung.
	missedLimit = 3
	// The next call may try after firstRest, then after twice as long each time.
	firstRest = time.Second
	longRest  = 30 * time.Second
	// An app that can be asked is asked: soon, then less often, and for so long; then
	// the next call may try by itself.
	firstProbe = 100 * time.Millisecond
	probeLimit = 2 * time.Second
	probeEnd   = 2 * time.Minute
)

// lanes let one call at a time act on a program, and let no call wait for an app that
// is known to hang: an app that hangs costs only the calls to it. A lane is forgotten
// when nobody is in it and nothing is known against its app. The zero value is ready.
type lanes struct {
	mu    sync.Mutex
	known map[laneKey]*lane
}

type laneKey struct {
	app     string
	process int
}

// A lane leads to one app. Its fields are guarded by lanes.mu.
type lane struct {
	of   *lanes
	key  laneKey
	app  *App
	turn chan struct{} // holds one token

	inside int       // calls in it, or waiting for it
	misses int       // calls in a row that ended by their deadline
	hung   time.Time // since when it does not answer; zero: it does
	opens  time.Time // when one call may try
	rest   time.Duration
	trying bool // one does
	probed bool // the app is asked whether it answers
}

// A visit is one call's stay in a lane. Who stays in it is guarded by lanes.mu, but for
// what only the call's own goroutine knows.
type visit struct {
	way   *lane
	alone bool // it has the turn
	since time.Time

	tries   bool // it is the one that tries
	counted bool // it is known not to have been answered in time

	outer   *visit        // of a call that this one is within, and that has the turn; or nil
	inner   chan struct{} // its turn, for the calls within: holds one token; nil: none came yet
	unclaim func()        // lets other gateways act; nil: they may
	gone    bool          // it has ended, and lends nothing any more
}

// turn is what a call needs to act alone: the lane's token, or of a call within one that
// has it, that one's.
func (v *visit) turn() chan struct{} {
	if v.outer == nil {
		return v.way.turn
	}
	return v.outer.inner
}

// borrow has the calls within a visit take turns with each other, since they would wait
// for ever for the one that it has itself. A visit that has ended lends nothing.
func (v *visit) borrow(outer *visit) {
	v.way.of.mu.Lock()
	defer v.way.of.mu.Unlock()
	if outer == nil || outer.gone {
		return
	}
	if v.outer = outer; outer.inner == nil {
		outer.inner = make(chan struct{}, 1)
		outer.inner <- struct{}{}
	}
}

// giveBack gives the turn back and leaves the lane, when the calls within have given
// theirs: one that was left behind may still act.
func (v *visit) giveBack() {
	v.way.of.mu.Lock()
	inner := v.inner
	v.gone = true
	v.way.of.mu.Unlock()
	if inner != nil {
		select {
		case <-inner:
		default:
			go func() {
				<-inner
				v.pass()
			}()
			return
		}
	}
	v.pass()
}

// enter waits for the call's turn. It fails at once where the app is known to hang. Outer
// is the visit of a call that this one is within, or nil.
func (l *lanes) enter(ctx context.Context, app *App, alone bool, outer *visit) (v *visit, waited bool, err *Error) {
	v = &visit{way: l.join(app), alone: alone}
	v.borrow(outer)
	if err := v.open(); err != nil {
		v.way.quit()
		return nil, false, err
	}
	if !alone {
		return v, false, nil
	}
	select {
	case <-v.turn():
		return v, false, nil
	default:
	}
	select {
	case <-v.turn():
	case <-ctx.Done():
		v.alone = false
		v.leave(false, nil, nil)
		return nil, true, nil
	}
	if err := v.open(); err != nil { // it hung meanwhile
		v.leave(false, nil, nil)
		return nil, true, err
	}
	return v, true, nil
}

func (l *lanes) join(app *App) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := laneKey{app.ID, app.PID}
	way := l.known[key]
	if way == nil {
		if l.known == nil {
			l.known = make(map[laneKey]*lane)
		}
		way = &lane{of: l, key: key, app: app, turn: make(chan struct{}, 1)}
		way.turn <- struct{}{}
		l.known[key] = way
	}
	way.inside++
	return way
}

// quit ends what join began.
func (w *lane) quit() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.inside--
	w.forget()
}

// forget is called with lanes.mu held.
func (w *lane) forget() {
	if w.inside == 0 && w.hung.IsZero() && w.misses == 0 {
		delete(w.of.known, w.key)
	}
}

// leave ends the stay. Of a call that ran, how it ended says whether the app answers:
// ended is of its context.
func (v *visit) leave(ran bool, ended, err error) {
	w := v.way
	if ran {
		v.learn(ended, err)
	}
	w.of.mu.Lock()
	if v.tries {
		w.trying = false
	}
	w.of.mu.Unlock()
	if v.alone {
		v.giveBack()
		return
	}
	w.quit()
}

// open fails while the app hangs. Now and then it lets one call through that tries.
func (v *visit) open() *Error {
	w := v.way
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	now := time.Now()
	if w.hung.IsZero() || v.tries || v.outer != nil && v.outer.tries {
		return nil
	}
	if !w.probed && !w.trying && !now.Before(w.opens) {
		w.trying, v.tries = true, true
		return nil
	}
	e := Errorf(Timeout, "%s has not answered for %s", CleanLabel(firstName(w.app), 60), now.Sub(w.hung).Round(time.Second/10))
	e.Delivery = NotDelivered
	e.Hint = "It is being watched: call again when it may have recovered, or ask the person to look at it."
	if !w.probed {
		e.Hint = "The next call may try again soon. Other apps are not affected."
		e.RetryAfter = max(time.Millisecond, w.opens.Sub(now))
	}
	return e
}

// learn takes from how a call ended whether the app answers. One that says by itself
// that something took too long has answered; only of an app that can be asked is it
// believed that it did not, since it is asked at once.
func (v *visit) learn(ended, err error) {
	failure, w := AsError(err), v.way
	if failure != nil && failure.Code == Timeout && !failure.Answered && (w.app.Answers != nil || ended != nil && failure.Delivery != Delivered) {
		v.missed()
		return
	}
	if failure == nil || failure.Delivery == Delivered || failure.Answered {
		w.of.mu.Lock()
		defer w.of.mu.Unlock()
		w.misses, w.hung, w.rest = 0, time.Time{}, 0
	}
}

// abandoned notes that nobody waits for the call any more, which is still under way:
// late says that its time was over.
func (v *visit) abandoned(late bool) {
	if late {
		v.missed()
		return
	}
	v.way.of.mu.Lock()
	defer v.way.of.mu.Unlock()
	if v.tries { // somebody else may
		v.tries, v.way.trying = false, false
	}
}

// missed notes, once for each call, that the app did not answer in time.
func (v *visit) missed() {
	w := v.way
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if v.counted {
		return
	}
	v.counted = true
	w.misses++
	now := time.Now()
	if w.app.Answers != nil {
		if w.hung.IsZero() {
			w.hung, w.probed = v.since, true
			go w.watch(now)
		}
		return
	}
	tried := v.tries
	if tried {
		v.tries, w.trying = false, false
	}
	if w.hung.IsZero() && w.misses < missedLimit || !w.hung.IsZero() && !tried {
		return
	}
	if w.hung.IsZero() {
		w.hung = v.since
	}
	w.rest = min(max(firstRest, 2*w.rest), longRest)
	w.opens = now.Add(w.rest)
}

// watch asks the app whether it answers, until it does or has been asked for long.
// Somebody who never comes back from asking is not asked again meanwhile.
func (w *lane) watch(since time.Time) {
	said := make(chan bool, 1)
	under := false
	for wait := firstProbe; time.Since(since) < probeEnd; wait = min(2*wait, probeLimit) {
		time.Sleep(wait)
		if !under {
			under = true
			go func() { said <- w.answers() }()
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
func (w *lane) reopen() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.hung, w.probed, w.misses = time.Time{}, false, 0
	w.forget()
}

func (w *lane) answers() (does bool) {
	defer func() {
		if recover() != nil {
			does = false
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	err := w.app.Answers(ctx)
	return err == nil || AsError(err).Code != Timeout
}

// turn is how the request's call goes together with others to its target. What
// touches the gateway itself, or no program in particular, waits for nobody.
func (r *Request) turn() Turn {
	switch {
	case r.Call.Target.ID == OwnApp, r.OnScreen():
		return Apart
	case r.Tool.Turn != nil:
		return r.Tool.Turn(r.Call)
	case r.Call.Target.PID == 0:
		return Beside
	}
	return InTurn
}

// enter waits for the lane of the call's target, which it has until it departs.
func (p *passage) enter(ctx context.Context) (waited bool, err *Error) {
	turn := p.r.turn()
	if turn == Apart {
		return false, nil
	}
	v, waited, err := p.g.lanes.enter(ctx, p.r.Call.Target, turn == InTurn, p.outerVisit(p.r.Call.Target))
	if err != nil {
		return waited, err
	}
	if v == nil {
		return waited, p.abandon()
	}
	p.mu.Lock()
	p.visit = v
	p.mu.Unlock()
	also, err := p.claim(ctx, v)
	return waited || also, err
}

// outerVisit is the visit to the app of the nearest call that has the turn there and that
// the passage is within, or nil.
func (p *passage) outerVisit(app *App) *visit {
	for outer := p.outer; outer != nil; outer = outer.outer {
		outer.mu.Lock()
		v := outer.visit
		outer.mu.Unlock()
		if v != nil && v.alone && v.way.key == (laneKey{app.ID, app.PID}) {
			return v
		}
	}
	return nil
}

// depart leaves the lane, however the goroutine of the call ends.
func (p *passage) depart(ctx context.Context, err error) {
	p.mu.Lock()
	v, ran := p.visit, p.ran
	p.mu.Unlock()
	if v != nil {
		v.leave(ran, ctx.Err(), err)
	}
}

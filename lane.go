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

// enter waits for the call's turn. It fails at once where the app is known to hang.
func (l *lanes) enter(ctx context.Context, app *App, alone bool) (way *lane, waited bool, err *Error) {
	way = l.join(app)
	if err := way.open(); err != nil {
		way.quit()
		return nil, false, err
	}
	if !alone {
		return way, false, nil
	}
	select {
	case <-way.turn:
		return way, false, nil
	default:
	}
	select {
	case <-way.turn:
	case <-ctx.Done():
		way.quit()
		return nil, true, nil
	}
	if err := way.open(); err != nil { // it hung meanwhile
		way.turn <- struct{}{}
		way.quit()
		return nil, true, err
	}
	return way, true, nil
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

// leave ends a call's stay, whose error says whether the app answers.
func (w *lane) leave(alone bool, err error) {
	w.learn(err)
	if alone {
		w.turn <- struct{}{}
	}
	w.quit()
}

// open fails while the app hangs. Now and then it lets one call through that tries.
func (w *lane) open() *Error {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	now := time.Now()
	if w.hung.IsZero() {
		return nil
	}
	if !w.probed && !w.trying && !now.Before(w.opens) {
		w.trying = true
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

// learn takes from how a call ended whether the app answers.
func (w *lane) learn(err error) {
	failure := AsError(err)
	if failure != nil && failure.Code == Timeout {
		w.missed()
		return
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.trying = false
	if failure == nil || failure.Delivery == Delivered {
		w.misses, w.hung, w.rest = 0, time.Time{}, 0
	}
}

// missed notes that the app did not answer in time.
func (w *lane) missed() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.misses++
	now := time.Now()
	if w.app.Answers != nil {
		if w.hung.IsZero() {
			w.hung, w.probed = now, true
			go w.watch(now)
		}
		return
	}
	tried := w.trying
	w.trying = false
	if w.hung.IsZero() && w.misses < missedLimit || !w.hung.IsZero() && !tried {
		return
	}
	if w.hung.IsZero() {
		w.hung = now
	}
	w.rest = min(max(firstRest, 2*w.rest), longRest)
	w.opens = now.Add(w.rest)
}

// watch asks the app whether it answers, until it does.
func (w *lane) watch(since time.Time) {
	for wait := firstProbe; time.Since(since) < probeEnd; wait = min(2*wait, probeLimit) {
		time.Sleep(wait)
		if w.answers() {
			break
		}
	}
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
	case r.Target.ID == OwnApp, r.App.Targets != nil && r.Target == r.App:
		return Apart
	case r.Tool.Turn != nil:
		return r.Tool.Turn(r.Call)
	case r.Target.PID == 0:
		return Beside
	}
	return InTurn
}

// enter waits for the lane of the call's target. Leave is told how the Action ended.
func (p *passage) enter(ctx context.Context) (leave func(error), waited bool, err *Error) {
	turn := p.r.turn()
	if turn == Apart {
		return func(error) {}, false, nil
	}
	way, waited, err := p.g.lanes.enter(ctx, p.r.Target, turn == InTurn)
	if err != nil {
		return nil, waited, err
	}
	if way == nil {
		return nil, waited, p.abandon()
	}
	p.mu.Lock()
	p.way = way
	p.mu.Unlock()
	return func(err error) { way.leave(turn == InTurn, err) }, waited, nil
}

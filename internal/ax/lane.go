package ax

import (
	"context"
	"sync"
	"time"

	"aai"
	"aai/internal/desktop"
)

// How a program that hangs is watched: the first look comes soon, the next ones
// less often, and after a while the next call may try by itself.
const (
	firstProbe = 100 * time.Millisecond
	probeLimit = 2 * time.Second
	probeEnd   = 2 * time.Minute
)

// lanes let one call at a time act on a program, and let no call wait for a
// program that is known to hang. Safe for concurrent use.
type lanes struct {
	answers func(ctx context.Context, app desktop.App) error // looks whether a program answers

	mu    sync.Mutex
	known map[int]*lane // by process
}

// A lane leads to one program.
type lane struct {
	turn chan struct{} // holds one token
	hung time.Time     // since when it does not answer; guarded by lanes.mu
	// unrest is what of the program changes by itself, for whoever has the turn.
	unrest desktop.Unrest
}

func newLanes(answers func(context.Context, desktop.App) error) *lanes {
	return &lanes{answers: answers, known: make(map[int]*lane)}
}

// run waits for the program's turn and calls f. If f ends by a deadline, the
// program counts as hung: until it answers again, calls fail at once.
func (l *lanes) run(ctx context.Context, app desktop.App, f func() (*aai.Result, error)) (*aai.Result, error) {
	way := l.of(app)
	if err := l.open(app, way); err != nil {
		return nil, err
	}
	select {
	case <-way.turn:
	case <-ctx.Done():
		return nil, busy(app)
	}
	defer func() { way.turn <- struct{}{} }()
	if err := l.open(app, way); err != nil { // it hung meanwhile
		return nil, err
	}
	result, err := f()
	if err != nil && aai.AsError(err).Code == aai.Timeout {
		l.close(app, way)
	}
	return result, err
}

func (l *lanes) of(app desktop.App) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	way := l.known[app.PID]
	if way == nil {
		way = &lane{turn: make(chan struct{}, 1)}
		way.turn <- struct{}{}
		l.known[app.PID] = way
	}
	return way
}

// open fails while the program hangs.
func (l *lanes) open(app desktop.App, way *lane) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if way.hung.IsZero() {
		return nil
	}
	e := aai.Errorf(aai.Timeout, "%s has not answered for %s", aai.CleanLabel(app.Name, 60), time.Since(way.hung).Round(time.Second/10))
	e.Delivery = aai.NotDelivered
	e.Hint = "It is being watched: call again when it may have recovered, or ask the person to look at it."
	return e
}

// close marks the program as hung and looks now and then whether it answers.
func (l *lanes) close(app desktop.App, way *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !way.hung.IsZero() {
		return
	}
	way.hung = time.Now()
	go l.watch(app, way, way.hung)
}

func (l *lanes) watch(app desktop.App, way *lane, since time.Time) {
	for wait := firstProbe; time.Since(since) < probeEnd; wait = min(2*wait, probeLimit) {
		time.Sleep(wait)
		ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
		err := l.answers(ctx, app)
		cancel()
		if err == nil || aai.AsError(err).Code != aai.Timeout {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	way.hung = time.Time{}
}

func busy(app desktop.App) error {
	e := aai.Errorf(aai.Timeout, "other calls to %s took until the deadline", aai.CleanLabel(app.Name, 60))
	e.Delivery = aai.NotDelivered
	return e
}

// answers looks whether the program answers at all.
func (d *desk) answers(ctx context.Context, app desktop.App) error {
	if _, err := d.open().Tree.Snapshot(ctx, app); err != nil {
		return unread(err)
	}
	return nil
}

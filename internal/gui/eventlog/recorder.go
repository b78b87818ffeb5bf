// Package eventlog records the events of programs while a caller follows or reads them, and reports when a program's tree
// or its state has changed. A program without listeners costs nothing.
package eventlog

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// A Topic is a kind of changes that callers follow.
type Topic int

// The topics.
const (
	Events Topic = iota // every event
	Tree                // the elements
	State               // the result of Config.State
	topics
)

const (
	// FoldTime is the shortest time between two reports of a change. The first one is reported immediately.
	FoldTime = 100 * time.Millisecond
	// workShare bounds the looks at a program with a large tree: the pause after a look is this many times its duration.
	workShare = 10
	// silentInterval is how often a program that has worked without reporting events is looked at. While a program that
	// reports events does nothing, the interval grows to idleInterval.
	silentInterval = time.Second
	idleInterval   = 4 * time.Second
	// readPatience is how long a reader waits for the descriptions of the last events.
	readPatience = 2 * time.Second
	// lookTimeout limits a look at a program that hangs.
	lookTimeout = 5 * time.Second
	// idleTime is how long a program without listeners is recorded after it was read.
	idleTime = 10 * time.Minute

	maxTitle = 200
	maxText  = 400
)

// A Recorder records the events of one run of a program. It is safe for concurrent use.
type Recorder struct {
	config Config
	app    desktop.App
	log    events.Log
	begun  time.Time
	wake   chan struct{}      // the listeners have changed
	reads  chan chan struct{} // readers that wait for descriptions
	notes  chan note
	ready  chan struct{} // closed once events are recorded
	ended  chan struct{}

	retire func() // keeps the log of the program, which has ended

	mu        sync.Mutex
	listeners [topics]map[*listener]struct{}
	read      time.Time // of the last reading
	polled    bool      // the program reports no events

	recent  []*desktop.Snapshot // the last ones, oldest first; for the goroutine only, as the following
	known   known
	state   any
	version uint64
	busy    time.Duration
}

// A listener is called after a change.
type listener struct{ changed func() }

// Listen calls changed, which must not block, after each change of the topic, until stop.
func (r *Recorder) Listen(topic Topic, changed func()) (stop func()) {
	l := &listener{changed}
	r.mu.Lock()
	r.listeners[topic][l] = struct{}{}
	r.mu.Unlock()
	r.nudge()
	return func() {
		r.mu.Lock()
		delete(r.listeners[topic], l)
		r.mu.Unlock()
		r.nudge()
	}
}

func (r *Recorder) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Ended is closed when the program has ended, or nobody has listened to it or read it for a while.
func (r *Recorder) Ended() <-chan struct{} { return r.ended }

// App returns the program.
func (r *Recorder) App() desktop.App {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.app
}

// Begun returns the time of the first event that could be recorded.
func (r *Recorder) Begun() time.Time { return r.begun }

// IsPolled reports whether the program reports no events, so that changes are found by looking each second.
func (r *Recorder) IsPolled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.polled
}

// Log returns the events, and counts as a reading. It waits a while for the descriptions of their elements.
func (r *Recorder) Log(ctx context.Context) *events.Log {
	r.mu.Lock()
	r.read = time.Now()
	r.mu.Unlock()
	if r.log.IsOpen() {
		ctx, cancel := context.WithTimeout(ctx, readPatience)
		defer cancel()
		r.await(ctx)
	}
	return &r.log
}

// await waits until the elements of all events so far are described.
func (r *Recorder) await(ctx context.Context) {
	described := make(chan struct{})
	select {
	case r.reads <- described:
	case <-r.ended:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-described:
	case <-r.ended:
	case <-ctx.Done():
	}
}

// notify calls the listeners of a topic.
func (r *Recorder) notify(topic Topic) {
	r.mu.Lock()
	all := make([]*listener, 0, len(r.listeners[topic]))
	for l := range r.listeners[topic] {
		all = append(all, l)
	}
	r.mu.Unlock()
	for _, l := range all {
		l.changed()
	}
}

// isFollowed reports whether a topic has listeners.
func (r *Recorder) isFollowed(all ...Topic) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(all, func(t Topic) bool { return len(r.listeners[t]) > 0 })
}

// isUnused reports whether the recorder has no listeners, and no reader for the time idleTime.
func (r *Recorder) isUnused() bool {
	if r.isFollowed(Events, Tree, State) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.read) > idleTime
}

// run records until the program ends or the recorder is unused.
func (r *Recorder) run(ctx context.Context) {
	defer close(r.ended)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	reported := r.watch(ctx)
	close(r.ready)
	r.look(ctx)
	interval := silentInterval
	tick, due := time.NewTimer(interval), time.NewTimer(time.Hour)
	defer tick.Stop()
	defer due.Stop()
	due.Stop()
	armed, pause, looked := false, FoldTime, time.Now()
	for {
		select {
		case e := <-reported:
			if e.Kind == desktop.Lost && e.Detail == desktop.Ended {
				reported = nil
				tick.Reset(FoldTime) // the process ends later, or has lost its connection only
				continue
			}
			if r.record(e) && !armed {
				due.Reset(max(0, time.Until(looked.Add(pause))))
				armed = true
			}
			if interval > silentInterval {
				interval = silentInterval
				tick.Reset(interval)
			}
		case n := <-r.notes:
			r.log.Add(n.event())
			r.notify(Events)
		case described := <-r.reads:
			r.look(ctx)
			close(described)
		case <-due.C:
			armed, looked = false, time.Now()
			r.look(ctx)
			pause = max(FoldTime, workShare*time.Since(looked))
			looked = time.Now()
		case <-tick.C:
			if r.isUnused() {
				return
			}
			if !r.config.IsRunning(r.app.PID) {
				r.end()
				return
			}
			if reported == nil {
				reported = r.reconnect(ctx)
			}
			interval = r.lookIfSilent(ctx, interval)
			tick.Reset(interval)
		case <-r.wake:
		case <-ctx.Done():
			return
		}
	}
}

// lookIfSilent looks at a program that has worked, and returns the time until the next such look.
func (r *Recorder) lookIfSilent(ctx context.Context, interval time.Duration) time.Duration {
	worked := r.hasWorked()
	if worked {
		r.look(ctx)
	}
	if worked || r.IsPolled() {
		return silentInterval
	}
	return min(2*interval, idleInterval)
}

// reconnect watches a program again after its events have ended, such as after a restart of the accessibility bus.
func (r *Recorder) reconnect(ctx context.Context) <-chan desktop.Event {
	if r.config.Backend.Events == nil {
		return nil
	}
	app, err := r.config.Current(ctx, r.app)
	if err != nil {
		return nil // the next attempt is a second later
	}
	wasPolled, isSame := r.IsPolled(), app.Key == r.app.Key && app.HiddenReason == r.app.HiddenReason
	if wasPolled && isSame && app.HiddenReason != "" {
		return nil
	}
	r.mu.Lock()
	r.app = app
	r.mu.Unlock()
	if !isSame {
		r.recent = nil
	}
	reported := r.watch(ctx)
	if reported != nil || !wasPolled {
		r.log.Add(events.Event{Type: events.Lost, At: time.Now()})
		r.notify(Events)
	}
	return reported
}

// end records the end of the program.
func (r *Recorder) end() {
	r.log.Add(events.Event{Type: events.Ended, At: time.Now()})
	r.retire() // before the listeners read
	for topic := range topics {
		r.notify(topic)
	}
}

// watch returns the program's events; nil if it reports none.
func (r *Recorder) watch(ctx context.Context) <-chan desktop.Event {
	if r.config.Backend.Events != nil && r.app.HiddenReason == "" {
		if reported, err := r.config.Backend.Events.Watch(ctx, r.app); err == nil {
			r.setPolled(false)
			return reported
		}
	}
	r.setPolled(true)
	return nil
}

func (r *Recorder) setPolled(polled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.polled = polled
}

// hasWorked reports whether the program has worked since the last call. A program that changes without reporting events
// has worked.
func (r *Recorder) hasWorked() bool {
	if r.config.Backend.Events == nil {
		return true
	}
	busy := r.config.Backend.Events.BusyTime(r.app)
	worked := busy != r.busy || busy == 0
	r.busy = busy
	return worked
}

// record adds an event to the log, and reports whether the program has to be looked at. Movements of the caret and of
// elements are no events for models.
func (r *Recorder) record(e desktop.Event) bool {
	entry := events.Event{Type: typeOf(e), At: e.At, Subject: string(e.ID)}
	if entry.Type == "" || !watch.MayBeEffect(e) {
		return false
	}
	if e.Kind == desktop.StateChanged {
		if entry.Detail = e.Detail; e.Unset {
			entry.Detail = "not " + e.Detail
		}
	}
	if !r.repeats(entry) {
		r.log.Add(entry)
		r.notify(Events)
	}
	return true
}

// typeOf returns the type of an event; "" for one that models do not get.
func typeOf(e desktop.Event) string {
	switch e.Kind {
	case desktop.WindowChanged:
		return map[string]string{"opened": windowOpened, "closed": windowClosed, "activated": windowActivated}[e.Detail]
	case desktop.FocusMoved:
		return focusChanged
	case desktop.NameChanged:
		return nameChanged
	case desktop.ValueChanged:
		return valueChanged
	case desktop.TextChanged:
		return textChanged
	case desktop.StateChanged:
		if isConstant(e.Detail) {
			return ""
		}
		return stateChanged
	case desktop.SelectionMoved:
		return selectionChanged
	case desktop.ChildrenChanged:
		return structureChanged
	case desktop.Lost:
		return events.Lost
	case desktop.CaretMoved, desktop.BoundsChanged:
	}
	return ""
}

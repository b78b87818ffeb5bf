// Package eventlog records the events of programs while a caller follows or reads them, and reports when a program's tree
// or its state has changed. A program without listeners costs nothing.
package eventlog

import (
	"context"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
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
	// silentInterval is how often a program that has worked without reporting events is looked at.
	silentInterval = time.Second
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
	wake   chan struct{} // the listeners have changed
	notes  chan desktop.Notification
	ready  chan struct{} // closed once events are recorded
	ended  chan struct{}

	mu        sync.Mutex
	listeners [topics]map[*listener]struct{}
	read      time.Time // of the last reading
	polled    bool      // the program reports no events

	last    *desktop.Snapshot // for the goroutine only, as the following
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

// Begun returns the time of the first event that could be recorded.
func (r *Recorder) Begun() time.Time { return r.begun }

// IsPolled reports whether the program reports no events, so that changes are found by looking each second.
func (r *Recorder) IsPolled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.polled
}

// Log returns the events, and counts as a reading.
func (r *Recorder) Log() *events.Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = time.Now()
	return &r.log
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
	tick := time.NewTicker(silentInterval)
	defer tick.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	if !due.Stop() {
		<-due.C
	}
	armed, pause, looked := false, FoldTime, time.Now()
	for {
		select {
		case e, open := <-reported:
			if !open {
				r.end()
				return
			}
			if r.record(e) && !armed {
				due.Reset(max(0, time.Until(looked.Add(pause))))
				armed = true
			}
		case n := <-r.notes:
			r.log.Add(events.Event{Type: notificationType, Title: aai.CleanLabel(n.Title, maxTitle), Text: aai.CleanLabel(n.Text, maxText), At: n.At})
			r.notify(Events)
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
			if r.hasWorked() {
				r.look(ctx)
			}
		case <-r.wake:
		case <-ctx.Done():
			return
		}
	}
}

// end records the end of the program.
func (r *Recorder) end() {
	r.log.Add(events.Event{Type: events.Ended, At: time.Now()})
	for topic := range topics {
		r.notify(topic)
	}
}

// watch returns the program's events; nil if it reports none.
func (r *Recorder) watch(ctx context.Context) <-chan desktop.Event {
	if r.config.Backend.Events != nil && r.app.HiddenReason == "" {
		if reported, err := r.config.Backend.Events.Watch(ctx, r.app); err == nil {
			return reported
		}
	}
	r.mu.Lock()
	r.polled = true
	r.mu.Unlock()
	return nil
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
		entry.Detail = e.Detail
	}
	r.log.Add(entry)
	r.notify(Events)
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

// look reads the program, describes the elements of new events, and reports changes of its tree and its state.
func (r *Recorder) look(ctx context.Context) {
	if r.last != nil && !r.log.IsOpen() && !r.isFollowed(Tree, State) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	now, err := r.snapshot(ctx)
	if err != nil {
		return // the program hangs or has ended; its next event or its end comes later
	}
	before := r.last
	r.last = now
	if r.log.IsOpen() {
		r.log.Describe(describer(before, now))
	}
	if before != nil {
		r.addDialogs(before, now)
		if r.IsPolled() {
			r.addWindows(before, now)
		}
	}
	if now.Version != r.version {
		r.version = now.Version
		if before != nil {
			r.notify(Tree)
		}
		if state := r.config.State(now); !reflect.DeepEqual(state, r.state) {
			r.state = state
			if before != nil {
				r.notify(State)
			}
		}
	}
}

// snapshot reads the program's tree, or the list of its windows if it has no tree.
func (r *Recorder) snapshot(ctx context.Context) (*desktop.Snapshot, error) {
	if r.app.HiddenReason == "" || r.config.Backend.Windows == nil {
		return r.config.Backend.Tree.Snapshot(ctx, r.app)
	}
	all, err := r.config.Backend.Windows.Windows(ctx)
	if err != nil {
		return nil, err
	}
	s := &desktop.Snapshot{App: r.app, Taken: time.Now()}
	version := fnv.New64a()
	for _, w := range all {
		if w.PID == r.app.PID {
			e := desktop.Element{ID: desktop.ID(fmt.Sprint("window ", w.ID)), Role: desktop.Window, Name: w.Title, States: desktop.Showing, Parent: -1}
			if w.Active {
				e.States |= desktop.Active
			}
			_, _ = fmt.Fprint(version, e.ID, e.Name, e.States) // it never fails
			s.Elements = append(s.Elements, e)
		}
	}
	desktop.SetEnds(s.Elements)
	s.Version = version.Sum64()
	return s, nil
}

// addWindows adds the windows that were opened and closed, for a program that does not report them.
func (r *Recorder) addWindows(before, now *desktop.Snapshot) {
	add := func(kind string, in, other *desktop.Snapshot) {
		for _, i := range in.Children(-1) {
			if w := &in.Elements[i]; other.Index(w.ID) < 0 {
				r.log.Add(events.Event{Type: kind, Element: desktop.Describe(w), Title: aai.CleanLabel(w.Name, maxTitle), At: now.Taken})
				r.notify(Events)
			}
		}
	}
	add(windowOpened, now, before)
	add(windowClosed, before, now)
}

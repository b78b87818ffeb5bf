package treecache

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

const (
	// watchBuffer is the number of events that usually wait for a reader.
	watchBuffer = 256
	// maxQueued is the number of further events that wait for a reader that is slower than the app.
	maxQueued = 10_000
)

// A Broadcaster distributes one app's events to watchers. The zero value is ready; it is safe for
// concurrent use, and no method waits for a watcher.
type Broadcaster struct {
	mu     sync.Mutex
	all    map[*watcher]struct{}
	closed bool // the app has ended
}

// A watcher is one reader of events.
type watcher struct {
	events chan desktop.Event
	done   <-chan struct{}
	queue  []desktop.Event // events that do not fit into the channel, in order; guarded by Broadcaster.mu
	pumped bool            // a goroutine moves the queue into the channel
	ended  bool            // the channel is closed once the queue is empty
}

// Watch delivers events from now until the context ends, as specified by [desktop.Events]. It returns
// false, and delivers nothing, if the app has ended.
func (w *Broadcaster) Watch(ctx context.Context) (<-chan desktop.Event, bool) {
	reader := &watcher{events: make(chan desktop.Event, watchBuffer), done: ctx.Done()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, false
	}
	if w.all == nil {
		w.all = map[*watcher]struct{}{}
	}
	w.all[reader] = struct{}{}
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, reader)
		reader.ended = true
		if !reader.pumped {
			close(reader.events)
		}
	})
	return reader.events, true
}

// Send sends the event to all watchers.
func (w *Broadcaster) Send(e desktop.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	for reader := range w.all {
		w.deliver(reader, e)
	}
}

// Close closes all watchers because the app has ended.
func (w *Broadcaster) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	for reader := range w.all {
		w.deliver(reader, desktop.Event{Kind: desktop.Lost, Detail: desktop.Ended, At: time.Now()})
	}
}

// IsClosed reports whether the app has ended.
func (w *Broadcaster) IsClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// deliver adds an event to the channel, or to the queue. A full queue ends with one event of the kind Lost.
func (w *Broadcaster) deliver(r *watcher, e desktop.Event) {
	if len(r.queue) == 0 && !r.pumped {
		select {
		case r.events <- e:
			return
		default:
		}
	}
	switch len(r.queue) {
	case maxQueued:
		return
	case maxQueued - 1:
		e = desktop.Event{Kind: desktop.Lost, At: e.At}
	}
	r.queue = append(r.queue, e)
	if !r.pumped {
		r.pumped = true
		go w.pump(r)
	}
}

// pump moves the queue into the channel until it is empty or the reader has ended.
func (w *Broadcaster) pump(r *watcher) {
	for {
		w.mu.Lock()
		batch := r.queue
		r.queue = nil
		if len(batch) == 0 || r.ended {
			r.pumped = false
			if r.ended {
				close(r.events)
			}
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		for _, e := range batch {
			select {
			case r.events <- e:
			case <-r.done:
			}
		}
	}
}

// A state is the certainty that the last reading is still current.
type state int

// The states.
const (
	unread    state = iota // no reading, or a partly updated one
	partial                // since an action, only reported changes were read
	fresh                  // read, and different from the reading before
	settled                // two readings were equal
	confirmed              // two readings were equal, and the app was idle in between
	shared                 // parts of the app belong to other processes, which may have changed them
)

const (
	// provenAge is how long a reading stays current while the app has been idle since. It is shorter than
	// the time between two snapshots that look for an effect. The reading may have missed changes before
	// the app became idle, such as effects of input that arrived with our queries.
	provenAge = 50 * time.Millisecond
	// confirmedAge is the same limit for a confirmed reading: the second reading found the changes that the
	// first one missed.
	confirmedAge = 10 * time.Second
)

// freshness describes the meaning of a state.
type freshness struct {
	lasts   time.Duration // how long no reading is necessary while the app is idle
	recheck bool          // read again in the background until confirmed
}

func (s state) freshness() freshness {
	return [...]freshness{
		unread:    {0, false},
		partial:   {0, true},
		fresh:     {0, true},
		settled:   {provenAge, true},
		confirmed: {confirmedAge, false},
		shared:    {0, false},
	}[s]
}

// nextState returns the state after a reading in the mode.
func nextState(how readMode, v View, same bool) state {
	switch {
	case v.Shared:
		return shared
	case how == readReported:
		return partial
	case same:
		return settled
	}
	return fresh
}

// A readMode is the extent of a reading.
type readMode int

// The modes.
const (
	readAll      readMode = iota // everything
	readChanged                  // marked parts, and all frames
	readReported                 // marked parts only
)

const (
	// trustedAge is how long a complete reading stays valid, apart from marked parts, for a running app
	// that sends events.
	trustedAge = time.Second
	// checkedAge is the same limit for an app with checked trust, apart from invisible parts.
	checkedAge = 30 * time.Second
	// settleTime is the time after an action in which every snapshot reads everything anew.
	settleTime = time.Second
	// slowRead is the maximum duration of a complete reading while a caller awaits the effect of an action.
	slowRead = 100 * time.Millisecond
	// fewElements is the maximum size of an app that is always read completely.
	fewElements = 400
)

// A readPlan holds the data for the choice of a readMode.
type readPlan struct {
	state            state
	reportsChanges   bool          // the app sends events and has sent at least one
	checked          bool          // a partial reading also finds visible changes without events
	unsure           time.Duration // since a partial reading failed to do so
	acted            time.Duration // since the last action
	firstAfterAction bool          // there are marks, and this is the first snapshot since the action
	awaits           bool          // the caller awaits the effect of the action
	elements         int
	age              time.Duration // of the last complete reading
	took             time.Duration // duration of that reading
}

// hurried reports whether a complete reading would take too long for a caller that awaits the effect of an
// action.
func (k readPlan) hurried() bool { return k.acted < settleTime && k.took > slowRead }

// mode returns the mode of the first row that applies.
func (k readPlan) mode() readMode {
	switch {
	case k.state == unread, !k.reportsChanges:
		return readAll
	case k.acted < settleTime && k.firstAfterAction, k.awaits && k.hurried():
		return readReported // the caller waits for it
	case k.checked && k.unsure > trustedAge && k.age < checkedAge:
		return readChanged
	case k.acted < settleTime, k.elements <= fewElements, k.age > trustedAge:
		return readAll
	}
	return readChanged
}

// confirmPatience is the time limit for a reading in the background.
const confirmPatience = 2 * time.Second

// confirmPauses returns the pauses before the attempts.
func confirmPauses() []time.Duration {
	return []time.Duration{provenAge, 2 * provenAge, 4 * provenAge, 10 * provenAge, 40 * provenAge}
}

// confirmCost is the maximum time for background readings after one call. They save at most one reading,
// and an app that never becomes idle is never confirmed: LibreOffice took five readings of a fifth of a
// second each after every call.
const confirmCost = 2 * slowRead

// confirmLater reads the app again in the background, a few times at most, until the reading is confirmed.
// A call some seconds later then need not read everything, unless the app has run since. It gives up sooner
// on an app that is slow to read.
func (m *Cache[K, T]) confirmLater() {
	if !m.confirming.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer m.confirming.Store(false)
		var cost time.Duration
		for _, pause := range confirmPauses() {
			time.Sleep(pause)
			begun := time.Now()
			done := m.confirm()
			if cost += time.Since(begun); done || cost >= confirmCost {
				return
			}
		}
	}()
}

// confirm reads the app if it is idle and no other reading is in progress. It reports whether the work is
// finished.
func (m *Cache[K, T]) confirm() (done bool) {
	if m.IsClosed() {
		return true
	}
	select {
	case m.readLock <- struct{}{}:
	default:
		return false // another reading may change the state
	}
	defer m.release()
	if !m.state.freshness().recheck {
		return true
	}
	if now := time.Now(); m.unchanged(now) || m.newReadPlan(now, false).hurried() {
		return false // too early for a second reading, or a caller awaits the effect of an action
	}
	rested := m.state != partial && m.isIdle()
	ctx, cancel := context.WithTimeout(context.Background(), confirmPatience)
	defer cancel()
	if _, err := m.refresh(ctx); err != nil {
		return true
	}
	if rested && m.state == settled {
		m.state = confirmed
	}
	return !m.state.freshness().recheck
}

// maxPasswordFields limits the memory for an app that invents password fields.
const maxPasswordFields = 10_000

// PasswordFields remembers the objects of an app that have been password fields. Such an object stays one
// as long as it exists. A page's "show password" turns it into a text field and shows the password to
// people, but the gateway must not read it. The zero value is ready; it is safe for concurrent use.
type PasswordFields[K comparable] struct {
	mu    sync.Mutex
	known map[K]bool
}

// Add records that the object is a password field.
func (s *PasswordFields[K]) Add(object K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[K]bool{}
	}
	if len(s.known) < maxPasswordFields {
		s.known[object] = true
	}
}

// Has reports whether the object has been a password field.
func (s *PasswordFields[K]) Has(object K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[object]
}

package treecache

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// ErrUnknownChanges is what a [Source] answers that cannot say what has changed: then all is read.
var ErrUnknownChanges = errors.New("what has changed cannot be told")

// A Source is one app, as its platform reads it. T is what it reads, such as a tree of
// the platform's own kind; K names an object in it. All but Pulse are called by one
// goroutine at a time; a reading is used no more after an error.
type Source[K comparable, T any] interface {
	// ReadAll reads all that the app shows. Before is the last reading, or the zero T if
	// there is none; it is used no more, unless Whole fails.
	ReadAll(ctx context.Context, before T) (T, error)
	// ReadChanged reads what the marks say has changed and, unless it is to be hasty, where
	// everything is, into the last reading. In an app that is [TrustChecked] it also reads what
	// such an app does not tell of, or fails with [ErrUnknownChanges].
	ReadChanged(ctx context.Context, last T, marks DirtySet[K], hasty bool) error
	// Sync returns when all that the app told of before is marked.
	Sync(ctx context.Context, last T) error
	// View is what a snapshot of the reading has in it.
	View(ctx context.Context, last T) View
	// Heartbeat says how much the app has run so far.
	Heartbeat() Heartbeat
}

// A View is what a snapshot has in it.
type View struct {
	Elements []desktop.Element // they are not changed any more
	Warnings []string
	Shared   bool // other processes show parts of it
}

// A Pulse says how much each thread of a process has run so far. Two that are equal
// prove that the process did nothing in between, so that nothing in it changed. It
// is "" if that cannot be known, and then equals nothing.
//
// It is what makes up for toolkits that change in silence: Qt 6.4 tells nobody that
// a list was filled anew, and few toolkits tell of scrolling.
type Heartbeat string

// IsIdleSince reports whether nothing has run between the two.
func (p Heartbeat) IsIdleSince(earlier Heartbeat) bool { return p != "" && p == earlier }

// A Config is what a Mirror must be told.
type Config struct {
	// Version gives the number of a snapshot that differs from the one before: another one
	// at each call.
	Version func() uint64
	// OnRead is told the app's pulse after each reading, by the goroutine that has read.
	// May be nil.
	OnRead func(Heartbeat)
}

// A Mirror keeps what was read of one app. It is safe for concurrent use. Its errors are
// those of its source and of contexts.
type Cache[K comparable, T any] struct {
	Broadcaster // of the app's events; over when it has ended

	source   Source[K, T]
	config   Config
	readLock chan struct{} // held by who reads; guards the fields up to the empty line

	state     state
	reading   T             // the zero one in the state unread
	readAt    time.Time     // all of it
	took      time.Duration // to read all of it
	heartbeat Heartbeat     // of the app, after the last reading
	restedAt  time.Time     // when that was taken
	unsureAt  time.Time     // when what had changed could not be told

	last atomic.Pointer[desktop.Snapshot]
	// confirming is true while a goroutine of confirmLater is about.
	confirming atomic.Bool

	mu            sync.Mutex // guards what follows
	dirty         DirtySet[K]
	trust         Trust
	hasReported   bool      // the app has ever told of a change
	acted         time.Time // when it was last made to do something
	effectPending bool      // nobody has looked at what came of that
}

// New makes a mirror of an app of which nothing was read.
func New[K comparable, T any](source Source[K, T], c Config) *Cache[K, T] {
	return &Cache[K, T]{source: source, config: c, readLock: make(chan struct{}, 1)}
}

// Snapshot returns what the app shows, but for Snapshot.App.
//
// It is what is in memory if the app has not run since that was read. Else it reads what
// may have changed. Marks say what that is in apps that tell of all that changes: they
// come in the same order as the answer to a question, so all have been made by then. In
// other apps it is everything.
func (m *Cache[K, T]) Snapshot(ctx context.Context) (*desktop.Snapshot, error) {
	if err := m.acquire(ctx); err != nil {
		return nil, err
	}
	defer m.release()
	s, err := m.refresh(ctx)
	if err != nil {
		return nil, err
	}
	if m.state.freshness().recheck {
		m.confirmLater()
	}
	return s, nil
}

// Last is the last snapshot, or nil. It is not to be changed.
func (m *Cache[K, T]) Last() *desktop.Snapshot { return m.last.Load() }

// Find finds an element in the last snapshot, if there is one.
func (m *Cache[K, T]) Find(id desktop.ID) (desktop.Element, bool) {
	if s := m.Last(); s != nil {
		if i := s.Index(id); i >= 0 {
			return s.Elements[i], true
		}
	}
	return desktop.Element{}, false
}

// WithReading gives look the last reading, which nobody changes meanwhile. It is the zero T
// if there is none.
func (m *Cache[K, T]) WithReading(ctx context.Context, look func(T)) error {
	if err := m.acquire(ctx); err != nil {
		return err
	}
	defer m.release()
	look(m.reading)
	return nil
}

// Forget drops what was read.
func (m *Cache[K, T]) Forget(ctx context.Context) error {
	if err := m.acquire(ctx); err != nil {
		return err
	}
	defer m.release()
	m.drop()
	m.last.Store(nil)
	return nil
}

func (m *Cache[K, T]) acquire(ctx context.Context) error {
	select {
	case m.readLock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		m.release()
		return err
	}
	return nil
}

func (m *Cache[K, T]) release() { <-m.readLock }

// drop drops the reading.
func (m *Cache[K, T]) drop() {
	var none T
	m.state, m.reading = unread, none
}

// refresh makes a snapshot, and reads for it what must be read.
func (m *Cache[K, T]) refresh(ctx context.Context) (*desktop.Snapshot, error) {
	now := time.Now()
	if m.unchanged(now) {
		s := *m.last.Load()
		s.Taken = now
		return &s, nil
	}
	how, err := m.read(ctx, now)
	if err != nil {
		m.drop() // it may have been changed by half
		return nil, err
	}
	s := m.publish(m.source.View(ctx, m.reading), how, now)
	m.heartbeat, m.restedAt = m.idleHeartbeat(), time.Now()
	if m.config.OnRead != nil {
		m.config.OnRead(m.heartbeat)
	}
	return s, nil
}

// unchanged reports whether the app has done nothing since it was read.
func (m *Cache[K, T]) unchanged(now time.Time) bool {
	return now.Sub(m.restedAt) < m.state.freshness().lasts && m.isIdle()
}

// isIdle reports whether the app has not run since it was read, nor told of anything.
func (m *Cache[K, T]) isIdle() bool {
	return !m.isDirty() && m.source.Heartbeat().IsIdleSince(m.heartbeat)
}

// read reads what must be read.
func (m *Cache[K, T]) read(ctx context.Context, now time.Time) (how readMode, err error) {
	how = m.newReadPlan(now, desktop.HasPendingEffect(ctx)).mode()
	m.noteRead(how)
	if how == readChanged || how == readReported {
		if err := m.source.Sync(ctx, m.reading); err != nil {
			return how, err
		}
	}
	marks := m.take()
	if marks.overflowed {
		how = readAll
	}
	if how != readAll {
		err := m.source.ReadChanged(ctx, m.reading, marks, how == readReported)
		if !errors.Is(err, ErrUnknownChanges) {
			return how, err
		}
		how, m.unsureAt = readAll, now
	}
	reading, err := m.source.ReadAll(ctx, m.reading)
	if err == nil {
		m.reading, m.readAt, m.took = reading, now, time.Since(now)
	}
	return how, err
}

// newReadPlan is what the way is chosen by.
func (m *Cache[K, T]) newReadPlan(now time.Time, awaits bool) readPlan {
	k := readPlan{state: m.state, awaits: awaits, age: now.Sub(m.readAt), took: m.took, unsure: now.Sub(m.unsureAt)}
	if s := m.last.Load(); s != nil {
		k.elements = len(s.Elements)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k.reportsChanges, k.checked = m.trust != Untrusted && m.hasReported, m.trust == TrustChecked
	k.acted, k.firstAfterAction = now.Sub(m.acted), m.effectPending && m.dirty.any()
	return k
}

// noteRead notes that somebody looks in that way: the news after an act count once.
func (m *Cache[K, T]) noteRead(how readMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.effectPending = m.effectPending && how != readReported
}

// publish makes a snapshot. It has the version of the last one if it does not differ
// from it.
func (m *Cache[K, T]) publish(v View, how readMode, now time.Time) *desktop.Snapshot {
	s := &desktop.Snapshot{Elements: v.Elements, Warnings: v.Warnings, Taken: now}
	last := m.last.Load()
	same := last != nil && slices.EqualFunc(last.Elements, v.Elements, sameElement)
	if same {
		s.Elements, s.Version = last.Elements, last.Version
	} else {
		s.Version = m.config.Version()
	}
	m.state = nextState(how, v, same)
	m.last.Store(s)
	published := *s
	return &published
}

func sameElement(a, b desktop.Element) bool {
	return a.ID == b.ID && a.Role == b.Role && a.Name == b.Name && a.Value == b.Value && a.Description == b.Description &&
		a.Identifier == b.Identifier && a.States == b.States && a.Frame == b.Frame && slices.Equal(a.Actions, b.Actions) &&
		a.Pos == b.Pos && a.Size == b.Size && a.Min == b.Min && a.Max == b.Max && a.UnreadChildren == b.UnreadChildren &&
		a.Parent == b.Parent && a.End == b.End
}

// idleHeartbeat takes the app's pulse when it has come to rest after having answered,
// which on a busy computer takes a moment. Where it does not there is none.
func (m *Cache[K, T]) idleHeartbeat() Heartbeat {
	const first, last = 50 * time.Microsecond, 2 * time.Millisecond
	for pause := first; pause < last; pause *= 2 {
		if beat := m.source.Heartbeat(); beat != "" {
			return beat
		}
		time.Sleep(pause)
	}
	return m.source.Heartbeat()
}

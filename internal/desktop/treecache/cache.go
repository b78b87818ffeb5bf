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

// ErrUnknownChanges is returned by a [Source] that cannot determine the changes: then the cache reads
// everything.
var ErrUnknownChanges = errors.New("the changes are not known")

// A Source reads one app for its platform. T is a reading, such as the platform's tree; K identifies an
// object in it. All methods but Heartbeat are called by one goroutine at a time. A reading is discarded
// after an error.
type Source[K comparable, T any] interface {
	// ReadAll reads the whole app. before is the last reading, or the zero T if there is none. The cache never uses
	// before again.
	ReadAll(ctx context.Context, before T) (T, error)
	// ReadChanged updates the last reading with the marked changes and, unless hasty, with all frames. For
	// an app with [TrustChecked] it also reads changes without events, or fails with [ErrUnknownChanges].
	ReadChanged(ctx context.Context, last T, marks DirtySet[K], hasty bool) error
	// Sync waits until all earlier events of the app are marked.
	Sync(ctx context.Context, last T) error
	// View returns the contents of a snapshot of the reading.
	View(ctx context.Context, last T) View
	// Heartbeat returns a measure of the app's processor time.
	Heartbeat() Heartbeat
}

// A View holds the contents of a snapshot.
type View struct {
	Elements []desktop.Element // immutable
	Warnings []string
	Shared   bool // parts of the tree belong to other processes
}

// A Heartbeat identifies how much each thread of a process has run so far. If two are equal, the process
// did nothing in between, so nothing in it changed. It is "" if unknown, and then equals nothing.
//
// It compensates for missing events: Qt 6.4 sends none when a list is refilled, and few toolkits send any
// for scrolling.
type Heartbeat string

// IsIdleSince reports whether nothing ran between the two heartbeats.
func (p Heartbeat) IsIdleSince(earlier Heartbeat) bool { return p != "" && p == earlier }

// A Config configures a Cache.
type Config struct {
	// Version returns the Snapshot.Version for a changed snapshot, a different number at each call.
	Version func() uint64
	// OnRead receives the app's heartbeat after each reading, on the reading goroutine. May be nil.
	OnRead func(Heartbeat)
}

// A Cache keeps the last reading of one app. It is safe for concurrent use. It returns the errors of its
// source and of contexts.
type Cache[K comparable, T any] struct {
	Broadcaster // of the app's events; closed when the app has ended

	source   Source[K, T]
	config   Config
	readLock chan struct{} // held while reading; guards the fields up to the empty line

	state     state
	reading   T             // zero in the state unread
	readAt    time.Time     // time of the last complete reading
	took      time.Duration // duration of the last complete reading
	heartbeat Heartbeat     // of the app, after the last reading
	restedAt  time.Time     // time of heartbeat
	unsureAt  time.Time     // last time when the changes could not be determined

	last atomic.Pointer[desktop.Snapshot]
	// confirming is true while a goroutine of confirmLater runs.
	confirming atomic.Bool

	mu            sync.Mutex // guards the following fields
	dirty         DirtySet[K]
	trust         Trust
	hasReported   bool      // the app has sent at least one event
	acted         time.Time // time of the last action
	effectPending bool      // no snapshot was taken since that action
}

// New returns an empty cache of an app.
func New[K comparable, T any](source Source[K, T], c Config) *Cache[K, T] {
	return &Cache[K, T]{source: source, config: c, readLock: make(chan struct{}, 1)}
}

// Snapshot returns the app's current snapshot, without Snapshot.App.
//
// It returns the last snapshot if the app has not run since. Otherwise it reads the parts that may have
// changed. For apps that send events for all changes these are the marked parts: events arrive in order
// with answers, so all marks are set by then. For other apps it reads everything.
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

// Last returns the last snapshot, or nil. Callers must not modify it.
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

// WithReading calls look with the last reading, which does not change meanwhile. It is the zero T if there
// is none.
func (m *Cache[K, T]) WithReading(ctx context.Context, look func(T)) error {
	if err := m.acquire(ctx); err != nil {
		return err
	}
	defer m.release()
	look(m.reading)
	return nil
}

// Forget discards the last reading and the last snapshot.
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

// drop discards the reading.
func (m *Cache[K, T]) drop() {
	var none T
	m.state, m.reading = unread, none
}

// refresh makes a snapshot and reads the necessary parts for it.
func (m *Cache[K, T]) refresh(ctx context.Context) (*desktop.Snapshot, error) {
	now := time.Now()
	if m.unchanged(now) {
		s := *m.last.Load()
		s.Taken = now
		desktop.ReadsOf(ctx).AddSnapshot(true)
		return &s, nil
	}
	desktop.ReadsOf(ctx).AddSnapshot(false)
	how, err := m.read(ctx, now)
	if err != nil {
		m.drop() // it may be only partly updated
		return nil, err
	}
	s := m.publish(m.source.View(ctx, m.reading), how, now)
	m.heartbeat, m.restedAt = m.idleHeartbeat(), time.Now()
	if m.config.OnRead != nil {
		m.config.OnRead(m.heartbeat)
	}
	return s, nil
}

// unchanged reports whether the app has been idle since the last reading.
func (m *Cache[K, T]) unchanged(now time.Time) bool {
	return now.Sub(m.restedAt) < m.state.freshness().lasts && m.isIdle()
}

// isIdle reports whether the app has neither run nor sent an event since the last reading.
func (m *Cache[K, T]) isIdle() bool {
	return !m.isDirty() && m.source.Heartbeat().IsIdleSince(m.heartbeat)
}

// read reads the necessary parts.
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

// newReadPlan returns the data on which the choice of the mode depends.
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

// noteRead records a reading in that mode: the first one after an action counts as such only once.
func (m *Cache[K, T]) noteRead(how readMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.effectPending = m.effectPending && how != readReported
}

// publish makes a snapshot. It keeps the version of the last one if both are equal.
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
		a.Pos == b.Pos && a.Size == b.Size && a.Min == b.Min && a.Max == b.Max && a.Level == b.Level && a.Language == b.Language && a.UnreadChildren == b.UnreadChildren &&
		a.Parent == b.Parent && a.End == b.End
}

// idleHeartbeat returns the app's heartbeat once it is idle after its answer, which on a busy computer
// takes a moment. It returns "" if the app stays busy.
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

// maxDirty is the number of marks from which reading everything is less work.
const maxDirty = 200

// A DirtySet marks possible changes in an app since the last reading. K identifies an object in it.
type DirtySet[K comparable] struct {
	Changed         map[K]bool // objects with changed properties
	ChildrenChanged map[K]bool // objects that gained or lost children
	overflowed      bool       // too many marks to keep
}

// AddChanged marks an object with changed properties.
func (m *DirtySet[K]) AddChanged(object K) {
	if m.Changed == nil {
		m.Changed = map[K]bool{}
	}
	m.Changed[object] = true
	m.overflowed = m.overflowed || m.count() > maxDirty
}

// AddChildrenChanged marks an object that gained or lost children.
func (m *DirtySet[K]) AddChildrenChanged(object K) {
	if m.ChildrenChanged == nil {
		m.ChildrenChanged = map[K]bool{}
	}
	m.ChildrenChanged[object] = true
	m.overflowed = m.overflowed || m.count() > maxDirty
}

func (m *DirtySet[K]) count() int { return len(m.Changed) + len(m.ChildrenChanged) }

// any reports whether there is any mark.
func (m *DirtySet[K]) any() bool { return m.count() > 0 }

// MarkDirty calls change to add marks for a reason other than an event of the app, for example to
// force a read. Unlike MarkReported it does not count as an event.
func (m *Cache[K, T]) MarkDirty(change func(*DirtySet[K])) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.dirty)
}

// MarkReported calls change to add marks for events of the app.
func (m *Cache[K, T]) MarkReported(change func(*DirtySet[K])) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hasReported = true
	change(&m.dirty)
}

// Trust says how far the events of an app can be trusted to report all changes.
type Trust int

// The degrees of trust.
const (
	Untrusted    Trust = iota // many changes have no event
	TrustEvents               // nearly all changes have an event, except for frames
	TrustChecked              // as TrustEvents, and ReadChanged also looks for changes without events
)

// SetTrust sets how far the events of the app are trusted. It takes effect after its first event.
func (m *Cache[K, T]) SetTrust(c Trust) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trust = c
}

// NotifyAction records that an action on the app begins.
func (m *Cache[K, T]) NotifyAction() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acted, m.effectPending = time.Now(), true
}

// take returns the marks and clears them.
func (m *Cache[K, T]) take() DirtySet[K] {
	m.mu.Lock()
	defer m.mu.Unlock()
	marks := m.dirty
	m.dirty = DirtySet[K]{}
	return marks
}

func (m *Cache[K, T]) isDirty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dirty.any()
}

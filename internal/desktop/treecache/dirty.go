package treecache

import "time"

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

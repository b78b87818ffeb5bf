package treecache

import "time"

// maxDirty is when to read everything is less work than to read what changed.
const maxDirty = 200

// DirtySet say what may have changed in an app since it was read. K names an object in it.
type DirtySet[K comparable] struct {
	Changed         map[K]bool // objects that say something else of themselves
	ChildrenChanged map[K]bool // objects that others came into or went out of
	overflowed      bool       // there are too many to be told apart
}

// AddChanged marks an object that says something else of itself.
func (m *DirtySet[K]) AddChanged(object K) {
	if m.Changed == nil {
		m.Changed = map[K]bool{}
	}
	m.Changed[object] = true
	m.overflowed = m.overflowed || m.count() > maxDirty
}

// AddChildrenChanged marks an object that others came into or went out of.
func (m *DirtySet[K]) AddChildrenChanged(object K) {
	if m.ChildrenChanged == nil {
		m.ChildrenChanged = map[K]bool{}
	}
	m.ChildrenChanged[object] = true
	m.overflowed = m.overflowed || m.count() > maxDirty
}

func (m *DirtySet[K]) count() int { return len(m.Changed) + len(m.ChildrenChanged) }

// any reports whether anything is marked.
func (m *DirtySet[K]) any() bool { return m.count() > 0 }

// MarkDirty marks what a look at the app has found.
func (m *Cache[K, T]) MarkDirty(change func(*DirtySet[K])) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.dirty)
}

// MarkReported marks what the app has told of.
func (m *Cache[K, T]) MarkReported(change func(*DirtySet[K])) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hasReported = true
	change(&m.dirty)
}

// A Candour is how far it can be gone by what apps of a kind tell of themselves.
type Trust int

// The candours.
const (
	Untrusted    Trust = iota // much changes of which nothing is told
	TrustEvents               // nearly all is told, but for places
	TrustChecked              // so it is, and a Part looks besides after what is not
)

// SetTrust says of which kind the app is. It is believed when it has told of something.
func (m *Cache[K, T]) SetTrust(c Trust) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trust = c
}

// NotifyAction says that the app is being made to do something.
func (m *Cache[K, T]) NotifyAction() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acted, m.effectPending = time.Now(), true
}

// take returns the marks and begins anew.
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

package mirror

import "time"

// manyMarks is when to read everything is less work than to read what changed.
const manyMarks = 200

// Marks say what may have changed in an app since it was read. K names an object in it.
type Marks[K comparable] struct {
	Changed  map[K]bool // objects that say something else of themselves
	Refilled map[K]bool // objects that others came into or went out of
	all      bool       // there are too many to be told apart
}

// Change marks an object that says something else of itself.
func (m *Marks[K]) Change(object K) {
	if m.Changed == nil {
		m.Changed = map[K]bool{}
	}
	m.Changed[object] = true
	m.all = m.all || m.count() > manyMarks
}

// Refill marks an object that others came into or went out of.
func (m *Marks[K]) Refill(object K) {
	if m.Refilled == nil {
		m.Refilled = map[K]bool{}
	}
	m.Refilled[object] = true
	m.all = m.all || m.count() > manyMarks
}

func (m *Marks[K]) count() int { return len(m.Changed) + len(m.Refilled) }

// any reports whether anything is marked.
func (m *Marks[K]) any() bool { return m.count() > 0 }

// Mark marks what a look at the app has found.
func (m *Mirror[K, T]) Mark(change func(*Marks[K])) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.marks)
}

// Note marks what the app has told of.
func (m *Mirror[K, T]) Note(change func(*Marks[K])) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = true
	change(&m.marks)
}

// A Candour is how far it can be gone by what apps of a kind tell of themselves.
type Candour int

// The candours.
const (
	Silent  Candour = iota // much changes of which nothing is told
	Candid                 // nearly all is told, but for places
	Checked                // so it is, and a Part looks besides after what is not
)

// Trust says of which kind the app is. It is believed when it has told of something.
func (m *Mirror[K, T]) Trust(c Candour) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.candour = c
}

// Acted says that the app is being made to do something.
func (m *Mirror[K, T]) Acted() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acted, m.awaited = time.Now(), true
}

// take returns the marks and begins anew.
func (m *Mirror[K, T]) take() Marks[K] {
	m.mu.Lock()
	defer m.mu.Unlock()
	marks := m.marks
	m.marks = Marks[K]{}
	return marks
}

func (m *Mirror[K, T]) marked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marks.any()
}

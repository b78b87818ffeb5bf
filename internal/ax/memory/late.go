package memory

import (
	"time"

	"aai/internal/ax/watch"
	"aai/internal/desktop"
)

// IsLate remembers the act, or with nil that there is none.
func (s *Conversation) IsLate(app desktop.App, o *watch.Late) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.late[Of(app)]; was != nil {
		was.Stop()
	}
	if s.late[Of(app)] = o; o == nil {
		delete(s.late, Of(app))
	}
}

// LateOf is the act of this conversation that something may still come of; nil for none.
func (s *Conversation) LateOf(app desktop.App) *watch.Late {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late[Of(app)]
}

// IsLate remembers the act for everybody.
func (l *Programs) IsLate(app desktop.App, o *watch.Late) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late == nil {
		l.late = make(map[Process]*watch.Late)
	}
	l.late[Of(app)] = o
}

// LateOf is the act of anybody that something may still come of; nil for none.
func (l *Programs) LateOf(app desktop.App) *watch.Late {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.late[Of(app)]
}

// An Act is when anybody acted on a program; the zero time is never.
type Act struct {
	At   time.Time
	Late *watch.Late // the act, where it was answered before anything was seen of it; or nil
}

// Acts notes that somebody acts on the program again, and returns the act before: what comes now
// is not for sure what that did.
func (l *Programs) Acts(app desktop.App) (before Act) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acted == nil {
		l.acted = make(map[Process]time.Time)
	}
	before = Act{l.acted[Of(app)], l.late[Of(app)]}
	if l.acted[Of(app)] = time.Now(); before.Late != nil {
		before.Late.Ends()
		delete(l.late, Of(app))
	}
	return before
}

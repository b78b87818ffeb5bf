package conversation

import (
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// SetPending remembers the act, or with nil that there is none.
func (s *Session) SetPending(app desktop.App, o *watch.PendingEffect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.pending[ProcessOf(app)]; was != nil {
		was.Stop()
	}
	if s.pending[ProcessOf(app)] = o; o == nil {
		delete(s.pending, ProcessOf(app))
	}
}

// Pending is the act of this conversation that something may still come of; nil for none.
func (s *Session) Pending(app desktop.App) *watch.PendingEffect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[ProcessOf(app)]
}

// SetPending remembers the act for everybody.
func (l *AppCache) SetPending(app desktop.App, o *watch.PendingEffect) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = make(map[Process]*watch.PendingEffect)
	}
	l.pending[ProcessOf(app)] = o
}

// Pending is the act of anybody that something may still come of; nil for none.
func (l *AppCache) Pending(app desktop.App) *watch.PendingEffect {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[ProcessOf(app)]
}

// An Act is when anybody acted on a program; the zero time is never.
type LastAction struct {
	At      time.Time
	Pending *watch.PendingEffect // the act, where it was answered before anything was seen of it; or nil
}

// BeginAction notes that somebody acts on the program again, and returns the act before: what comes now
// is not for sure what that did.
func (l *AppCache) BeginAction(app desktop.App) (before LastAction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lastActed == nil {
		l.lastActed = make(map[Process]time.Time)
	}
	before = LastAction{l.lastActed[ProcessOf(app)], l.pending[ProcessOf(app)]}
	if l.lastActed[ProcessOf(app)] = time.Now(); before.Pending != nil {
		before.Pending.Supersede()
		delete(l.pending, ProcessOf(app))
	}
	return before
}

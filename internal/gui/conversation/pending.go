package conversation

import (
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/watch"
)

// SetPending stores the pending effect of the last action of the conversation, and stops observing the previous one;
// nil deletes it.
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

// Pending returns the pending effect of this conversation's last action, or nil.
func (s *Session) Pending(app desktop.App) *watch.PendingEffect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[ProcessOf(app)]
}

// SetPending stores the pending effect of the last action by any caller, for all conversations.
func (l *AppCache) SetPending(app desktop.App, o *watch.PendingEffect) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = make(map[Process]*watch.PendingEffect)
	}
	l.pending[ProcessOf(app)] = o
}

// Pending returns the pending effect of the last action by any caller, or nil.
func (l *AppCache) Pending(app desktop.App) *watch.PendingEffect {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[ProcessOf(app)]
}

// LastAction is the last action on a program by any caller; a zero At means never.
type LastAction struct {
	At      time.Time
	Pending *watch.PendingEffect // its effect, if the reply was sent before any was seen; or nil
}

// BeginAction records a new action on the program and returns the previous one. From now on, changes may no longer be
// effects of the previous action.
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

package memory

import (
	"time"

	"aai/internal/desktop"
)

// An Expected is what is known of the screen after an act, so that it can be told what comes.
// It is for who has the program's turn.
type Expected struct {
	Did   string // what was done
	Known map[desktop.WindowID]bool
	Since time.Time
}

// Expects remembers that of the conversation's last act on the program, or nil.
func (s *Conversation) Expects(app desktop.App, e *Expected) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expected[Of(app)] = e; e == nil {
		delete(s.expected, Of(app))
	}
}

// Expected is what was remembered of it; nil for nothing.
func (s *Conversation) Expected(app desktop.App) *Expected {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expected[Of(app)]
}

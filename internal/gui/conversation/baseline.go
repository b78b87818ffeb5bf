package conversation

import (
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// An Expected is what is known of the screen after an act, so that it can be told what comes.
// It is for who has the program's turn.
type Baseline struct {
	Action       string // what was done
	KnownWindows map[desktop.WindowID]bool
	Since        time.Time
}

// SetBaseline remembers that of the conversation's last act on the program, or nil.
func (s *Session) SetBaseline(app desktop.App, e *Baseline) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.baselines[ProcessOf(app)] = e; e == nil {
		delete(s.baselines, ProcessOf(app))
	}
}

// Baseline is what was remembered of it; nil for nothing.
func (s *Session) Baseline(app desktop.App) *Baseline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.baselines[ProcessOf(app)]
}

package conversation

import (
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// Baseline is the state of the screen after an action, to detect later windows. Callers that use it must hold the
// queue slot of the program.
type Baseline struct {
	Action       string // description of the action
	KnownWindows map[desktop.WindowID]bool
	Since        time.Time
}

// SetBaseline stores the baseline of the conversation's last action on the program; nil deletes it.
func (s *Session) SetBaseline(app desktop.App, e *Baseline) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.baselines[ProcessOf(app)] = e; e == nil {
		delete(s.baselines, ProcessOf(app))
	}
}

// Baseline returns the baseline of the last action of the conversation on the program, or nil.
func (s *Session) Baseline(app desktop.App) *Baseline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.baselines[ProcessOf(app)]
}

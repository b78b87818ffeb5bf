package conversation

import (
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Screenshot describes a screenshot that a conversation received: its area and scale.
type Screenshot struct {
	Window desktop.WindowID // 0: the screen
	At     desktop.Point    // position of the window at that time
	Area   desktop.Rect     // on the screen
	Scale  float64
}

// SetScreenshot stores the conversation's last screenshot; with pid 0 it is one of the whole
// screen, and replaces those of all programs.
func (s *Session) SetScreenshot(pid int, p Screenshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pid == 0 {
		clear(s.screenshots)
	}
	s.screenshots[pid] = p
}

// Screenshot returns the last screenshot of the program in the conversation, or else of the screen; false without
// one.
func (s *Session) Screenshot(app desktop.App) (Screenshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, is := s.screenshots[app.PID]
	if !is {
		p, is = s.screenshots[0]
	}
	return p, is
}

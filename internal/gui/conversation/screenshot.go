package conversation

import (
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Picture is a picture that a conversation was given: what it shows, and how much smaller.
type Screenshot struct {
	Window desktop.WindowID // 0: the screen
	At     desktop.Point    // of the window, when it was taken
	Area   desktop.Rect     // on the screen
	Scale  float64
}

// SetScreenshot remembers the picture that the conversation is given; of the whole screen for all
// programs.
func (s *Session) SetScreenshot(pid int, p Screenshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pid == 0 {
		clear(s.screenshots)
	}
	s.screenshots[pid] = p
}

// Screenshot is the picture that was given last of the program, or of the screen.
func (s *Session) Screenshot(app desktop.App) (Screenshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, is := s.screenshots[app.PID]
	if !is {
		p, is = s.screenshots[0]
	}
	return p, is
}

package memory

import (
	"aai/internal/desktop"
)

// A Picture is a picture that a conversation was given: what it shows, and how much smaller.
type Picture struct {
	Window desktop.WindowID // 0: the screen
	At     desktop.Point    // of the window, when it was taken
	Area   desktop.Rect     // on the screen
	Scale  float64
}

// Show remembers the picture that the conversation is given; of the whole screen for all
// programs.
func (s *Conversation) Show(pid int, p Picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pid == 0 {
		clear(s.pictures)
	}
	s.pictures[pid] = p
}

// PictureOf is the picture that was given last of the program, or of the screen.
func (s *Conversation) PictureOf(app desktop.App) (Picture, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, is := s.pictures[app.PID]
	if !is {
		p, is = s.pictures[0]
	}
	return p, is
}

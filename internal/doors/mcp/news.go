package mcp

import "encoding/json"

// maxNews is how many notifications wait for a client that does not read. It
// need not get them: it can ask.
const maxNews = 1000

// news are the notifications about tasks, which the SDK cannot send. They go out
// in the order in which they came, and none goes out between the making of a task
// and the answer that names it.
type news struct {
	waiting []json.RawMessage
	making  int  // requests that are to be answered with a task
	telling bool // somebody writes
}

// notify sends a notification, later. It does not block.
func (s *stdio) notify(message json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.news.waiting) == maxNews {
		s.news.waiting = s.news.waiting[1:]
	}
	s.news.waiting = append(s.news.waiting, message)
	s.tell()
}

// tell sees to it that somebody writes the news. It is called with s.mu held.
func (s *stdio) tell() {
	if s.news.telling || len(s.news.waiting) == 0 {
		return
	}
	s.news.telling = true
	go s.writeNews()
}

func (s *stdio) writeNews() {
	for {
		s.mu.Lock()
		if s.news.making > 0 || len(s.news.waiting) == 0 {
			s.news.telling = false
			s.mu.Unlock()
			return
		}
		message := s.news.waiting[0]
		s.news.waiting = s.news.waiting[1:]
		s.mu.Unlock()
		if s.writeLine(message) != nil {
			return // nobody reads any more, and telling stays on
		}
	}
}

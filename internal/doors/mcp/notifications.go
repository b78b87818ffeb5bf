package mcp

import "encoding/json"

// maxNotifications is how many notifications wait for a client that does not read. It
// need not get them: it can ask.
const maxNotifications = 1000

// notificationQueue are the notifications about tasks, which the SDK cannot send. They go out
// in the order in which they came, and none goes out between the making of a task
// and the answer that names it.
type notificationQueue struct {
	waiting      []json.RawMessage
	pendingTasks int  // requests that are to be answered with a task
	writing      bool // somebody writes
}

// notify sends a notification, later. It does not block.
func (s *stdio) notify(message json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notifications.waiting) == maxNotifications {
		s.notifications.waiting = s.notifications.waiting[1:]
	}
	s.notifications.waiting = append(s.notifications.waiting, message)
	s.flushNotifications()
}

// flushNotifications sees to it that somebody writes the news. It is called with s.mu held.
func (s *stdio) flushNotifications() {
	if s.notifications.writing || len(s.notifications.waiting) == 0 {
		return
	}
	s.notifications.writing = true
	go s.writeNotifications()
}

func (s *stdio) writeNotifications() {
	for {
		s.mu.Lock()
		if s.notifications.pendingTasks > 0 || len(s.notifications.waiting) == 0 {
			s.notifications.writing = false
			s.mu.Unlock()
			return
		}
		message := s.notifications.waiting[0]
		s.notifications.waiting = s.notifications.waiting[1:]
		s.mu.Unlock()
		if s.writeLine(message) != nil {
			return // nobody reads any more, and telling stays on
		}
	}
}

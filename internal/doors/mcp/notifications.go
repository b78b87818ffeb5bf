package mcp

import "encoding/json"

// maxNotifications limits the notifications that wait for a client that does not read. Lost
// ones do no harm: the client can poll.
const maxNotifications = 1000

// notificationQueue holds notifications about tasks, which the SDK cannot send. They are
// sent in order, and none is sent between the creation of a task and the answer that names
// it.
type notificationQueue struct {
	waiting      []json.RawMessage
	pendingTasks int  // requests that will be answered with a task
	writing      bool // a goroutine is writing
}

// notify queues a notification. It does not block.
func (s *stdio) notify(message json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notifications.waiting) == maxNotifications {
		s.notifications.waiting = s.notifications.waiting[1:]
	}
	s.notifications.waiting = append(s.notifications.waiting, message)
	s.flushNotifications()
}

// flushNotifications starts the writer if necessary. The caller holds s.mu.
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
			return // the client reads no more; writing stays set
		}
	}
}

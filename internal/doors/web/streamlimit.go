package web

import (
	"slices"
	"sync"
)

const (
	// maxStreams limits the streams of a session. Browsers open six connections to a host,
	// and a page without a connection cannot even stop calls.
	maxStreams = 3
	// supersededEvent is the last event on a stream that makes room for a newer one.
	supersededEvent = "elsewhere"
)

// streamLimiter holds the streams of each session, the oldest first.
type streamLimiter struct {
	mu sync.Mutex
	of map[*session][]chan struct{}
}

// add adds a stream, until end. The channel is closed when the stream must end, since there are more than the limit.
func (s *streamLimiter) add(of *session, limit int) (goes <-chan struct{}, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = make(map[*session][]chan struct{})
	}
	if all := s.of[of]; len(all) >= limit {
		close(all[0])
		s.of[of] = slices.Delete(all, 0, 1)
	}
	own := make(chan struct{})
	s.of[of] = append(s.of[of], own)
	return own, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i := slices.Index(s.of[of], own); i >= 0 {
			s.of[of] = slices.Delete(s.of[of], i, i+1)
		}
		if len(s.of[of]) == 0 {
			delete(s.of, of)
		}
	}
}

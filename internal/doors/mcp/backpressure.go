package mcp

// While a client does not read its answers, its further requests are not read: their answers would fill
// the memory. Requests that wait for the client's own answer do not stop the reading.
const (
	// maxUnanswered is the number of unanswered requests from which the reading waits while an answer
	// waits to be written.
	maxUnanswered = 256
	// maxUnwritten is the number of bytes of unwritten answers from which the reading waits.
	maxUnwritten = 8 << 20
)

// waitForClient waits until the client has read enough of its answers. It reports false if the
// connection is closed or cannot be written.
func (s *stdio) waitForClient() bool {
	for s.isBehind() {
		select {
		case <-s.wrote:
		case <-s.closed:
			return false
		case <-s.writeFailed:
			return false
		}
	}
	return true
}

// isBehind reports whether too many answers wait for the client to read them.
func (s *stdio) isBehind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	unwritten := s.unwritten.Load()
	return unwritten > maxUnwritten || unwritten > 0 && s.open >= maxUnanswered
}

// addWritten subtracts the bytes of a written line from the unwritten ones, and wakes waitForClient.
func (s *stdio) addWritten(bytes int) {
	s.unwritten.Add(-int64(bytes))
	select {
	case s.wrote <- struct{}{}:
	default:
	}
}

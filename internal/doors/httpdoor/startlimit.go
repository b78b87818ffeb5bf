package httpdoor

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// bodyWait is the time after which a caller's next request may start although the current body is
// incomplete: the client decides when the body comes.
const bodyWait = 5 * time.Millisecond

// A caller pauses before its next request starts, if the starts of its requests since its last pause
// took longer than restThreshold. The pause is as long as those starts, at most maxRest. It applies
// only while others call too: without it a caller with many or expensive requests would take half of
// the computer. A caller that has been alone for soleCallerAfter does not pause.
const (
	restThreshold   = 2 * time.Millisecond
	maxRest         = 50 * time.Millisecond
	soleCallerAfter = time.Second
)

// startLimiter limits the requests of each caller that start at a time. Otherwise a caller that sends
// hundreds at once would have as many runnable goroutines, and the single request of another would
// wait behind them. A request that has started, and waits for an app or a person, does not count. The
// zero value is ready to use; startLimiter is safe for concurrent use.
type startLimiter struct {
	mu       sync.Mutex
	byCaller map[string]*callerStarts
	last     string    // caller of the last request
	changed  time.Time // when last changed to another caller
}

type callerStarts struct {
	slots        chan struct{}       // one slot for each request that may start at a time
	pendingBytes *semaphore.Weighted // bytes of bodies before their requests start
	users        int
	busy         time.Duration // total time of starts since the last pause; guarded by startLimiter.mu
}

// begin waits until the caller's request may start, in order of arrival. It returns the function that
// ends the start; it ends by itself after long. begin returns nil if ctx ends first.
func (s *startLimiter) begin(ctx context.Context, caller string, long time.Duration) (end func()) {
	of := s.join(caller)
	select {
	case of.slots <- struct{}{}:
	case <-ctx.Done():
		s.leave(caller, of)
		return nil
	}
	over := sync.OnceFunc(func() {
		<-of.slots
		s.leave(caller, of)
	})
	late, begun := time.AfterFunc(long, over), time.Now()
	return func() {
		late.Stop()
		if rest := s.restAfter(of, time.Since(begun)); rest > 0 {
			time.AfterFunc(rest, over)
			return
		}
		over()
	}
}

// restAfter returns the length of the caller's pause after a start that took so long.
func (s *startLimiter) restAfter(of *callerStarts, took time.Duration) (rest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.busy += took; of.busy <= restThreshold {
		return 0
	}
	if time.Since(s.changed) <= soleCallerAfter {
		rest = min(of.busy, maxRest)
	}
	of.busy = 0
	return rest
}

// reserveBytes waits until the caller has room for so many bytes, and returns the function
// that releases them; or nil if ctx ends first.
func (s *startLimiter) reserveBytes(ctx context.Context, caller string, bytes int64) (free func()) {
	of := s.join(caller)
	if of.pendingBytes.Acquire(ctx, bytes) != nil {
		s.leave(caller, of)
		return nil
	}
	return sync.OnceFunc(func() {
		of.pendingBytes.Release(bytes)
		s.leave(caller, of)
	})
}

func (s *startLimiter) join(caller string) *callerStarts {
	s.mu.Lock()
	defer s.mu.Unlock()
	if caller != s.last {
		s.last, s.changed = caller, time.Now()
	}
	of := s.byCaller[caller]
	if of == nil {
		if s.byCaller == nil {
			s.byCaller = make(map[string]*callerStarts)
		}
		of = &callerStarts{slots: make(chan struct{}, maxConcurrentStarts()), pendingBytes: semaphore.NewWeighted(maxPendingBytes)}
		s.byCaller[caller] = of
	}
	of.users++
	return of
}

// maxConcurrentStarts returns the number of requests of one caller that may start at a
// time: half of the processors, so that others can run.
func maxConcurrentStarts() int { return max(1, runtime.GOMAXPROCS(0)/2) }

func (s *startLimiter) leave(caller string, of *callerStarts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.users--; of.users == 0 {
		delete(s.byCaller, caller)
	}
}

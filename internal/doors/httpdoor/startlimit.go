package httpdoor

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// bodyWait is after how long a request whose body is still to come makes room for its
// caller's next one: it comes when its sender likes.
const bodyWait = 5 * time.Millisecond

// A caller whose requests took longer than quick to begin, one or many without a pause,
// rests as long before its next one begins, but no longer than longestRest, while others
// call too: else one who sends what is dear to read, or much, has half of the computer for
// as long as it likes. Nobody rests who has been alone for aloneAfter.
const (
	restThreshold   = 2 * time.Millisecond
	maxRest         = 50 * time.Millisecond
	soleCallerAfter = time.Second
)

// startLimiter let a few requests of each caller begin at a time: one who sends hundreds at
// once would have as many goroutines that want to run, and the one request of another
// would wait behind all of them. Who has begun, and waits for an app or a person, holds
// up nobody. The zero value is ready; it is safe for concurrent use.
type startLimiter struct {
	mu       sync.Mutex
	byCaller map[string]*callerStarts
	last     string    // caller of the last request
	changed  time.Time // when that was somebody else
}

type callerStarts struct {
	slots        chan struct{}       // has room for those that may begin at a time
	pendingBytes *semaphore.Weighted // bytes of bodies that have not begun
	users        int
	busy         time.Duration // by what has begun since the last rest; guarded by the starts
}

// begin waits until the caller's request may begin, first come, first served, and
// returns what ends its beginning; or nil if nobody waits for its answer any more.
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

// restAfter is for how long the caller rests now that a request of it has begun.
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

// reserveBytes waits until so many bytes of the caller have room, and returns what gives it back;
// or nil if the context ends before.
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

// maxConcurrentStarts is how many requests of one caller begin at a time: half of what the computer
// can do, so that something is left for the others.
func maxConcurrentStarts() int { return max(1, runtime.GOMAXPROCS(0)/2) }

func (s *startLimiter) leave(caller string, of *callerStarts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.users--; of.users == 0 {
		delete(s.byCaller, caller)
	}
}

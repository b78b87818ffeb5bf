package script

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/automation/script/child"
)

// watchInterval is the interval of checks of a script process.
const watchInterval = 25 * time.Millisecond

// endReason is the reason for ending a script early.
type endReason int

const (
	endNone endReason = iota
	endTimeout
	endMemory
	endCanceled
	endTooManyCalls  // it exceeded maxCalls
	endProtocolError // its process sent an invalid message
	endQuestion
)

// watchdog ends a process because of time, memory or cancellation.
type watchdog struct {
	begun    time.Time
	timeout  time.Duration
	deadline time.Time // the call's original deadline, which moves during a question to the user

	mu     sync.Mutex
	reason endReason // guarded by mu
}

func newWatchdog(ctx context.Context, begun time.Time, timeout time.Duration) *watchdog {
	w := &watchdog{begun: begun, timeout: timeout}
	w.deadline, _ = ctx.Deadline()
	return w
}

// isOverdue reports whether the script's time is over, without the time of questions to the user.
func (w *watchdog) isOverdue(ctx context.Context) bool {
	until, _ := ctx.Deadline()
	return time.Since(w.begun)-until.Sub(w.deadline) >= w.timeout
}

// stop sets the reason for ending the script, unless one is set.
func (w *watchdog) stop(why endReason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason == endNone {
		w.reason = why
	}
}

func (w *watchdog) stopped() endReason {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason
}

// run watches the process until it must end it, or until done.
func (w *watchdog) run(ctx context.Context, p *scriptProcess, cancel func(), done <-chan struct{}) {
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			w.stop(endCanceled)
		case <-ticks.C:
			switch {
			case w.isOverdue(ctx):
				w.stop(endTimeout)
			case resident(p.PID()) > child.MaxMemory:
				w.stop(endMemory)
			}
		}
		if w.stopped() != endNone {
			cancel()
			p.Kill()
			return
		}
	}
}

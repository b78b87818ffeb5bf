package script

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/automation/script/child"
)

// watchInterval is how often a process that runs a script is looked at.
const watchInterval = 25 * time.Millisecond

// An end is why a script was ended before it had ended itself.
type endReason int

// The ends.
const (
	endNone endReason = iota
	endTimeout
	endMemory
	endCanceled
	endTooManyCalls  // it made more than it may
	endProtocolError // its process said what it does not
	endQuestion
)

// A watch ends a process for the reasons that do not lie in what it says.
type watchdog struct {
	begun    time.Time
	timeout  time.Duration
	deadline time.Time // the first end of the call's time, which moves while a person is asked

	mu     sync.Mutex
	reason endReason // guarded by mu
}

func newWatchdog(ctx context.Context, begun time.Time, timeout time.Duration) *watchdog {
	w := &watchdog{begun: begun, timeout: timeout}
	w.deadline, _ = ctx.Deadline()
	return w
}

// isOverdue reports whether the script's time is over, without what a person took for answers.
func (w *watchdog) isOverdue(ctx context.Context) bool {
	until, _ := ctx.Deadline()
	return time.Since(w.begun)-until.Sub(w.deadline) >= w.timeout
}

// stop says why it is ended, if nobody has before.
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

// run looks at the process until it must be ended, which it does, or until done.
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

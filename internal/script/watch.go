package script

import (
	"context"
	"sync"
	"time"

	"aai/internal/script/child"
)

// lookEvery is how often a process that runs a script is looked at.
const lookEvery = 25 * time.Millisecond

// An end is why a script was ended before it had ended itself.
type end int

// The ends.
const (
	byItself end = iota
	byTime
	byMemory
	byCaller
	byCalls // it made more than it may
	byOdds  // its process said what it does not
	byQuestion
)

// A watch ends a process for the reasons that do not lie in what it says.
type watch struct {
	begun   time.Time
	timeout time.Duration
	until   time.Time // the first end of the call's time, which moves while a person is asked

	mu  sync.Mutex
	why end // guarded by mu
}

func newWatch(ctx context.Context, begun time.Time, timeout time.Duration) *watch {
	w := &watch{begun: begun, timeout: timeout}
	w.until, _ = ctx.Deadline()
	return w
}

// late reports whether the script's time is over, without what a person took for answers.
func (w *watch) late(ctx context.Context) bool {
	until, _ := ctx.Deadline()
	return time.Since(w.begun)-until.Sub(w.until) >= w.timeout
}

// stop says why it is ended, if nobody has before.
func (w *watch) stop(why end) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why == byItself {
		w.why = why
	}
}

func (w *watch) stopped() end {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// over looks at the process until it must be ended, which it does, or until done.
func (w *watch) over(ctx context.Context, p *process, cancel func(), done <-chan struct{}) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			w.stop(byCaller)
		case <-ticks.C:
			switch {
			case w.late(ctx):
				w.stop(byTime)
			case resident(p.ID()) > child.MaxMemory:
				w.stop(byMemory)
			}
		}
		if w.stopped() != byItself {
			cancel()
			p.Kill()
			return
		}
	}
}

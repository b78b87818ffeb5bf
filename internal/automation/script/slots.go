package script

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// Limits of concurrent scripts, because each is a process with its own memory: over all callers,
// and per caller.
const (
	maxRunning  = 6
	maxPerOwner = 3
)

// slotPool limits the running scripts. It is safe for concurrent use.
type slotPool struct {
	mu       sync.Mutex // guards the fields below
	taken    int
	perOwner map[string]int
	freed    chan struct{} // closed when a slot becomes free
}

func newSlotPool() *slotPool {
	return &slotPool{perOwner: make(map[string]int), freed: make(chan struct{})}
}

// slotOwner returns the key of a caller's slots. Sessions of an identified caller share their slots.
func slotOwner(c aai.Caller) string {
	if c.Identity != "" {
		c.Session = ""
	}
	return c.Conversation()
}

// acquire waits for a slot, no longer than the script's timeout.
func (p *slotPool) acquire(ctx context.Context, whose string, patience time.Duration) (leave func(), err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		if p.taken < maxRunning && p.perOwner[whose] < maxPerOwner {
			p.taken++
			p.perOwner[whose]++
			p.mu.Unlock()
			return func() { p.release(whose) }, nil
		}
		freed := p.freed
		p.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, notBegunError(aai.AsError(ctx.Err()).Code, "the script waited for other scripts, and was not run", "")
		case <-late.C:
			return nil,
				notBegunError(aai.Timeout, "other scripts ran until its time was over; it was not run",
					"Call again when they have ended.")
		}
	}
}

func (p *slotPool) release(whose string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.perOwner[whose]--; p.perOwner[whose] == 0 {
		delete(p.perOwner, whose)
	}
	close(p.freed)
	p.freed = make(chan struct{})
}

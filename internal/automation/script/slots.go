package script

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// How many scripts run at the same time, each being a process with a memory of its own:
// of all callers, and of one.
const (
	maxRunning  = 6
	maxPerOwner = 3
)

// slotPool are those of the scripts that run. Safe for concurrent use.
type slotPool struct {
	mu       sync.Mutex // guards what follows
	taken    int
	perOwner map[string]int
	freed    chan struct{} // closed when one becomes free
}

func newSlotPool() *slotPool {
	return &slotPool{perOwner: make(map[string]int), freed: make(chan struct{})}
}

// slotOwner are the places that a caller takes: a new session of one who is known has no new ones.
func slotOwner(c aai.Caller) string {
	if c.Identity != "" {
		c.Session = ""
	}
	return c.Conversation()
}

// acquire waits for a place, no longer than the script may take.
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
			return nil, notBegunError(aai.Timeout, "other scripts ran until its time was over; it was not run", "Call again when they have ended.")
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

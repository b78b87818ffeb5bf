package script

import (
	"context"
	"sync"
	"time"

	"aai"
)

// How many scripts run at the same time, each being a process with a memory of its own:
// of all callers, and of one.
const (
	mostAtOnce = 6
	mostOfOne  = 3
)

// places are those of the scripts that run. Safe for concurrent use.
type places struct {
	mu    sync.Mutex // guards what follows
	taken int
	of    map[string]int
	freed chan struct{} // closed when one becomes free
}

func newPlaces() *places { return &places{of: make(map[string]int), freed: make(chan struct{})} }

// whose are the places that a caller takes: a new session of one who is known has no new ones.
func whose(c aai.Caller) string {
	if c.Identity != "" {
		c.Session = ""
	}
	return c.Conversation()
}

// take waits for a place, no longer than the script may take.
func (p *places) take(ctx context.Context, whose string, patience time.Duration) (leave func(), err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		if p.taken < mostAtOnce && p.of[whose] < mostOfOne {
			p.taken++
			p.of[whose]++
			p.mu.Unlock()
			return func() { p.leave(whose) }, nil
		}
		freed := p.freed
		p.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, refused(aai.AsError(ctx.Err()).Code, "the script waited for other scripts, and was not run", "")
		case <-late.C:
			return nil, refused(aai.Timeout, "other scripts ran until its time was over; it was not run", "Call again when they have ended.")
		}
	}
}

func (p *places) leave(whose string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.of[whose]--; p.of[whose] == 0 {
		delete(p.of, whose)
	}
	close(p.freed)
	p.freed = make(chan struct{})
}

package atspi

import (
	"context"
	"time"
)

// confirmPatience is how long an app may take to be read when nobody waits for it.
const confirmPatience = 2 * time.Second

// confirmPauses are how long to wait before each try.
func confirmPauses() []time.Duration {
	return []time.Duration{provenAge, 2 * provenAge, 4 * provenAge, 10 * provenAge, 40 * provenAge}
}

// confirmLater reads the app again in the background, a few times at most, until
// what is remembered of it is confirmed: the next call, seconds later, then need not
// read it all, unless it has run since.
func (p *program) confirmLater() {
	if !p.confirming.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer p.confirming.Store(false)
		for _, pause := range confirmPauses() {
			time.Sleep(pause)
			if p.confirm() {
				return
			}
		}
	}()
}

// confirm reads the app if it is at rest and nobody else reads it. It reports
// whether there is nothing left to do.
func (p *program) confirm() (done bool) {
	if _, over := p.acquainted(); over {
		return true
	}
	select {
	case p.lane <- struct{}{}:
	default:
		return false // somebody is at it, and may change what is to be confirmed
	}
	defer func() { <-p.lane }()
	c := &p.cache
	if c.tree == nil || c.confirmed {
		return true
	}
	if p.unchanged(time.Now()) {
		return false // it is too early for a second reading
	}
	rested := !c.owed && !p.marked() && p.pulse().still(c.beat)
	ctx, cancel := context.WithTimeout(context.Background(), confirmPatience)
	defer cancel()
	if _, err := p.snapshot(ctx); err != nil {
		c.tree = nil // it may have been changed by half
		return true
	}
	c.confirmed = rested && c.settled && !c.owed
	return c.confirmed
}

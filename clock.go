package aai

import (
	"context"
	"time"
)

// How long a call waits for a person, beside the time that its tool has.
const (
	// turnPatience is how long it waits until the calls before it have asked.
	turnPatience = 2 * time.Minute
	// AskPatience is how long one question is shown: less than the minute after which
	// clients give up that hear nothing.
	AskPatience = 50 * time.Second
)

// lateGrace is how long Do waits past the deadline for the call to say what became
// of it. Whatever does not end by then is left behind.
const lateGrace = 100 * time.Millisecond

// A clock measures what a call takes of the time that its tool has. It stands still
// while a person is asked. Late tells when Do must return whatever hangs; the rest
// belongs to the goroutine of the call.
type clock struct {
	late  chan struct{}
	alarm *time.Timer

	total time.Duration // what the tool has
	spent time.Duration // until since
	since time.Time
	still bool // it stands still

	ctx    context.Context //nolint:containedctx // it ends with the tool's time, and is the call's
	until  time.Time
	cancel context.CancelFunc
}

// newClock starts a clock of so much time, which says by late when it is over.
func newClock(total time.Duration, late chan struct{}) *clock {
	c := &clock{late: late, total: total, since: time.Now()}
	c.alarm = time.AfterFunc(total+lateGrace, func() {
		select {
		case late <- struct{}{}:
		default:
		}
	})
	return c
}

// again returns a clock that goes on from where this one rests, and says so to others.
func (c *clock) again() *clock {
	next := newClock(c.left(), make(chan struct{}, 1))
	next.total, next.spent = c.total, c.spent
	return next
}

// limit says how much time there is in all, of which some has passed.
func (c *clock) limit(total time.Duration) {
	if total != c.total {
		c.total = total
		c.set(c.left())
	}
}

// left is how much of the tool's time is left.
func (c *clock) left() time.Duration {
	if c.still {
		return c.total - c.spent
	}
	return c.total - c.spent - time.Since(c.since)
}

// within returns a context that ends with the tool's time, or with end.
func (c *clock) within(ctx context.Context) context.Context {
	until := c.since.Add(c.total - c.spent)
	if c.ctx == nil || !until.Equal(c.until) {
		c.end()
		c.ctx, c.cancel = context.WithDeadline(ctx, until)
		c.until = until
	}
	return c.ctx
}

// end ends the context, if there is one.
func (c *clock) end() {
	if c.cancel != nil {
		c.cancel()
		c.ctx, c.cancel = nil, nil
	}
}

// stop lets the clock stand still for a person who has so much time.
func (c *clock) stop(patience time.Duration) {
	c.halt()
	c.set(patience)
}

// rest lets the clock stand still for as long as its call is not on its way.
func (c *clock) rest() {
	c.halt()
	c.alarm.Stop()
}

func (c *clock) halt() {
	if !c.still {
		c.spent, c.still = c.spent+time.Since(c.since), true
	}
}

// goOn ends what stop or rest began, if anything.
func (c *clock) goOn() {
	if c.still {
		c.since, c.still = time.Now(), false
		c.set(c.left())
	}
}

func (c *clock) set(left time.Duration) { c.alarm.Reset(max(0, left) + lateGrace) }

package aai

import (
	"context"
	"time"
)

// How long a call waits for a person, beside the time that its tool has.
const (
	// dialogQueueTimeout is how long it waits until the calls before it have asked.
	dialogQueueTimeout = 2 * time.Minute
	// AskTimeout is how long one question is shown: less than the minute after which
	// clients give up that hear nothing.
	AskTimeout = 50 * time.Second
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

	total  time.Duration // what the tool has
	spent  time.Duration // until since
	since  time.Time
	paused bool // it stands still

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

// continued returns a clock that goes on from where this one rests, and says so to others.
func (c *clock) continued() *clock {
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
	if c.paused {
		return c.total - c.spent
	}
	return c.total - c.spent - time.Since(c.since)
}

// within returns a context that ends with the tool's time, or with end.
func (c *clock) within(ctx context.Context) context.Context {
	until := c.since.Add(c.total - c.spent)
	if c.ctx == nil || !until.Equal(c.until) {
		c.cancelContext()
		c.ctx, c.cancel = context.WithDeadline(ctx, until)
		c.until = until
	}
	return c.ctx
}

// cancelContext ends the context, if there is one.
func (c *clock) cancelContext() {
	if c.cancel != nil {
		c.cancel()
		c.ctx, c.cancel = nil, nil
	}
}

// pauseFor lets the clock stand still for a person who has so much time.
func (c *clock) pauseFor(patience time.Duration) {
	c.freeze()
	c.set(patience)
}

// pause lets the clock stand still for as long as its call is not on its way.
func (c *clock) pause() {
	c.freeze()
	c.alarm.Stop()
}

func (c *clock) freeze() {
	if !c.paused {
		c.spent, c.paused = c.spent+time.Since(c.since), true
	}
}

// resume ends what stop or rest began, if anything.
func (c *clock) resume() {
	if c.paused {
		c.since, c.paused = time.Now(), false
		c.set(c.left())
	}
}

func (c *clock) set(left time.Duration) { c.alarm.Reset(max(0, left) + lateGrace) }

package gateway

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
)

// The time limits for a person's answer, in addition to the tool's time.
const (
	// dialogQueueTimeout is the wait for the dialogs of earlier calls.
	dialogQueueTimeout = 2 * time.Minute
	// AskTimeout is the time that one question is shown. Clients give up after a minute without a
	// response.
	AskTimeout = 50 * time.Second
)

// lateGrace is the time after the deadline in which the call may still report its result. Then Do
// abandons it.
const lateGrace = 100 * time.Millisecond

// A clock measures the time of a call against its tool's limit. It is paused while a person is
// asked. late signals that Do must return; the other fields belong to the goroutine of the call.
type clock struct {
	late  chan struct{}
	alarm *time.Timer

	total  time.Duration // limit of the tool
	spent  time.Duration // time used before since
	since  time.Time
	paused bool

	ctx    context.Context //nolint:containedctx // it ends with the tool's time, and is the call's
	until  time.Time
	cancel context.CancelFunc
}

// newClock starts a clock with the limit total, which signals its end on late.
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

// continued returns a clock that continues with the remaining time and signals on a new channel.
func (c *clock) continued() *clock {
	next := newClock(c.left(), make(chan struct{}, 1))
	next.total, next.spent = c.total, c.spent
	return next
}

// limit sets the total time, part of which has passed.
func (c *clock) limit(total time.Duration) {
	if total != c.total {
		c.total = total
		c.set(c.left())
	}
}

// left returns the remaining time.
func (c *clock) left() time.Duration {
	if c.paused {
		return c.total - c.spent
	}
	return c.total - c.spent - time.Since(c.since)
}

// within returns a context that ends with the remaining time, or by cancelContext.
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

// pauseFor pauses the clock while a person is asked; after patience it signals late.
func (c *clock) pauseFor(patience time.Duration) {
	c.freeze()
	c.set(patience)
}

// pause pauses the clock while its call is not being processed.
func (c *clock) pause() {
	c.freeze()
	c.alarm.Stop()
}

func (c *clock) freeze() {
	if !c.paused {
		c.spent, c.paused = c.spent+time.Since(c.since), true
	}
}

// resume ends a pause, if there is one.
func (c *clock) resume() {
	if c.paused {
		c.since, c.paused = time.Now(), false
		c.set(c.left())
	}
}

func (c *clock) set(left time.Duration) { c.alarm.Reset(max(0, left) + lateGrace) }

type backgroundTimeoutKey struct{}

// WithBackgroundTimeout returns a context for a call that continues after its request ends, such
// as a task. Its limit is the shorter of most and the tool's Limits.Background, but at least the
// tool's Timeout.
func WithBackgroundTimeout(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, backgroundTimeoutKey{}, most)
}

// effectiveTimeout returns the time limit of the call.
func (p *invocation) effectiveTimeout(tool *aai.Tool) time.Duration {
	usual := foregroundTimeout(tool)
	if most, _ := p.ctx.Value(backgroundTimeoutKey{}).(time.Duration); tool.Limits.Background > 0 {
		return max(usual, min(most, tool.Limits.Background))
	}
	return usual
}

func foregroundTimeout(tool *aai.Tool) time.Duration {
	if tool.Limits.Timeout <= 0 {
		return aai.DefaultTimeout
	}
	return tool.Limits.Timeout
}

package policy

import (
	"time"

	"golang.org/x/time/rate"

	"aai"
)

// What one connection may send, whatever it calls itself and whether or not there is
// such a tool: more than any agent needs, less than keeps the gateway from others.
const (
	// heardTimes is how many times the calls a second that a caller may make of
	// declared tools one connection may send; several conversations may share it.
	heardTimes = 4
	// heardBytes is how many bytes of arguments it may send a second, and heardBurst
	// how many at once.
	heardBytes = 4 << 20
	heardBurst = 64 << 20
)

// connection is who sends, by what is certain: its own words, such as the name and how
// many sessions it opens, are left out.
type connection struct{ door, identity string }

// intake is what one connection has sent.
type intake struct {
	calls, bytes *rate.Limiter
	last         time.Time
}

// Received implements aai.Meter.
func (l *Limits) Received(c aai.Caller, bytes int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	in := l.intakeOf(connection{c.Door, c.Identity})
	in.last = now
	if in.calls.Burst() > 0 && !in.calls.AllowN(now, 1) {
		return tooMuchSent("too many calls", time.Second)
	}
	if missing := float64(bytes) - in.bytes.TokensAt(now); missing > 0 {
		return tooMuchSent("too many bytes", time.Duration(missing/heardBytes*float64(time.Second)))
	}
	in.bytes.AllowN(now, bytes)
	return nil
}

func (l *Limits) intakeOf(c connection) *intake {
	if in := l.heard[c]; in != nil {
		return in
	}
	if len(l.heard) >= maxCallers {
		for old, in := range l.heard {
			if l.now().Sub(in.last) > time.Minute {
				delete(l.heard, old)
			}
		}
	}
	calls := heardTimes * l.limits[Declared].PerSecond
	in := &intake{calls: rate.NewLimiter(rate.Limit(calls), calls), bytes: rate.NewLimiter(heardBytes, heardBurst)}
	l.heard[c] = in
	return in
}

func tooMuchSent(what string, wait time.Duration) error {
	e := aai.Errorf(aai.RateLimited, "this connection sends %s", what)
	e.RetryAfter = wait.Round(time.Millisecond)
	e.Hint = "Wait before the next call."
	return e
}

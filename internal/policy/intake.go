package policy

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/gybob/aai-gateway"
)

// What one connection may send, whatever it calls itself and whether or not there is
// such a tool: more than any agent needs, less than keeps the gateway from others.
const (
	// connectionCallFactor is how many times the calls a second that a caller may make of
	// declared tools one connection may send; several conversations may share it.
	connectionCallFactor = 4
	// connectionBytesPerSecond is how many bytes of arguments it may send a second, and heardBurst
	// how many at once.
	connectionBytesPerSecond = 4 << 20
	connectionBurst          = 64 << 20
)

// connection is who sends, by what is certain: its own words, such as the name and how
// many sessions it opens, are left out.
type connection struct{ door, identity string }

// connectionUsage is what one connection has sent.
type connectionUsage struct {
	calls, bytes *rate.Limiter
	last         time.Time
}

// CountReceived implements aai.Meter.
func (l *Limits) CountReceived(c aai.Caller, bytes int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	in := l.connectionUsage(connection{c.Door, c.Identity})
	in.last = now
	if in.calls.Burst() > 0 && !in.calls.AllowN(now, 1) {
		return tooMuchSent("too many calls", time.Second)
	}
	if missing := float64(bytes) - in.bytes.TokensAt(now); missing > 0 {
		return tooMuchSent("too many bytes", time.Duration(missing/connectionBytesPerSecond*float64(time.Second)))
	}
	in.bytes.AllowN(now, bytes)
	return nil
}

func (l *Limits) connectionUsage(c connection) *connectionUsage {
	if in := l.byConnection[c]; in != nil {
		return in
	}
	if len(l.byConnection) >= maxCallers {
		for old, in := range l.byConnection {
			if l.now().Sub(in.last) > time.Minute {
				delete(l.byConnection, old)
			}
		}
	}
	calls := connectionCallFactor * l.limits[KindDeclared].PerSecond
	in := &connectionUsage{calls: rate.NewLimiter(rate.Limit(calls), calls), bytes: rate.NewLimiter(connectionBytesPerSecond, connectionBurst)}
	l.byConnection[c] = in
	return in
}

func tooMuchSent(what string, wait time.Duration) error {
	e := aai.Errorf(aai.RateLimited, "this connection sends %s", what)
	e.RetryAfter = wait.Round(time.Millisecond)
	e.Hint = "Wait before the next call."
	return e
}

package policy

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/gybob/aai-gateway"
)

// Limits for one connection, independent of the caller's name and of whether the tool
// exists. They exceed the needs of any agent but protect other connections.
const (
	// connectionCallFactor times the PerSecond limit of declared tools is the number of
	// calls a second on one connection. Several conversations may share it.
	connectionCallFactor = 4
	// connectionBytesPerSecond is the limit for bytes of arguments a second;
	// connectionBurst is the limit for bytes at once.
	connectionBytesPerSecond = 4 << 20
	connectionBurst          = 64 << 20
)

// connection identifies a sender by verified facts only. Self-reported facts, such as its
// name and its number of sessions, are left out.
type connection struct{ door, identity string }

// connectionUsage counts the calls and bytes of one connection.
type connectionUsage struct {
	calls, bytes *rate.Limiter
	last         time.Time
}

// CountReceived implements aai.Meter: it returns an error if a connection sends too many calls or bytes.
func (l *Limits) CountReceived(c aai.Caller, bytes int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	in := l.connectionUsage(connection{c.Door, c.Identity})
	in.last = now
	if in.calls.Burst() > 0 && !in.calls.AllowN(now, 1) {
		return tooMuchSentError("too many calls", time.Second)
	}
	if missing := float64(bytes) - in.bytes.TokensAt(now); missing > 0 {
		return tooMuchSentError("too many bytes", time.Duration(missing/connectionBytesPerSecond*float64(time.Second)))
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

func tooMuchSentError(what string, wait time.Duration) error {
	e := aai.Errorf(aai.RateLimited, "this connection sends %s", what)
	e.RetryAfter = wait.Round(time.Millisecond)
	e.Hint = "Wait before the next call."
	return e
}

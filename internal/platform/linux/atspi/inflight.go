package atspi

import (
	"context"
	"sync/atomic"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Limits for the answers of an app that are in memory at a time.
const (
	minInFlight = 32      // queries in flight to a new app
	maxInFlight = 512     // to an app with short answers
	longReplies = 4 << 20 // total bytes of a batch's answers; above that, one at a time
)

// An inFlightLimit limits the number of queries in flight to an app: many, unless the app's answers are so
// long that they would fill the memory. The zero value is ready; it is safe for concurrent use.
type inFlightLimit struct{ size atomic.Int32 }

// run sends the queries and dispatches the answers as they arrive. It returns the first error.
func (a *inFlightLimit) run(ctx context.Context, conn *wire.Conn, r *batch) error {
	var first error
	for from := 0; from < len(r.messages); {
		size := max(int(a.size.Load()), minInFlight)
		if a.size.Load() < 0 {
			size = 1
		}
		to := min(from+size, len(r.messages))
		replies := conn.Batch(ctx, r.messages[from:to])
		a.learn(replies, size)
		part := batch{waiters: r.waiters[from:to]}
		if err := part.dispatch(replies); err != nil {
			if first == nil {
				first = err
			}
			if ctx.Err() != nil || !conn.IsAlive() {
				return first
			}
		}
		from = to
	}
	return first
}

// learn adapts the limit to the size of the last answers.
func (a *inFlightLimit) learn(replies []wire.Reply, size int) {
	total := 0
	for _, reply := range replies {
		if reply.Message != nil {
			total += len(reply.Message.Body)
		}
	}
	switch {
	case total > longReplies && len(replies) > 1:
		a.size.Store(-1)
	case a.size.Load() >= 0 && len(replies) == size:
		a.size.Store(int32(min(2*size, maxInFlight)))
	}
}

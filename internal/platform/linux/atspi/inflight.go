package atspi

import (
	"context"
	"sync/atomic"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Limits on how much of an app's answers is in memory at a time.
const (
	minInFlight = 32      // in flight to an app that is not known yet
	maxInFlight = 512     // to one whose answers are short
	longReplies = 4 << 20 // bytes, of all that were in flight; from there on one at a time
)

// A ration says how many questions may be in flight to an app: many, unless it
// answers at such length that the answers would fill the memory. The zero value is
// ready; it is safe for concurrent use.
type inFlightLimit struct{ size atomic.Int32 }

// run puts the questions, and hands out the answers as they come. Its error is the
// first reason why there was none.
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

// learn sets how many there may be from now on.
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

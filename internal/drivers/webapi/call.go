package webapi

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/gybob/aai-gateway"
)

// Number of tries for a call, and the pause before the second try. The pause doubles and varies by
// up to half, so that many callers do not retry at the same time.
const (
	maxTries   = 3
	firstPause = 200 * time.Millisecond
)

// run executes one call. It retries within the call's deadline if a repetition is harmless. The
// Delivery of its error covers all tries.
func (t *tool) run(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	m, err := t.message(ctx, call)
	if err != nil {
		return nil, undelivered(aai.AsError(err))
	}
	delivery, pause := aai.NotDelivered, firstPause
	for try := 1; ; try++ {
		result, f := t.attempt(ctx, m)
		if f == nil {
			return result, nil
		}
		earlier := delivery
		delivery = laterDelivery(delivery, f.err.Delivery)
		if try == maxTries || !t.mayRepeat(f) || !t.pause(ctx, max(f.wait, jittered(pause))) {
			return nil, combineAttempts(f.err, earlier, delivery, try)
		}
		pause *= 2
	}
}

// mayRepeat reports whether another try is useful and harmless: the server never got the request,
// or the method is idempotent (RFC 9110, section 9.2.2). If the delivery is unknown, only GET and
// HEAD repeat: a second DELETE that finds nothing would look like a failure.
func (t *tool) mayRepeat(f *failure) bool {
	if !f.retryable {
		return false
	}
	switch f.err.Delivery {
	case aai.NotDelivered:
		return true
	case aai.DeliveryUnknown:
		return t.method == http.MethodGet || t.method == http.MethodHead
	}
	return t.method != http.MethodPost && t.method != http.MethodPatch
}

func jittered(pause time.Duration) time.Duration {
	return pause/2 + rand.N(pause) //nolint:gosec // spreads load, keeps no secret
}

// pause sleeps for d. It returns false at once if the deadline would pass first.
func (t *tool) pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && d >= time.Until(deadline) {
		return false
	}
	return aai.Sleep(ctx, d) == nil
}

// combineAttempts returns the last error with the delivery of all tries.
func combineAttempts(last *aai.Error, earlier, all aai.Delivery, tries int) *aai.Error {
	e := *last
	e.Delivery = all
	if tries > 1 {
		e.Message += fmt.Sprintf(" (try %d", tries)
		if earlier != aai.NotDelivered {
			e.Message += "; an earlier one may have been carried out"
		}
		e.Message += ")"
	}
	return &e
}

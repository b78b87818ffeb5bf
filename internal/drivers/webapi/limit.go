package webapi

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/gybob/aai-gateway"
)

// limits holds the limits of all origins.
type limits struct {
	rate  rate.Limit
	burst int

	mu       sync.Mutex
	byOrigin map[string]*limit
}

// limit bounds the request rate of one origin, over all its tools, in order of arrival.
type limit struct {
	origin  string
	limiter *rate.Limiter
}

func newLimits(perSecond float64, burst int) *limits {
	return &limits{rate: rate.Limit(perSecond), burst: burst, byOrigin: make(map[string]*limit)}
}

func (l *limits) of(origin string) *limit {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.byOrigin[origin]
	if one == nil {
		one = &limit{origin: origin, limiter: rate.NewLimiter(l.rate, l.burst)}
		l.byOrigin[origin] = one
	}
	return one
}

// wait blocks until the origin has a free slot. If that would exceed the deadline, it returns
// RATE_LIMITED at once and takes no slot.
func (l *limit) wait(ctx context.Context) *aai.Error {
	turn := l.limiter.Reserve()
	delay := turn.Delay()
	if deadline, ok := ctx.Deadline(); ok && delay > time.Until(deadline) {
		turn.Cancel()
		err := aai.Errorf(aai.RateLimited, "%s has reached this gateway's rate limit; the next request is possible in %s",
			l.origin, delay.Round(time.Millisecond))
		err.Hint = "Wait, then try again."
		err.RetryAfter, err.Delivery = delay, aai.NotDelivered
		return err
	}
	if aai.Sleep(ctx, delay) != nil {
		turn.Cancel()
		return abortError(ctx.Err(), l.origin, aai.NotDelivered)
	}
	return nil
}

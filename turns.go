package aai

import (
	"context"
	"sync"
	"time"
)

// turnPatience is how long a call waits until the calls before it have asked.
const turnPatience = 2 * time.Minute

// turns are taken one at a time, by who waits no longer than its context. The zero
// value is ready.
type turns struct {
	once  sync.Once
	taken chan struct{}
}

// take returns what ends the turn, and whether somebody else had it before.
func (t *turns) take(ctx context.Context) (end func(), waited bool, err *Error) {
	t.once.Do(func() { t.taken = make(chan struct{}, 1) })
	end = func() { <-t.taken }
	select {
	case t.taken <- struct{}{}:
		return end, false, nil
	default:
	}
	late := time.NewTimer(turnPatience)
	defer late.Stop()
	select {
	case t.taken <- struct{}{}:
		return end, true, nil
	case <-ctx.Done():
		return nil, true, leftBefore(ctx.Err())
	case <-late.C:
	}
	err = Errorf(ConsentRequired, "the person at this computer is being asked about other calls")
	err.Hint = "Call again when those are answered."
	err.RetryAfter = turnPatience
	return nil, true, err
}

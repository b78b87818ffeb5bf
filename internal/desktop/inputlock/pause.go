package inputlock

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// pausePoll is the time between two checks of a pause.
const pausePoll = 200 * time.Millisecond

// PauseReason returns the reason why input and actions must wait, as a clause; "" for none.
func (s *Lock) PauseReason(ctx context.Context) string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	reason := s.pauseReason
	s.mu.Unlock()
	if reason == nil {
		return ""
	}
	return reason(ctx)
}

// AwaitResume waits while input is paused. It leaves replyReserve of ctx, and then returns the
// error of [PausedError].
func (s *Lock) AwaitResume(ctx context.Context) error {
	for {
		reason := s.PauseReason(ctx)
		if reason == "" {
			return nil
		}
		deadline, ends := ctx.Deadline()
		if ends && time.Until(deadline) < replyReserve || aai.Sleep(ctx, pausePoll) != nil {
			return PausedError(reason)
		}
		if err := actionctx.CheckStopped(ctx); err != nil {
			return err
		}
	}
}

// PausedError returns the error of an action that cannot begin for the reason.
func PausedError(reason string) error {
	e := aai.Errorf(aai.RateLimited, "not now: %s, so the person cannot see what an agent does, and actions on windows pause", reason)
	e.Delivery, e.RetryAfter = aai.NotDelivered, retry
	e.Hint = "You have not called too often: reading tools still work; act again when the person is back."
	return e
}

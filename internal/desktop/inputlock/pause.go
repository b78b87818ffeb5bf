package inputlock

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// pausePoll is the time between two checks of a pause.
const pausePoll = 200 * time.Millisecond

// TakenReason is the reason of a pause while the person works on the agent's own desktop.
const TakenReason = "the person works on this desktop"

// takenPatience limits a wait for the person to give the desktop back. Clients give up after a minute.
const takenPatience = 30 * time.Second

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
// error of [PausedError]. While the reason is TakenReason the call's deadline pauses, for takenPatience at most.
func (s *Lock) AwaitResume(ctx context.Context) error { return awaitResume(ctx, s.PauseReason) }

// CheckPaused returns the error of [PausedError] if pauseReason returns a reason. A call that acts calls it first. For
// TakenReason it waits as [Lock.AwaitResume] does.
func CheckPaused(ctx context.Context, pauseReason func(context.Context) string) error {
	switch reason := pauseReason(ctx); reason {
	case "":
		return nil
	case TakenReason:
		return awaitResume(ctx, pauseReason)
	default:
		return PausedError(reason)
	}
}

func awaitResume(ctx context.Context, pauseReason func(context.Context) string) error {
	var limit time.Time
	for {
		reason := pauseReason(ctx)
		if reason == "" {
			return nil
		}
		if reason == TakenReason && limit.IsZero() {
			limit = time.Now().Add(takenPatience)
			defer actionctx.PauseDeadline(ctx)()
		}
		deadline, ends := ctx.Deadline()
		if ends && time.Until(deadline) < replyReserve || !limit.IsZero() && time.Now().After(limit) || aai.Sleep(ctx, pausePoll) != nil {
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
	if reason == TakenReason {
		e.Message = "not now: " + reason + ", and actions pause until the person gives it back"
		e.Hint = "You have not called too often: reading tools still work. Act again in some seconds, and look at the windows first: they may have changed."
	}
	return e
}

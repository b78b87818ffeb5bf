package gateway

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// A PauseFunc makes a call that does more than read wait while the person works where it acts. waited reports whether it
// did. The error ends the call. A PauseFunc waits less than AskTimeout, since clients give up after a minute.
type PauseFunc func(ctx context.Context, r *aai.Request) (waited bool, err error)

// awaitPause waits while the person works where the call acts. The call's clock is paused, and it has no slot yet, so that
// reading calls to the same app run.
func (p *invocation) awaitPause() (waited bool, err *aai.Error) {
	if p.g.Pause == nil || p.request.Effect() == aai.Reads {
		return false, nil
	}
	defer actionctx.PauseDeadline(p.ctx)()
	p.clock.pauseFor(AskTimeout)
	defer p.clock.resume()
	waited, failure := p.g.Pause(p.ctx, p.request)
	if p.ctx.Err() != nil {
		return waited, p.cancel()
	}
	return waited, aai.AsError(failure)
}

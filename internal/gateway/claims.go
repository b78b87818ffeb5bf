package gateway

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// Claims lets one gateway at a time act on a program. Each client starts a gateway of its own, and
// concurrent typing into one window would end in the wrong field. Claims is safe for concurrent use.
type Claims interface {
	// Claim waits until no other gateway acts on the process with that id, and reports whether it
	// had to wait. The claim lasts until leave is called. The error is the context's if the context
	// ends, or an *Error if coordination between gateways fails.
	Claim(ctx context.Context, process int) (leave func(), waited bool, err error)
}

// claimProcess waits for other gateways after the call has its queue token. A call that only
// reads proceeds even if coordination fails.
func (p *invocation) claimProcess(ctx context.Context, v *slot) (waited bool, err *aai.Error) {
	if p.g.Claims == nil || !v.exclusive || v.outer != nil || v.queue.key.process == 0 {
		return false, nil
	}
	leave, waited, failure := p.g.Claims.Claim(ctx, v.queue.key.process)
	switch {
	case failure == nil:
		v.releaseClaim = leave
	case ctx.Err() != nil:
		return waited, p.cancel()
	case !p.onlyReads():
		return waited, aai.AsError(failure)
	}
	return waited, nil
}

// handOver passes the token to the next call.
func (v *slot) handOver() {
	if v.releaseClaim != nil {
		v.releaseClaim()
	}
	v.token() <- struct{}{}
	v.queue.leave()
}

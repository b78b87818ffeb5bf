package aai

import "context"

// Claims let one gateway at a time act on a program. Each client starts a gateway of its own,
// and what two of them type into one window goes to whichever field has its keyboard. It is
// safe for concurrent use.
type Claims interface {
	// Claim waits until no other gateway acts on the process, and reports whether it had to.
	// It is held until leave is called. It fails with the context's error when that ends, and
	// else with an *Error where gateways cannot agree.
	Claim(ctx context.Context, process int) (leave func(), waited bool, err error)
}

// claimProcess waits for the other gateways once the call has its lane. What only looks does so also
// where gateways cannot agree.
func (p *invocation) claimProcess(ctx context.Context, v *slot) (waited bool, err *Error) {
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
		return waited, AsError(failure)
	}
	return waited, nil
}

// handOver lets the next one act.
func (v *slot) handOver() {
	if v.releaseClaim != nil {
		v.releaseClaim()
	}
	v.token() <- struct{}{}
	v.queue.leave()
}

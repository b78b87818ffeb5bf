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

// claim waits for the other gateways once the call has its lane. What only looks does so also
// where gateways cannot agree.
func (p *passage) claim(ctx context.Context, v *visit) (waited bool, err *Error) {
	if p.g.Claims == nil || !v.alone || v.outer != nil || v.way.key.process == 0 {
		return false, nil
	}
	leave, waited, failure := p.g.Claims.Claim(ctx, v.way.key.process)
	switch {
	case failure == nil:
		v.unclaim = leave
	case ctx.Err() != nil:
		return waited, p.abandon()
	case !p.reads():
		return waited, AsError(failure)
	}
	return waited, nil
}

// pass lets the next one act.
func (v *visit) pass() {
	if v.unclaim != nil {
		v.unclaim()
	}
	v.turn() <- struct{}{}
	v.way.quit()
}

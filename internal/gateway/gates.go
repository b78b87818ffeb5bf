package gateway

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// recheckGates asks the gates again when the call has its slot. A target element may have changed
// its name during the wait, and after a deferred admission anything may have changed. Gates may
// admit or refuse; no person is asked.
func (p *invocation) recheckGates(ctx context.Context) *aai.Error {
	r := p.request
	if !r.App.OperatesOthers() && !p.deferred {
		return nil
	}
	was := r.Element
	r.Judgement = aai.Judgement{Element: was, TargetResolved: r.TargetResolved}
	questions, err := p.checkGates(ctx)
	if err == nil && r.Destructive && len(r.Call.Answers) > 0 && was.Role != "" && !sameElement(r.Element, was) {
		return targetChanged(r, r.Element)
	}
	if err != nil || len(questions) == 0 {
		return err
	}
	return consentChanged(r)
}

// checkGates asks every gate, until the context ends.
func (p *invocation) checkGates(ctx context.Context) ([]aai.Question, *aai.Error) {
	questions, err := p.g.checkGates(ctx, p.request)
	if failure := p.deadlineError(ctx, err); failure != nil {
		return nil, failure
	}
	if ctx.Err() != nil {
		return nil, p.cancel()
	}
	return questions, nil
}

func (g *Gateway) checkGates(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if len(g.Gates) == 0 {
		return nil, aai.Errorf(aai.PermissionDenied, "this gateway has no gates, so it admits nothing")
	}
	var questions []aai.Question
	for _, gate := range g.Gates {
		asked, err := gate.Check(ctx, r)
		if err != nil {
			return nil, err
		}
		questions = append(questions, asked...)
	}
	return questions, nil
}

package gateway

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
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

// minPINLength is the length in bytes from which a secret with a digit may be a PIN.
const minPINLength = 4

// equal reports whether both show the same element to people.
func sameElement(h, other aai.TargetElement) bool {
	h.AllText, h.Irreversible = other.AllText, other.Irreversible
	return h == other
}

// sanitized returns the element with each text as one harmless line, without the call's secrets.
// In windows, secrets that are too short to identify stay in longer names.
func sanitizedElement(r *aai.Request, h aai.TargetElement) aai.TargetElement {
	if h == (aai.TargetElement{}) {
		return h
	}
	values := secretValues(r, r.SecretParams())
	telling := values
	if r.App != nil && r.App.OperatesOthers() {
		// Every value set in a window counts as secret: "form" in "Sign-up form" is harmless, but
		// a number may be a PIN.
		telling = slices.DeleteFunc(slices.Clone(values), func(secret string) bool {
			return len(secret) < minEchoedSecret && (len(secret) < minPINLength || !strings.ContainsFunc(secret, unicode.IsNumber))
		})
	}
	secrets := sanitize.NewRedactor(telling)
	for _, text := range []*string{&h.Role, &h.Name, &h.ID, &h.Window} {
		if slices.Contains(values, *text) {
			*text = sanitize.Redacted
		}
		*text = secrets.Redact(aai.CleanLabel(*text, maxName))
	}
	h.AllText, h.Irreversible = "", false
	return h
}

// ReportTargetElement reports the element that the context's call is about to act on. An Action
// calls it from its own goroutine before it acts. The last report is recorded, redacted. If the
// element differs from the judged one, the gates check again; they may refuse by an error, and no
// person is asked.
func ReportTargetElement(ctx context.Context, hit aai.TargetElement) error {
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil {
		return nil
	}
	if why := p.checkStop(); why != nil {
		return asNotDelivered(why)
	}
	told := p.recordedElement(hit)
	p.update(func(p *invocation) { p.element = told })
	if err := p.recheckTarget(ctx, hit); err != nil {
		e := *err
		e.Delivery = aai.NotDelivered
		return &e
	}
	return nil
}

// recheckTarget asks the gates about the element if it differs from the judged one.
func (p *invocation) recheckTarget(ctx context.Context, hit aai.TargetElement) *aai.Error {
	r := p.request
	if !r.App.OperatesOthers() || r.Effect() == aai.Reads || hit == r.Element {
		return nil
	}
	if r.Destructive {
		if len(r.Call.Answers) == 0 || r.Element.Role == "" || sameElement(hit, r.Element) {
			return nil // the consent was for any destruction, or for this element
		}
		return targetChanged(r, hit)
	}
	// the question concerned any element, or the same one with other text
	anything := r.Element.Role == "" && r.Element.Key == "" || sameElement(hit, r.Element)
	r.Element, r.TargetResolved = hit, true
	answers := r.Call.Answers // for the earlier question only
	r.Call.Answers = nil
	questions, err := p.checkGates(ctx)
	r.Call.Answers = answers
	if err == nil && len(questions) > 0 && anything && !r.Destructive {
		questions, err = p.checkGates(ctx) // consent to any element of the windows includes this one
	}
	if err != nil {
		return err
	}
	if len(questions) > 0 {
		return targetChanged(r, hit)
	}
	return nil
}

// targetChanged returns the error of a call that would act on another element than the permitted
// one.
func targetChanged(r *aai.Request, hit aai.TargetElement) *aai.Error {
	e := aai.Errorf(aai.ConsentRequired, "it would act on %s, and a person must allow that: %s of %s", sanitizedElement(r, hit), r.Permission(), r.Call.Target.ID)
	e.Hint = "If that is right, call again: the gateway asks the person."
	return withNeeds(r, e)
}

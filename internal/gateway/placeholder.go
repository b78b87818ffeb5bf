package gateway

import (
	"context"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
)

// MapLeaves returns a JSON value with each part that is neither an object nor a list replaced by
// the result of f. It does not descend into results of f, and does not change value.
func MapLeaves(value any, f func(any) (any, error)) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			mapped, err := MapLeaves(member, f)
			if err != nil {
				return nil, err
			}
			object[name] = mapped
		}
		return object, nil
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			mapped, err := MapLeaves(item, f)
			if err != nil {
				return nil, err
			}
			list[i] = mapped
		}
		return list, nil
	}
	return f(value)
}

// ResolvePlaceholders returns the value with each Placeholder replaced by the result of fill, as
// [MapLeaves] does.
func ResolvePlaceholders(value any, fill func(aai.Placeholder) (any, error)) (any, error) {
	return MapLeaves(value, func(part any) (any, error) {
		if h, is := part.(aai.Placeholder); is {
			return fill(h)
		}
		return part, nil
	})
}

// Repeat runs the call with index i as [Admission.Run] does, with its placeholders resolved by
// fill, which may be nil if the call has none. From its second call for one i on, Repeat makes a
// new call that differs only in its placeholders and is counted and recorded separately.
// Effects beyond the admission are refused; no person is asked.
func (a *Admission) Repeat(ctx context.Context, i int, fill func(aai.Placeholder) (any, error)) (*aai.Result, error) {
	p, err := a.nextCall(ctx, i)
	if err != nil {
		return nil, err
	}
	if fill == nil {
		fill = func(h aai.Placeholder) (any, error) { return nil, unresolvedPlaceholder(h) }
	}
	p.placeholderValue = fill
	return p.runAdmitted(ctx)
}

// RunUndo runs a call that reverts the call with index i, or reads the state before reverting it.
// The call shares the admission of call i if app and target are the same and it needs no further
// permission. Reading needs none beyond acting. Other calls are refused with CONSENT_REQUIRED; no
// person is asked.
func (a *Admission) RunUndo(ctx context.Context, i int, call *aai.Call) (*aai.Result, error) {
	a.mu.Lock()
	made := i >= 0 && i < len(a.calls) && a.started[i]
	a.mu.Unlock()
	if !made {
		return nil, aai.Errorf(aai.Internal, "call %d did nothing that can be undone", i)
	}
	model := a.calls[i]
	p := newInvocation(ctx, model.g, call, make(chan struct{}, 1))
	p.clock.pause()
	p.base, p.isUndo = model, true
	return p.runAdmitted(ctx)
}

// nextCall returns call i, marked as started, or a new call like it if it has started before.
func (a *Admission) nextCall(ctx context.Context, i int) (*invocation, *aai.Error) {
	a.mu.Lock()
	closed, again := a.closeReason, i >= 0 && i < len(a.calls) && a.started[i]
	a.mu.Unlock()
	if closed != nil {
		return nil, closed
	}
	if !again {
		if err := a.begin(i); err != nil {
			return nil, err
		}
		return a.calls[i], nil
	}
	model := a.calls[i]
	call := *model.admittedCall
	call.ID = aai.NewCallID()
	p := newInvocation(ctx, model.g, &call, make(chan struct{}, 1))
	p.clock.pause()
	p.base = model
	return p, nil
}

// resolvePlaceholders resolves the placeholders of the call.
func (p *invocation) resolvePlaceholders() *aai.Error {
	args, err := ResolvePlaceholders(p.request.Call.Args, p.placeholderValue)
	if err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return &e
	}
	p.request.Call.Args, _ = args.(map[string]any)
	return nil
}

// resolveRepeat prepares a call and gives it the admission of its base, if both match.
func (p *invocation) resolveRepeat() *aai.Error {
	if err := p.prepare(); err != nil {
		return err
	}
	r, model := p.request, p.base.request
	looks := p.isUndo && r.Tool.Effect == aai.Reads && model.Tool.Effect != aai.Reads
	same := r.Digest() == model.Digest()
	if looks && !r.App.OperatesOthers() {
		same = r.App.Digest == model.App.Digest // another tool of the app
	}
	if r.App.ID != model.App.ID || r.Call.Target.ID != model.Call.Target.ID || !same {
		return consentChanged(r)
	}
	p.deferred, p.personAsked = true, p.base.personAsked
	r.AdmittedSecrets = slices.Clone(model.AdmittedSecrets)
	r.AdmittedPermission, r.Consent, r.LastRevocation, r.Call.Answers = model.AdmittedPermission, model.Consent, model.LastRevocation, maps.Clone(model.Call.Answers)
	if looks {
		r.AdmittedPermission = r.Permission()
	}
	return nil
}

func unresolvedPlaceholder(h aai.Placeholder) *aai.Error {
	e := aai.Errorf(aai.Internal, "%s was not known when the call was to run", aai.CleanLabel(h.Label, maxName))
	e.Delivery = aai.NotDelivered
	return e
}

// containsPlaceholder reports whether the value contains a Placeholder.
func containsPlaceholder(value any) (has bool) {
	_, _ = ResolvePlaceholders(value, func(h aai.Placeholder) (any, error) { has = true; return h, nil })
	return has
}

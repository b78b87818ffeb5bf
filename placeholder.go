package aai

import (
	"context"
	"encoding/json"
	"maps"
)

// A Hole stands in the arguments of a call for a value that is not known yet, such as one
// that another call is to give. A call with holes can be admitted: all else in it is
// validated and shown. It runs only when they are filled, by [Admission.Repeat].
type Placeholder struct {
	Label string // what people are shown in its place, such as "‹title of step 1›"
	Key   any    // by which whoever fills it knows it
}

// MarshalJSON writes what people are shown.
func (h Placeholder) MarshalJSON() ([]byte, error) { return json.Marshal(h.Label) }

// MapLeaves returns a JSON value with what f gives in the place of each part of it that is neither
// an object nor a list. What f gives is not looked through. The value itself is not changed.
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

// ResolvePlaceholders returns the value with what fill gives in the place of each Hole, as [MapLeaves] does.
func ResolvePlaceholders(value any, fill func(Placeholder) (any, error)) (any, error) {
	return MapLeaves(value, func(part any) (any, error) {
		if h, is := part.(Placeholder); is {
			return fill(h)
		}
		return part, nil
	})
}

// Repeat runs the call of that index as [Admission.Run] does, with what fill gives in the
// place of its holes, which may be nil where it has none. It may be done again: from the
// second time on it is another call, which was admitted with this one, differs from it in its
// holes alone, and is counted and on record for itself. What it turns out to do beyond what
// was admitted is refused; nobody is asked.
func (a *Admission) Repeat(ctx context.Context, i int, fill func(Placeholder) (any, error)) (*Result, error) {
	p, err := a.nextCall(ctx, i)
	if err != nil {
		return nil, err
	}
	if fill == nil {
		fill = func(h Placeholder) (any, error) { return nil, unresolvedPlaceholder(h) }
	}
	p.placeholderValue = fill
	return p.runAdmitted(ctx)
}

// RunUndo makes a call that takes back what the call of that index did, or looks whether it
// may be. It was admitted with that one where it is about the same app and target and needs
// no more than that was admitted to; to look needs no more than to act. For anything else it
// is refused with CONSENT_REQUIRED; nobody is asked.
func (a *Admission) RunUndo(ctx context.Context, i int, call *Call) (*Result, error) {
	a.mu.Lock()
	made := i >= 0 && i < len(a.calls) && a.started[i]
	a.mu.Unlock()
	if !made {
		return nil, Errorf(Internal, "call %d did nothing that could be taken back", i)
	}
	model := a.calls[i]
	p := newInvocation(ctx, model.g, call, make(chan struct{}, 1))
	p.clock.pause()
	p.base, p.isUndo = model, true
	return p.runAdmitted(ctx)
}

// nextCall takes the call out of those that may still be run, or returns another like it.
func (a *Admission) nextCall(ctx context.Context, i int) (*invocation, *Error) {
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
	call.ID = NewCallID()
	p := newInvocation(ctx, model.g, &call, make(chan struct{}, 1))
	p.clock.pause()
	p.base = model
	return p, nil
}

// resolvePlaceholders fills the holes of the call.
func (p *invocation) resolvePlaceholders() *Error {
	args, err := ResolvePlaceholders(p.request.Call.Args, p.placeholderValue)
	if err != nil {
		e := *AsError(err)
		e.Delivery = NotDelivered
		return &e
	}
	p.request.Call.Args, _ = args.(map[string]any)
	return nil
}

// resolveRepeat brings a call where another stands that it is like.
func (p *invocation) resolveRepeat() *Error {
	if err := p.prepare(); err != nil {
		return err
	}
	r, model := p.request, p.base.request
	looks := p.isUndo && r.Tool.Effect == Reads && model.Tool.Effect != Reads
	same := r.Digest() == model.Digest()
	if looks && !r.App.OperatesOthers() {
		same = r.App.Digest == model.App.Digest // another tool of it
	}
	if r.App.ID != model.App.ID || r.Call.Target.ID != model.Call.Target.ID || !same {
		return consentChanged(r)
	}
	p.deferred, p.personAsked = true, p.base.personAsked
	r.AdmittedPermission, r.Consent, r.Since, r.Call.Answers = model.AdmittedPermission, model.Consent, model.Since, maps.Clone(model.Call.Answers)
	if looks {
		r.AdmittedPermission = r.Permission()
	}
	return nil
}

func unresolvedPlaceholder(h Placeholder) *Error {
	e := Errorf(Internal, "%s was not known when the call was to run", CleanLabel(h.Label, maxName))
	e.Delivery = NotDelivered
	return e
}

// containsPlaceholder reports whether there is a Hole in the value.
func containsPlaceholder(value any) (has bool) {
	_, _ = ResolvePlaceholders(value, func(h Placeholder) (any, error) { has = true; return h, nil })
	return has
}

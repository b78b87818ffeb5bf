package aai

import (
	"context"
	"encoding/json"
	"maps"
)

// A Hole stands in the arguments of a call for a value that is not known yet, such as one
// that another call is to give. A call with holes can be admitted: all else in it is
// validated and shown. It runs only when they are filled, by [Admission.Repeat].
type Hole struct {
	Says string // what people are shown in its place, such as "‹title of step 1›"
	Of   any    // by which whoever fills it knows it
}

// MarshalJSON writes what people are shown.
func (h Hole) MarshalJSON() ([]byte, error) { return json.Marshal(h.Says) }

// Mapped returns a JSON value with what f gives in the place of each part of it that is neither
// an object nor a list. What f gives is not looked through. The value itself is not changed.
func Mapped(value any, f func(any) (any, error)) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			mapped, err := Mapped(member, f)
			if err != nil {
				return nil, err
			}
			object[name] = mapped
		}
		return object, nil
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			mapped, err := Mapped(item, f)
			if err != nil {
				return nil, err
			}
			list[i] = mapped
		}
		return list, nil
	}
	return f(value)
}

// Filled returns the value with what fill gives in the place of each Hole, as [Mapped] does.
func Filled(value any, fill func(Hole) (any, error)) (any, error) {
	return Mapped(value, func(part any) (any, error) {
		if h, is := part.(Hole); is {
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
func (a *Admission) Repeat(ctx context.Context, i int, fill func(Hole) (any, error)) (*Result, error) {
	p, err := a.next(ctx, i)
	if err != nil {
		return nil, err
	}
	if fill == nil {
		fill = func(h Hole) (any, error) { return nil, unfilled(h) }
	}
	p.fill = fill
	return p.runAdmitted(ctx)
}

// TakeBack makes a call that takes back what the call of that index did, or looks whether it
// may be. It was admitted with that one where it is about the same app and target and needs
// no more than that was admitted to; to look needs no more than to act. For anything else it
// is refused with CONSENT_REQUIRED; nobody is asked.
func (a *Admission) TakeBack(ctx context.Context, i int, call *Call) (*Result, error) {
	a.mu.Lock()
	made := i >= 0 && i < len(a.calls) && a.began[i]
	a.mu.Unlock()
	if !made {
		return nil, Errorf(Internal, "call %d did nothing that could be taken back", i)
	}
	model := a.calls[i]
	p := newPassage(ctx, model.g, call, make(chan struct{}, 1))
	p.clock.rest()
	p.like, p.back = model, true
	return p.runAdmitted(ctx)
}

// next takes the call out of those that may still be run, or returns another like it.
func (a *Admission) next(ctx context.Context, i int) (*passage, *Error) {
	a.mu.Lock()
	closed, again := a.closed, i >= 0 && i < len(a.calls) && a.began[i]
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
	call := *model.model
	call.ID = NewCallID()
	p := newPassage(ctx, model.g, &call, make(chan struct{}, 1))
	p.clock.rest()
	p.like = model
	return p, nil
}

// filled fills the holes of the call.
func (p *passage) filled() *Error {
	args, err := Filled(p.r.Call.Args, p.fill)
	if err != nil {
		e := *AsError(err)
		e.Delivery = NotDelivered
		return &e
	}
	p.r.Call.Args, _ = args.(map[string]any)
	return nil
}

// arriveLike brings a call where another stands that it is like.
func (p *passage) arriveLike() *Error {
	if err := p.approach(); err != nil {
		return err
	}
	r, model := p.r, p.like.r
	looks := p.back && r.Tool.Effect == Reads && model.Tool.Effect != Reads
	same := r.Digest() == model.Digest()
	if looks && !r.App.OperatesOthers() {
		same = r.App.Digest == model.App.Digest // another tool of it
	}
	if r.App.ID != model.App.ID || r.Call.Target.ID != model.Call.Target.ID || !same {
		return changed(r)
	}
	p.rested, p.asked = true, p.like.asked
	r.Admitted, r.Consent, r.Since, r.Call.Answers = model.Admitted, model.Consent, model.Since, maps.Clone(model.Call.Answers)
	if looks {
		r.Admitted = r.Permission()
	}
	return nil
}

func unfilled(h Hole) *Error {
	e := Errorf(Internal, "%s was not known when the call was to run", CleanLabel(h.Says, maxName))
	e.Delivery = NotDelivered
	return e
}

// gaps reports whether there is a Hole in the value.
func gaps(value any) (has bool) {
	_, _ = Filled(value, func(h Hole) (any, error) { has = true; return h, nil })
	return has
}

package gui

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// precheckQueries returns the error for a query without a match, before the person is asked about
// the call. It leaves everything that it cannot decide in time to the call.
func (d *engine) precheckQueries(ctx context.Context, call *aai.Call) error {
	for _, arg := range []string{"query", "from_query", "to_query"} {
		if err := d.precheckQuery(ctx, call, params.String(call, arg)); err != nil {
			return err
		}
	}
	return nil
}

func (d *engine) precheckQuery(ctx context.Context, call *aai.Call, query string) error {
	if query == "" {
		return nil
	}
	return d.precheck(ctx, call, func(ctx context.Context, v *view) error {
		if _, is := d.pictureWord(call, v.app); is {
			return nil
		}
		v.includeMenus = params.PressesViaAccessibility(call)
		_, err := v.locate(ctx, query)
		return err
	})
}

// precheckFields returns the error for a form without any of its fields, or without its submit
// element.
func (d *engine) precheckFields(ctx context.Context, call *aai.Call) error {
	return d.precheck(ctx, call, func(ctx context.Context, v *view) error {
		fields := fieldsOf(call)
		if err := v.findFields(ctx, fields); err != nil {
			return err
		}
		if slices.ContainsFunc(fields, func(f field) bool { return f.id != "" }) {
			fields = []field{{query: params.Submit(call)}}
			if fields[0].query != "" {
				v.findField(ctx, &fields[0], v.findWithOffscreen)
			}
		}
		return fields[0].err
	})
}

// precheck returns the error that the call is about to encounter, if that is known in time.
func (d *engine) precheck(ctx context.Context, call *aai.Call, find func(context.Context, *view) error) error {
	if call.Target == nil || call.Target.PID == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout+resolveTimeout)
	defer cancel()
	works := false // a busy program may still show it
	_, err := d.withViewUnqueued(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.forAction, v.certainOnly = true, true
		err := find(ctx, v)
		works = !v.noTree && v.backend.Events != nil && !v.backend.Events.IsIdle(v.app)
		return nil, err
	})
	if err == nil {
		return nil
	}
	switch e := aai.AsError(err); e.Code {
	case aai.ElementNotFound:
		if !works {
			return e
		}
	case aai.AmbiguousTarget, aai.StaleRef, aai.InvalidParams:
		return e
	}
	d.Log.Debug("whether a call finds its target is not known", "error", err)
	return nil
}

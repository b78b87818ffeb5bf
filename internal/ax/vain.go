package ax

import (
	"context"
	"slices"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/operate"
)

// missing says why what a call is to act on is not to be found, so that nobody is asked
// about what comes to nothing. What it cannot see in time it leaves to the call.
func (d *desk) missing(ctx context.Context, call *aai.Call) error {
	for _, arg := range []string{"query", "from_query", "to_query"} {
		if err := d.unfound(ctx, call, asked.Text(call, arg)); err != nil {
			return err
		}
	}
	return nil
}

func (d *desk) unfound(ctx context.Context, call *aai.Call, query string) error {
	if query == "" {
		return nil
	}
	return d.surelyNot(ctx, call, func(ctx context.Context, v *view) error {
		v.AlsoMenus = asked.PressesByAsking(call)
		_, err := v.Locate(ctx, query)
		return err
	})
}

// unfillable says why a form comes to nothing: none of its fields is there, or not what is
// to be pressed then.
func (d *desk) unfillable(ctx context.Context, call *aai.Call) error {
	return d.surelyNot(ctx, call, func(ctx context.Context, v *view) error {
		fields := fieldsOf(call)
		if err := v.aimAll(ctx, fields); err != nil {
			return err
		}
		if slices.ContainsFunc(fields, func(f field) bool { return f.id != "" }) {
			fields = []field{{query: asked.Submit(call)}}
			if fields[0].query != "" {
				v.aimAt(ctx, &fields[0], v.Seek)
			}
		}
		return fields[0].err
	})
}

// surelyNot is what an act is about to find wrong, as far as it is seen in time.
func (d *desk) surelyNot(ctx context.Context, call *aai.Call, find func(context.Context, *view) error) error {
	if call.Target == nil || call.Target.PID == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, operate.FindPatience+aimPatience)
	defer cancel()
	works := false // and may show it yet
	_, err := d.glance(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.Acting, v.Surely = true, true
		err := find(ctx, v)
		works = !v.Blind && v.Backend.Events != nil && !v.Backend.Events.Idle(v.App)
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
	d.Log.Debug("whether a call finds what it is about is not known", "error", err)
	return nil
}

// screenless is the tool's own word of what comes to nothing, after that of a desktop that is
// not there.
func (d *desk) screenless(tool *aai.Tool) {
	own := tool.Vain
	tool.Vain = func(ctx context.Context, call *aai.Call) error {
		if call.Target == nil || call.Target.PID == 0 {
			if err := d.Screenless(ctx); err != nil {
				return err
			}
		}
		if own == nil {
			return nil
		}
		return own(ctx, call)
	}
}

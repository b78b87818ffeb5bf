package ax

import (
	"context"
	"strings"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/operate"
)

// aimPatience is how long it may take to find what a call is about.
const aimPatience = time.Second

// aim says what a call will hit, as far as that can be seen beforehand, and what the
// query says. Of a reference that has another name by now it is what the caller was told:
// that element is not acted upon. A program that the conversation has not been told of
// yet is not looked at for it: who may see it is decided first, and what is hit is judged
// when it is about to be.
func (d *desk) aim(ctx context.Context, call *aai.Call) aai.Hit {
	hit := asked.Hit(call)
	if call.Target == nil || call.Target.PID == 0 {
		return hit
	}
	if call.Tool == asked.WindowTool {
		return d.windowHit(ctx, call)
	}
	known := d.Sessions.Of(call).Knows(call.Target.PID)
	if known == nil {
		return hit
	}
	ctx, cancel := context.WithTimeout(ctx, aimPatience)
	defer cancel()
	_, err := d.glance(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.Silent, v.Acting, v.Surely, v.AlsoMenus = true, true, true, true
		i, also, err := v.target(ctx)
		if err == nil {
			hit = v.Hit(ctx, i, also...)
			return nil, nil
		}
		// What it is not, but likest to, is judged too; the call itself will say why.
		v.Surely = false
		if i, also, err = v.target(ctx); err == nil {
			hit.Says = v.Hit(ctx, i, also...).Says
		}
		return nil, err
	})
	if err != nil {
		d.Log.Debug("what a call will hit is not known", "error", err)
		for _, text := range asked.Queries(call) {
			hit.Says = strings.TrimSpace(hit.Says + " " + known.Told(text))
		}
	}
	return hit
}

// target finds what the call is about: the element (-1: none), and what else it touches.
func (v *view) target(ctx context.Context) (i int, also []int, err error) {
	switch {
	case asked.Given(v.Call, "fields"):
		return v.targets(ctx)
	case asked.Given(v.Call, "key") && !asked.Given(v.Call, "query"):
		return v.Place(ctx), nil, nil
	case asked.Given(v.Call, "from_query"), asked.Given(v.Call, "from_x"):
		if i, err = v.end(ctx, "from"); err == nil {
			var to int
			to, err = v.end(ctx, "to")
			also = []int{to}
		}
		return i, also, err
	case asked.Given(v.Call, "x"):
		return v.Place(ctx), nil, nil
	}
	m := operate.Match{Index: -1}
	switch query := asked.Text(v.Call, "query"); {
	case query != "":
		m, err = v.Find(ctx, query)
	case v.Gives() != "":
		m, err = v.Focused()
	}
	if err == nil && asked.Given(v.Call, "value") {
		if option := v.Option(m.Index, asked.Text(v.Call, "value")); option >= 0 {
			m.Index = option
		}
	}
	return m.Index, nil, err
}

// end is what is at an end of a drag.
func (v *view) end(ctx context.Context, end string) (int, error) {
	if query := asked.Text(v.Call, end+"_query"); query != "" {
		m, err := v.Find(ctx, query)
		return m.Index, err
	}
	return v.Under(ctx, end+"_"), nil
}

package gui

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/operate"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// resolveTimeout is how long it may take to find what a call is about.
const resolveTimeout = time.Second

// resolveTarget says what a call will hit, as far as that can be seen beforehand, and what the
// query says. Of a reference that has another name by now it is what the caller was told:
// that element is not acted upon. A program that the conversation has not been told of
// yet is not looked at for it: who may see it is decided first, and what is hit is judged
// when it is about to be.
func (d *toolset) resolveTarget(ctx context.Context, call *aai.Call) aai.TargetElement {
	hit := params.TargetElement(call)
	if call.Target == nil || call.Target.PID == 0 {
		return hit
	}
	if call.Tool == params.WindowTool {
		return d.windowTarget(ctx, call)
	}
	known := d.Sessions.For(call).KnownRefs(call.Target.PID)
	if known == nil {
		return hit
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	_, err := d.withViewUnqueued(ctx, call, func(ctx context.Context, v *callView) (*aai.Result, error) {
		v.WithoutNewRefs, v.ForAction, v.CertainOnly, v.IncludeMenus = true, true, true, true
		i, also, err := v.target(ctx)
		if err == nil {
			hit = v.TargetElement(ctx, i, also...)
			return nil, nil
		}
		// What it is not, but likest to, is judged too; the call itself will say why.
		v.CertainOnly = false
		if i, also, err = v.target(ctx); err == nil {
			hit.AllText = v.TargetElement(ctx, i, also...).AllText
		}
		return nil, err
	})
	if err != nil {
		d.Log.Debug("what a call will hit is not known", "error", err)
		for _, text := range params.Queries(call) {
			hit.AllText = strings.TrimSpace(hit.AllText + " " + known.LastName(text))
		}
	}
	return hit
}

// target finds what the call is about: the element (-1: none), and what else it touches.
func (v *callView) target(ctx context.Context) (i int, also []int, err error) {
	switch {
	case params.Has(v.Call, "fields"):
		return v.targets(ctx)
	case params.Has(v.Call, "key") && !params.Has(v.Call, "query"):
		return v.ImplicitTarget(ctx), nil, nil
	case params.Has(v.Call, "from_query"), params.Has(v.Call, "from_x"):
		if i, err = v.dragEndElement(ctx, "from"); err == nil {
			var to int
			to, err = v.dragEndElement(ctx, "to")
			also = []int{to}
		}
		return i, also, err
	case params.Has(v.Call, "x"):
		return v.ImplicitTarget(ctx), nil, nil
	}
	m := operate.Match{Index: -1}
	switch query := params.String(v.Call, "query"); {
	case query != "":
		m, err = v.Find(ctx, query)
	case v.InputText() != "":
		m, err = v.Focused()
	}
	if err == nil && params.Has(v.Call, "value") {
		if option := v.Option(m.Index, params.String(v.Call, "value")); option >= 0 {
			m.Index = option
		}
	}
	return m.Index, nil, err
}

// dragEndElement is what is at an end of a drag.
func (v *callView) dragEndElement(ctx context.Context, end string) (int, error) {
	if query := params.String(v.Call, end+"_query"); query != "" {
		m, err := v.Find(ctx, query)
		return m.Index, err
	}
	return v.TargetAtPoint(ctx, end+"_"), nil
}

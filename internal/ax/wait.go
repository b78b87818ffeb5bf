package ax

import (
	"context"
	"fmt"
	"maps"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/fault"
	"aai/internal/ax/values"
	"aai/internal/ax/watch"
	"aai/internal/desktop"
)

func (d *desk) waitTool() *aai.Tool {
	return spec{
		name: "ax_wait", title: "Wait for an element", effect: aai.Reads,
		returns:     elementReturns + `, "waited_ms": {"type": "integer"}`,
		description: "Wait until an element is so.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"until": {"type": "string", "enum": ["appears", "vanishes", "value", "state"]},
			"value": {"type": "string"},
			"state": {"type": "string", "enum": ["enabled", "disabled", "checked", "unchecked", "selected", "focused", "expanded", "collapsed"]},
			"timeout_ms": {"type": "integer", "minimum": 1, "maximum": 60000, "default": 10000}`,
		required: `["app", "query"]`, timeout: maxWait + callTimeout, turn: asideOf(aai.Beside),
		run: d.wait,
	}.tool()
}

// A wait is for one thing to be so.
type wait struct {
	desk  *desk
	call  *aai.Call
	until string
	begun time.Time
}

// wait waits by events, and looks after each. It does not take the program's turn, so that
// others can act on it meanwhile.
func (d *desk) wait(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	w, err := d.waitOf(call)
	if err != nil {
		return nil, err
	}
	app, err := d.Running(ctx, call)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(asked.Int(call, "timeout_ms", 10000)) * time.Millisecond
	watching, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var events <-chan desktop.Event
	if e := d.Open().Events; e != nil {
		if events, err = e.Watch(watching, app); err != nil {
			return nil, err
		}
	}
	var came *aai.Result
	err = watch.Until(watching, events, func() (bool, error) {
		var err error
		came, err = w.look(watching, false)
		return came != nil, err
	}, func() {
		aai.Progress(ctx, w.waited().Seconds(), limit.Seconds(), "Not so yet")
	})
	switch {
	case ctx.Err() != nil: // nobody waits for it any more
		return nil, ctx.Err()
	case came != nil || err != nil && watching.Err() == nil:
		return came, err
	}
	ctx, cancel = context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return w.look(ctx, true)
}

// waitOf is what the call waits for.
func (d *desk) waitOf(call *aai.Call) (*wait, error) {
	w := &wait{desk: d, call: call, until: asked.Text(call, "until"), begun: time.Now()}
	for _, what := range []string{"value", "state"} {
		switch {
		case asked.Given(call, what) && w.until == "":
			w.until = what
		case asked.Given(call, what) != (w.until == what):
			return nil, aai.Errorf(aai.InvalidParams, `%s: expected it with until "%s", and only then`, what, what)
		}
	}
	if w.until == "" {
		w.until = "appears"
	}
	if (w.until == "appears" || w.until == "vanishes") && !asked.Given(call, "nth") { // any will do
		first := *call
		first.Args = maps.Clone(call.Args)
		first.Args["nth"] = 1
		w.call = &first
	}
	return w, nil
}

// waited is how long it has been.
func (w *wait) waited() time.Duration { return time.Since(w.begun).Round(time.Millisecond) }

// look is the answer if it is so now; nil if it is not. The last look says what there is
// instead.
func (w *wait) look(ctx context.Context, last bool) (*aai.Result, error) {
	result, err := w.desk.glance(ctx, w.call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.Silent, v.Surely = !last, true // one is found surely, or has not come
		result, err := w.seen(ctx, v)
		if instead := aai.AsError(err); instead != nil && instead.Answered && !last {
			return nil, nil
		}
		return result, err
	})
	if e := aai.AsError(err); e != nil && e.Code == aai.AppNotRunning && w.until == "vanishes" {
		return w.gone(), nil
	}
	return result, err
}

// seen is the answer if it is so in the view. What it is instead is an error of a program
// that has answered.
func (w *wait) seen(ctx context.Context, v *view) (*aai.Result, error) {
	m, err := v.Seek(ctx, asked.Text(w.call, "query"))
	missing := false
	if e := aai.AsError(err); e != nil {
		if missing = e.Code == aai.ElementNotFound || e.Code == aai.StaleRef; !missing {
			return nil, err
		}
	} else if missing = !v.Shot.Visible(m.Index) && !v.Shot.Beyond(m.Index); missing { // a ref of what is hidden
		err = fault.Failed("", "%s is not showing", v.Name(m.Index))
	}
	switch {
	case missing && w.until == "vanishes":
		if err := v.unsure(); err != nil {
			return nil, err
		}
		return w.gone(), nil
	case missing:
		return nil, w.instead(err)
	case w.until == "vanishes":
		return nil, w.instead(fault.Failed("", "%s is there", v.Name(m.Index)))
	case w.until != "appears":
		if wrong, err := w.differs(ctx, v, &m.Index); err != nil {
			return nil, err
		} else if wrong != "" {
			return nil, w.instead(fault.Failed("", "%s %s", v.Name(m.Index), wrong))
		}
	}
	e := v.Brief(v.Shot, m.Index)
	return &aai.Result{Text: v.FoundText(m.Index, ""), Whole: true, Data: map[string]any{
		"element_ref": e.Ref, "role": e.Role, "title": e.Title, "value": e.Value, "waited_ms": w.waited().Milliseconds(),
	}}, nil
}

// gone is the answer where it is no more.
func (w *wait) gone() *aai.Result {
	waited := w.waited()
	return &aai.Result{Text: fmt.Sprintf("Gone after %s.", waited), Whole: true, Data: map[string]any{"waited_ms": waited.Milliseconds()}}
}

// instead is the error that tells what there is.
func (w *wait) instead(err error) error {
	e := *aai.AsError(err)
	e.Code, e.Answered = aai.Timeout, true
	e.Message = fmt.Sprintf("waited %s: %s", w.waited(), e.Message)
	if e.Hint == "" {
		e.Hint = "ax_get_tree shows what is there."
	}
	return &e
}

// differs says what the element is otherwise than it is to be; "" if it is so.
func (w *wait) differs(ctx context.Context, v *view, i *int) (string, error) {
	e, err := v.whole(ctx, i)
	if err != nil {
		return "", err
	}
	if w.until == "state" {
		if state := asked.Text(w.call, "state"); !isSo(&e, state) {
			return "is not " + state, nil
		}
		return "", nil
	}
	if e.States.Has(desktop.Protected) {
		return "", aai.Errorf(aai.InvalidParams, "value: what a password field holds is never read")
	}
	want := asked.Text(w.call, "value")
	if now := values.Long(&e); !values.SameCell(values.Normalized(now), values.Normalized(want)) {
		return "holds " + desktop.Quote(now, 100), nil
	}
	return "", nil
}

// isSo reports whether the element is as the word says.
func isSo(e *desktop.Element, word string) bool {
	switch word {
	case "disabled":
		return !e.States.Has(desktop.Enabled)
	case "unchecked":
		return !e.States.Any(desktop.Checked | desktop.Mixed)
	case "collapsed":
		return e.States.Has(desktop.Expandable) && !e.States.Has(desktop.Expanded)
	}
	return e.States.Has(desktop.StateNamed(word))
}

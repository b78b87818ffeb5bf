package gui

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// resolveTimeout limits the search for the target of a call.
const resolveTimeout = time.Second

// ResolveTarget describes the target of a call before the call, as far as it is visible, including
// the query's text. A ref of a renamed element counts with its old name, because the call will not
// act on it. It does not read a program that is new to the conversation. For that one the gates
// first decide about access, and judge the target when the call acts.
func (d *engine) ResolveTarget(ctx context.Context, call *aai.Call) aai.TargetElement {
	hit := params.TargetElement(call)
	if call.Target == nil || call.Target.PID == 0 {
		return hit
	}
	if call.Tool == params.WindowTool {
		return d.windowTarget(ctx, call)
	}
	word, isWord := d.pictureWord(call, desktop.App{PID: call.Target.PID})
	if isWord {
		hit = wordTarget(hit, word)
	}
	known := d.Sessions.For(call).KnownRefs(call.Target.PID)
	if known == nil && !isWord { // a text of a picture needs no ref of the tree
		return hit
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	_, err := d.withViewUnqueued(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.withoutNewRefs, v.forAction, v.certainOnly, v.includeMenus = true, true, true, true
		i, also, err := v.target(ctx)
		if err == nil {
			hit = v.targetElement(ctx, i, also...)
			return nil, nil
		}
		// No match is certain: the gates judge the text of the likeliest one. The call itself will
		// report the error, which is dropped here.
		v.certainOnly = false
		if i, also, err = v.target(ctx); err == nil {
			hit.AllText = v.targetElement(ctx, i, also...).AllText
		}
		return nil, err
	})
	if err != nil {
		d.Log.Debug("the target of a call is not known", "error", err)
		for _, text := range params.Queries(call) {
			if known == nil {
				break
			}
			hit.AllText = strings.TrimSpace(hit.AllText + " " + known.LastName(text))
		}
	}
	return hit
}

// target finds the call's element (-1: none), and the other elements that it touches.
func (v *view) target(ctx context.Context) (i int, also []int, err error) {
	if word, is := v.engine.pictureWord(v.call, v.app); is {
		at, w, err := v.placeOf(ctx, word)
		if err != nil {
			return -1, nil, err
		}
		return v.targetAt(ctx, at, w), nil, nil
	}
	switch {
	case params.Has(v.call, "fields"):
		return v.targets(ctx)
	case params.Has(v.call, "key") && !params.Has(v.call, "query"):
		return v.implicitTarget(ctx), nil, nil
	case params.Has(v.call, "from_query"), params.Has(v.call, "from_x"):
		if i, err = v.dragEndElement(ctx, "from"); err == nil {
			var to int
			to, err = v.dragEndElement(ctx, "to")
			also = []int{to}
		}
		return i, also, err
	case params.Has(v.call, "x"):
		return v.implicitTarget(ctx), nil, nil
	}
	m := match{index: -1}
	switch query := params.String(v.call, "query"); {
	case query != "":
		m, err = v.find(ctx, query)
	case v.inputText() != "":
		m, err = v.typingTarget(ctx, v.find)
	}
	if err == nil && params.Has(v.call, "value") {
		if option := v.option(m.index, params.String(v.call, "value")); option >= 0 {
			m.index = option
		}
	}
	return m.index, nil, err
}

// dragEndElement returns the element at one end of a drag.
func (v *view) dragEndElement(ctx context.Context, end string) (int, error) {
	if query := params.String(v.call, end+"_query"); query != "" {
		m, err := v.find(ctx, query)
		return m.index, err
	}
	return v.targetAtPoint(ctx, end+"_"), nil
}

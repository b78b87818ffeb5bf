package gui

import (
	"context"
	"math"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/operate"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

func (d *toolset) scrollTool() *aai.Tool {
	return spec{
		name: "ax_scroll", title: "Scroll", effect: aai.Changes,
		returns:     actionReturns,
		description: "Scroll an element's container, or the program's front window. to_view brings the element into view.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"direction": {"type": "string", "enum": ["up", "down", "left", "right"], "default": "down"},
			"amount": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 100, "description": "Pixels, about"},
			"to_view": {"type": "boolean", "default": false},` + xyProps + `,` + pictureFlag + `,` + modeProp,
		required: `["app"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, scroll)
		},
	}.tool()
}

func scroll(ctx context.Context, v *callView) (*aai.Result, error) {
	v.IncludeHidden = params.Bool(v.Call, "to_view")
	i := -1
	if query := params.String(v.Call, "query"); query != "" {
		m, err := v.Locate(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.Index
	}
	if params.Bool(v.Call, "to_view") {
		if i < 0 {
			return nil, aai.Errorf(aai.InvalidParams, "query: expected the element to bring into view")
		}
		return v.scrollToView(ctx, i)
	}
	if params.Has(v.Call, "x") && i < 0 {
		return v.scrollAt(ctx)
	}
	dx, dy := scrollBy(params.String(v.Call, "direction"), params.Int(v.Call, "amount", 100))
	a := operate.Action{View: v.View, Index: i, DoneText: "Scrolled " + params.String(v.Call, "direction")}
	from := i
	if from < 0 {
		from = v.FrontTopLevel(ctx)
	}
	var was fieldValue
	if bar := v.Scrollbar(from, dy != 0); bar >= 0 && !params.TakesFocus(v.Call) {
		was = v.readFieldValue(ctx, bar)
		e := &v.Snapshot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, fieldtext.ParseNumber(e.Value, 0)+float64(dx+dy)))
		a.Techniques = append(a.Techniques, v.ByAccessibility(bar, "its scroll bar", desktop.Act{Verb: desktop.SetNumber, Number: to}))
	}
	a.Techniques = append(a.Techniques, v.ByInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at := w.Frame.Center()
		if i >= 0 {
			var err error
			if at, err = v.ClickPoint(i, w); err != nil {
				return err
			}
		}
		return input.Scroll(ctx, seat, w.ID, at, operate.Notches(dx), operate.Notches(dy))
	}))
	out, err := a.Execute(ctx)
	return v.withUndo(ctx, was, out, err)
}

// scrollAt turns the wheel at a point.
func (v *callView) scrollAt(ctx context.Context) (*aai.Result, error) {
	at, err := v.ResolvePoint(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.WindowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	v.WatchWindow()
	dx, dy := scrollBy(params.String(v.Call, "direction"), params.Int(v.Call, "amount", 100))
	a := operate.Action{View: v.View, Index: -1, DoneText: "Scrolled " + params.String(v.Call, "direction")}
	a.Techniques = []operate.Technique{v.ByInputIn(operate.FixedWindow(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Scroll(ctx, seat, w.ID, at, operate.Notches(dx), operate.Notches(dy))
	})}
	return a.Execute(ctx)
}

func scrollBy(direction string, amount int) (dx, dy int) {
	switch direction {
	case "up":
		return 0, -amount
	case "left":
		return -amount, 0
	case "right":
		return amount, 0
	}
	return 0, amount
}

package gui

import (
	"context"
	"math"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

func (d *engine) scrollTool() *aai.Tool {
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

func scroll(ctx context.Context, v *view) (*aai.Result, error) {
	v.includeHidden = params.Bool(v.call, "to_view")
	i := -1
	if query := params.String(v.call, "query"); query != "" {
		m, err := v.locate(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.index
	}
	if params.Bool(v.call, "to_view") {
		if i < 0 {
			return nil, aai.Errorf(aai.InvalidParams, "query: expected the element to bring into view")
		}
		return v.scrollToView(ctx, i)
	}
	if params.Has(v.call, "x") && i < 0 {
		return v.scrollAt(ctx)
	}
	dx, dy := scrollBy(params.String(v.call, "direction"), params.Int(v.call, "amount", 100))
	a := action{view: v, index: i, doneText: "Scrolled " + params.String(v.call, "direction")}
	from := i
	if from < 0 {
		from = v.frontTopLevel(ctx)
	}
	var was fieldValue
	if bar := v.Scrollbar(from, dy != 0); bar >= 0 && !params.TakesFocus(v.call) {
		was = v.readFieldValue(ctx, bar)
		e := &v.Snapshot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, fieldtext.ParseNumber(e.Value, 0)+float64(dx+dy)))
		a.techniques = append(a.techniques, v.byAccessibility(bar, "its scroll bar", desktop.Act{Verb: desktop.SetNumber, Number: to}))
	}
	a.techniques = append(a.techniques, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at := w.Frame.Center()
		if i >= 0 {
			var err error
			if at, err = v.ClickPoint(i, w); err != nil {
				return err
			}
		}
		return input.Scroll(ctx, seat, w.ID, at, notches(dx), notches(dy))
	}))
	out, err := a.execute(ctx)
	return v.withUndo(ctx, was, out, err)
}

// scrollAt turns the wheel at a point.
func (v *view) scrollAt(ctx context.Context) (*aai.Result, error) {
	at, err := v.resolvePoint(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.windowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	v.watchWindow()
	dx, dy := scrollBy(params.String(v.call, "direction"), params.Int(v.call, "amount", 100))
	a := action{view: v, index: -1, doneText: "Scrolled " + params.String(v.call, "direction")}
	a.techniques = []technique{v.byInputIn(fixedWindow(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Scroll(ctx, seat, w.ID, at, notches(dx), notches(dy))
	})}
	return a.execute(ctx)
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

// scrollToView scrolls the element's containers until it is visible.
func (v *view) scrollToView(ctx context.Context, i int) (*aai.Result, error) {
	if v.Snapshot.IsVisible(i) {
		return &aai.Result{Text: v.Name(i) + " is in view.", NoOp: true, Data: actionResult{Verified: true, Changes: []string{}, Element: v.Summarize(v.Snapshot, i)}}, nil
	}
	a := action{view: v, index: i, doneText: "Brought into view", techniques: v.scrollTechniques(i)}
	is := v.trackElement(i)
	a.verify = func(ctx context.Context) (string, bool) {
		err := v.refresh(ctx)
		i := is()
		return "", err == nil && i >= 0 && v.Snapshot.IsVisible(i)
	}
	return a.execute(ctx)
}

package ax

import (
	"context"
	"math"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/operate"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

func (d *desk) scrollTool() *aai.Tool {
	return spec{
		name: "ax_scroll", title: "Scroll", effect: aai.Changes,
		returns:     deedReturns,
		description: "Scroll what an element is in, or the program's front window. With to_view the element is brought into view.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"direction": {"type": "string", "enum": ["up", "down", "left", "right"], "default": "down"},
			"amount": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 100, "description": "Pixels, about"},
			"to_view": {"type": "boolean", "default": false},` + xyProps + `,` + pictureFlag + `,` + modeProp,
		required: `["app"]`,
		run:      func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.act(ctx, call, scroll) },
	}.tool()
}

func scroll(ctx context.Context, v *view) (*aai.Result, error) {
	v.AlsoHidden = asked.Flag(v.Call, "to_view")
	i := -1
	if query := asked.Text(v.Call, "query"); query != "" {
		m, err := v.Locate(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.Index
	}
	if asked.Flag(v.Call, "to_view") {
		if i < 0 {
			return nil, aai.Errorf(aai.InvalidParams, "query: expected the element to bring into view")
		}
		return v.intoView(ctx, i)
	}
	if asked.Given(v.Call, "x") && i < 0 {
		return v.scrollAt(ctx)
	}
	dx, dy := scrollBy(asked.Text(v.Call, "direction"), asked.Int(v.Call, "amount", 100))
	a := operate.Deed{View: v.View, Index: i, Done: "Scrolled " + asked.Text(v.Call, "direction")}
	from := i
	if from < 0 {
		from = v.FrontTop(ctx)
	}
	var was held
	if bar := v.Scrollbar(from, dy != 0); bar >= 0 && !asked.InFocus(v.Call) {
		was = v.holds(ctx, bar)
		e := &v.Shot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, values.NumberOr(e.Value, 0)+float64(dx+dy)))
		a.Ways = append(a.Ways, v.ByAsking(bar, "its scroll bar", desktop.Act{Verb: desktop.SetNumber, Number: to}))
	}
	a.Ways = append(a.Ways, v.ByInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at := w.Frame.Center()
		if i >= 0 {
			var err error
			if at, err = v.Point(i, w); err != nil {
				return err
			}
		}
		return input.Scroll(ctx, seat, w.ID, at, operate.Notches(dx), operate.Notches(dy))
	}))
	out, err := a.Perform(ctx)
	return v.takingBack(ctx, was, out, err)
}

// scrollAt turns the wheel at a point.
func (v *view) scrollAt(ctx context.Context) (*aai.Result, error) {
	at, err := v.Spot(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.WindowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	v.WatchSight()
	dx, dy := scrollBy(asked.Text(v.Call, "direction"), asked.Int(v.Call, "amount", 100))
	a := operate.Deed{View: v.View, Index: -1, Done: "Scrolled " + asked.Text(v.Call, "direction")}
	a.Ways = []operate.Way{v.ByInputIn(operate.In(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Scroll(ctx, seat, w.ID, at, operate.Notches(dx), operate.Notches(dy))
	})}
	return a.Perform(ctx)
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

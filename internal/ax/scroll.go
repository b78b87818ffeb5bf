package ax

import (
	"context"
	"math"

	"aai"
	"aai/internal/desktop"
)

// notch is how many pixels most programs scroll for one notch of the wheel.
const notch = 50

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
		run:      func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, scroll) },
	}.tool()
}

func scroll(ctx context.Context, v *view) (*aai.Result, error) {
	v.alsoHidden = flagArg(v.call, "to_view")
	i := -1
	if query := textArg(v.call, "query"); query != "" {
		m, err := v.locate(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.index
	}
	if flagArg(v.call, "to_view") {
		if i < 0 {
			return nil, aai.Errorf(aai.InvalidParams, "query: expected the element to bring into view")
		}
		return v.intoView(ctx, i)
	}
	if given(v.call, "x") && i < 0 {
		return v.scrollAt(ctx)
	}
	dx, dy := scrollBy(textArg(v.call, "direction"), intArg(v.call, "amount", 100))
	a := deed{view: v, index: i, done: "Scrolled " + textArg(v.call, "direction")}
	from := i
	if from < 0 {
		from = v.frontTop(ctx)
	}
	if bar := v.scrollbar(from, dy != 0); bar >= 0 && !inFocus(v.call) {
		e := &v.shot.Elements[bar]
		to := math.Max(e.Min, math.Min(e.Max, numberOr(e.Value, 0)+float64(dx+dy)))
		a.ways = append(a.ways, v.byAsking(bar, "its scroll bar", desktop.Act{Verb: desktop.SetNumber, Number: to}))
	}
	a.ways = append(a.ways, v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		at := w.Frame.Center()
		if i >= 0 {
			var err error
			if at, err = v.point(i, w); err != nil {
				return err
			}
		}
		return input.Scroll(ctx, seat, w.ID, at, notches(dx), notches(dy))
	}))
	return a.perform(ctx)
}

// scrollAt turns the wheel at a point.
func (v *view) scrollAt(ctx context.Context) (*aai.Result, error) {
	at, err := v.spot(ctx, "")
	if err != nil {
		return nil, err
	}
	w, err := v.windowAt(ctx, at)
	if err != nil {
		return nil, err
	}
	v.watchSight()
	dx, dy := scrollBy(textArg(v.call, "direction"), intArg(v.call, "amount", 100))
	a := deed{view: v, index: -1, done: "Scrolled " + textArg(v.call, "direction")}
	a.ways = []way{v.byInputIn(in(w), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Scroll(ctx, seat, w.ID, at, notches(dx), notches(dy))
	})}
	return a.perform(ctx)
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

func notches(pixels int) int {
	switch {
	case pixels > 0:
		return max(1, pixels/notch)
	case pixels < 0:
		return min(-1, pixels/notch)
	}
	return 0
}

// scrollbar finds the scroll bar of what the element is in, or any for none (-1).
// It returns -1 if there is none.
func (v *view) scrollbar(i int, vertical bool) int {
	if i < 0 {
		return v.barWithin(0, len(v.shot.Elements), vertical)
	}
	for p := i; p >= 0; p = v.shot.Elements[p].Parent {
		if bar := v.barWithin(p, v.shot.Elements[p].End, vertical); bar >= 0 {
			return bar
		}
	}
	return -1
}

func (v *view) barWithin(begin, end int, vertical bool) int {
	for i := begin; i < end; i++ {
		e := &v.shot.Elements[i]
		if e.Role == desktop.Scrollbar && e.States.Has(desktop.Vertical) == vertical && e.Min < e.Max && v.shot.Visible(i) {
			return i
		}
	}
	return -1
}

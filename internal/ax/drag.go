package ax

import (
	"context"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/operate"
	"aai/internal/desktop"
)

func (d *desk) dragTool() *aai.Tool {
	return spec{
		name: "ax_drag", title: "Drag",
		returns:     deedReturns,
		description: "Drag from one element or point to another.",
		params: appProp + `,
			"from_query": {"type": "string"}, "to_query": {"type": "string"},
			"from_x": {"type": "integer"}, "from_y": {"type": "integer"}, "to_x": {"type": "integer"}, "to_y": {"type": "integer"},` + pictureFlag + `,
			"duration_ms": {"type": "integer", "minimum": 0, "maximum": 5000, "default": 500},` + modeProp,
		required: `["app"]`, vain: d.missing,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.act(ctx, call, drag) },
	}.tool()
}

func drag(ctx context.Context, v *view) (*aai.Result, error) {
	id, from, window, err := v.endOf(ctx, "from")
	if err != nil {
		return nil, err
	}
	onto, to, _, err := v.endOf(ctx, "to")
	if err != nil {
		return nil, err
	}
	duration := time.Duration(asked.Int(v.Call, "duration_ms", 500)) * time.Millisecond
	v.WatchSight()
	a := operate.Deed{View: v.View, Index: -1, Done: "Dragged"}
	if id != "" {
		a.Index = v.Shot.Index(id) // the snapshot may be another by now
	}
	a.Also = []int{v.Shot.Index(onto)}
	if onto == "" {
		a.Also[0] = v.Under(ctx, "to_")
	}
	a.Ways = []operate.Way{v.ByInputIn(operate.In(window), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Drag(ctx, seat, w.ID, from, to, duration)
	})}
	return a.Perform(ctx)
}

// endOf finds one end of the drag: the middle of an element, or a point, and the
// window that it is in.
func (v *view) endOf(ctx context.Context, end string) (desktop.ID, desktop.Point, desktop.WindowInfo, error) {
	if query := asked.Text(v.Call, end+"_query"); query != "" {
		m, err := v.ToActOn(ctx, query)
		if err != nil {
			return "", desktop.Point{}, desktop.WindowInfo{}, err
		}
		w, err := v.WindowOf(ctx, m.Index)
		if err != nil {
			return "", desktop.Point{}, w, err
		}
		at, err := v.Point(m.Index, w)
		return v.Shot.Elements[m.Index].ID, at, w, err
	}
	if !asked.Given(v.Call, end+"_x") || !asked.Given(v.Call, end+"_y") {
		return "", desktop.Point{}, desktop.WindowInfo{}, aai.Errorf(aai.InvalidParams, "%s_query: expected it, or %s_x and %s_y", end, end, end)
	}
	at, err := v.Spot(ctx, end+"_")
	if err != nil {
		return "", at, desktop.WindowInfo{}, err
	}
	w, err := v.WindowAt(ctx, at)
	return "", at, w, err
}

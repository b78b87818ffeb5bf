package gui

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

func (d *engine) dragTool() spec {
	return spec{
		name: "ax_drag", title: "Drag",
		description: "Drag from one element or point to another.",
		params: appProp + `,
			"from_query": {"type": "string"}, "to_query": {"type": "string"},
			"from_x": {"type": "integer"}, "from_y": {"type": "integer"}, "to_x": {"type": "integer"}, "to_y": {"type": "integer"},` + pictureFlag + `,
			"duration_ms": {"type": "integer", "minimum": 0, "maximum": 5000, "default": 500},` + modeProp,
		required: `["app"]`, precheck: d.precheckQueries,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, drag)
		},
	}
}

func drag(ctx context.Context, v *view) (*aai.Result, error) {
	id, from, window, err := v.dragEndPoint(ctx, "from")
	if err != nil {
		return nil, err
	}
	onto, to, _, err := v.dragEndPoint(ctx, "to")
	if err != nil {
		return nil, err
	}
	duration := time.Duration(params.Int(v.call, "duration_ms", 500)) * time.Millisecond
	v.watchWindow()
	a := action{view: v, index: -1, doneText: "Dragged"}
	if id != "" {
		a.index = v.snapshot.Index(id) // the snapshot may be newer by now
	}
	a.also = []int{v.snapshot.Index(onto)}
	if onto == "" {
		a.also[0] = v.targetAtPoint(ctx, "to_")
	}
	a.techniques = []technique{v.byInputIn(fixedWindow(window), func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Drag(ctx, seat, w.ID, from, to, duration)
	})}
	return a.execute(ctx)
}

// dragEndPoint finds one end of the drag, the center of an element or a point, and its window.
func (v *view) dragEndPoint(ctx context.Context, end string) (desktop.ID, desktop.Point, desktop.WindowInfo, error) {
	if query := params.String(v.call, end+"_query"); query != "" {
		m, err := v.findForAction(ctx, query)
		if err != nil {
			return "", desktop.Point{}, desktop.WindowInfo{}, err
		}
		w, err := v.windowOf(ctx, m.index)
		if err != nil {
			return "", desktop.Point{}, w, err
		}
		at, err := v.clickPoint(m.index, w)
		return v.snapshot.Elements[m.index].ID, at, w, err
	}
	if !params.Has(v.call, end+"_x") || !params.Has(v.call, end+"_y") {
		return "", desktop.Point{}, desktop.WindowInfo{}, aai.Errorf(aai.InvalidParams, "%s_query: expected it, or %s_x and %s_y", end, end, end)
	}
	at, err := v.resolvePoint(ctx, end+"_")
	if err != nil {
		return "", at, desktop.WindowInfo{}, err
	}
	w, err := v.windowAt(ctx, at)
	return "", at, w, err
}

// Parameters of a point.
const (
	xyProps     = `"x": {"type": "integer"}, "y": {"type": "integer"}`
	pictureProp = `"in_picture": {"type": "boolean", "default": false, "description": "Points are in the last picture"}`
	pictureFlag = `"in_picture": {"type": "boolean", "default": false}`
)

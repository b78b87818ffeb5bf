package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// typeWithoutTree types into the focused element of a window without a tree.
func (v *view) typeWithoutTree(ctx context.Context) (*aai.Result, error) {
	if params.Bool(v.call, "clear_first") {
		e := aai.Errorf(aai.InvalidParams, "clear_first: %s does not report its value", aai.CleanLabel(v.app.Name, 60))
		e.Delivery, e.Hint = aai.NotDelivered, "Clear it by keys, with ax_key_press."
		return nil, e
	}
	text := params.String(v.call, "text")
	if params.Bool(v.call, "submit") {
		text += "\n"
	}
	a := action{view: v, index: -1, doneText: "Typed"}
	a.techniques = []technique{v.byKeys(-1, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Type(ctx, seat, w.ID, text)
	})}
	return a.execute(ctx)
}

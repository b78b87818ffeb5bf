package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/operate"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// typeWithoutTree types into the focused element of a window without a tree.
func (v *callView) typeWithoutTree(ctx context.Context) (*aai.Result, error) {
	if params.Bool(v.Call, "clear_first") {
		e := aai.Errorf(aai.InvalidParams, "clear_first: %s does not report its value", aai.CleanLabel(v.App.Name, 60))
		e.Delivery, e.Hint = aai.NotDelivered, "Clear it by keys, with ax_key_press."
		return nil, e
	}
	text := params.String(v.Call, "text")
	if params.Bool(v.Call, "submit") {
		text += "\n"
	}
	a := operate.Action{View: v.View, Index: -1, DoneText: "Typed"}
	a.Techniques = []operate.Technique{v.ByKeys(-1, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Type(ctx, seat, w.ID, text)
	})}
	return a.Execute(ctx)
}

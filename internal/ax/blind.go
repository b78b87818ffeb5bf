package ax

import (
	"context"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/operate"
	"aai/internal/desktop"
)

// typeBlind types into what has the keyboard of a window without a tree.
func (v *view) typeBlind(ctx context.Context) (*aai.Result, error) {
	if asked.Flag(v.Call, "clear_first") {
		e := aai.Errorf(aai.InvalidParams, "clear_first: %s does not tell what it holds", aai.CleanLabel(v.App.Name, 60))
		e.Delivery, e.Hint = aai.NotDelivered, "ax_key_press presses what clears it there."
		return nil, e
	}
	text := asked.Text(v.Call, "text")
	if asked.Flag(v.Call, "submit") {
		text += "\n"
	}
	a := operate.Deed{View: v.View, Index: -1, Done: "Typed"}
	a.Ways = []operate.Way{v.ByKeys(-1, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		return input.Type(ctx, seat, w.ID, text)
	})}
	return a.Perform(ctx)
}

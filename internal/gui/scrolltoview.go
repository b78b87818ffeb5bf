package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/operate"
)

// scrollToView scrolls the element's containers until it is visible.
func (v *callView) scrollToView(ctx context.Context, i int) (*aai.Result, error) {
	if v.Snapshot.IsVisible(i) {
		return &aai.Result{Text: v.Name(i) + " is in view.", NoOp: true, Data: operate.ActionResult{Verified: true, Changes: []string{}, Element: v.Summarize(v.Snapshot, i)}}, nil
	}
	a := operate.Action{View: v.View, Index: i, DoneText: "Brought into view", Techniques: v.ScrollTechniques(i)}
	is := v.TrackElement(i)
	a.Verify = func(ctx context.Context) (string, bool) {
		err := v.Refresh(ctx)
		i := is()
		return "", err == nil && i >= 0 && v.Snapshot.IsVisible(i)
	}
	return a.Execute(ctx)
}

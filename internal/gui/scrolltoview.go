package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
)

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

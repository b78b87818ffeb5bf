package ax

import (
	"context"

	"aai"
	"aai/internal/ax/operate"
)

// intoView has the element scrolled to by what it is in.
func (v *view) intoView(ctx context.Context, i int) (*aai.Result, error) {
	if v.Shot.Visible(i) {
		return &aai.Result{Text: v.Name(i) + " is in view.", Idle: true, Data: operate.DeedResult{Verified: true, Changes: []string{}, Element: v.Brief(v.Shot, i)}}, nil
	}
	a := operate.Deed{View: v.View, Index: i, Done: "Brought into view", Ways: v.WaysToView(i)}
	is := v.Same(i)
	a.Verify = func(ctx context.Context) (string, bool) {
		err := v.Refresh(ctx)
		i := is()
		return "", err == nil && i >= 0 && v.Shot.Visible(i)
	}
	return a.Perform(ctx)
}

package ax

import (
	"context"

	"aai"
	"aai/internal/ax/operate"
	"aai/internal/desktop"
)

// intoView has the element scrolled to by what it is in.
func (v *view) intoView(ctx context.Context, i int) (*aai.Result, error) {
	id := v.Shot.Elements[i].ID
	if v.Shot.Visible(i) {
		return &aai.Result{Text: v.Name(i) + " is in view.", Idle: true, Data: operate.DeedResult{Verified: true, Changes: []string{}, Element: v.Brief(v.Shot, i)}}, nil
	}
	a := operate.Deed{View: v.View, Index: i, Done: "Brought into view", Ways: []operate.Way{
		v.ByAsking(i, "its scrolling", desktop.Act{Verb: desktop.ScrollTo}),
		{Name: "scrolling its list", Do: func(ctx context.Context) error { return v.Roll(ctx, id) }},
	}}
	a.Verify = func(ctx context.Context) (string, bool) {
		now, err := v.Backend.Tree.Read(ctx, v.App, id)
		return "", err == nil && now.States.Has(desktop.Showing)
	}
	return a.Perform(ctx)
}

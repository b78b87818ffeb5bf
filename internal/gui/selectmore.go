package gui

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// selectMore adds an element of a list to the selection, or with all the range between it and the
// nearest selected one.
func (v *view) selectMore(ctx context.Context, i int, all bool) (*aai.Result, error) {
	had := v.OtherSelected(i)
	want := []int{i}
	if all {
		var err error
		if want, err = v.SelectionRange(i, had); err != nil {
			return nil, err
		}
	}
	var ids []desktop.ID
	for _, one := range append(had, want...) {
		ids = append(ids, v.Snapshot.Elements[one].ID)
	}
	a := action{view: v, index: i, also: want, doneText: "Also selected"}
	a.techniques = []technique{{name: "the selection of its list", viaAccessibility: true, do: func(ctx context.Context) error {
		for n, one := range want {
			if err := v.byAccessibility(one, "", desktop.Act{Verb: desktop.SelectItem, AddToSelection: true}).do(ctx); err != nil {
				e := *aai.AsError(err)
				if n > 0 {
					e.Delivery = aai.Delivered
				}
				e.Hint = `Or press the arrow keys with shift, by ax_key_press with query.`
				return &e
			}
		}
		return nil
	}}}
	a.verify = func(ctx context.Context) (string, bool) {
		for _, id := range ids {
			now, err := v.backend.Tree.Read(ctx, v.app, id)
			if err != nil {
				return "", false
			}
			if !now.States.Has(desktop.Selected) {
				return fmt.Sprintf("%s is not selected: its list may allow one selection only", desktop.Describe(&now)), false
			}
		}
		return "", true
	}
	return a.execute(ctx)
}

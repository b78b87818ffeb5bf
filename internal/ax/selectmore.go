package ax

import (
	"context"
	"fmt"

	"aai"
	"aai/internal/desktop"
)

// maxRange is how many elements are selected at once.
const maxRange = 500

// selectMore selects an element of a list beside those that are, or all between it and the
// nearest of those.
func (v *view) selectMore(ctx context.Context, i int, all bool) (*aai.Result, error) {
	had := v.selectedWith(i)
	want := []int{i}
	if all {
		var err error
		if want, err = v.upTo(i, had); err != nil {
			return nil, err
		}
	}
	var ids []desktop.ID
	for _, one := range append(had, want...) {
		ids = append(ids, v.shot.Elements[one].ID)
	}
	a := deed{view: v, index: i, also: want, done: "Selected, with what was,"}
	a.ways = []way{{name: "the selection of its list", asks: true, do: func(ctx context.Context) error {
		for n, one := range want {
			if err := v.byAsking(one, "", desktop.Act{Verb: desktop.SelectItem, Also: true}).do(ctx); err != nil {
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
				return fmt.Sprintf("%s is not selected: its list may hold one selected at a time", desktop.Describe(&now)), false
			}
		}
		return "", true
	}
	return a.perform(ctx)
}

// selectedWith are the elements of the same list that are selected.
func (v *view) selectedWith(i int) (had []int) {
	for _, c := range v.shot.Children(v.shot.Elements[i].Parent) {
		if v.shot.Elements[c].States.Has(desktop.Selected) && c != i {
			had = append(had, c)
		}
	}
	return had
}

// upTo are the elements from the nearest that is selected to this one.
func (v *view) upTo(i int, had []int) (want []int, err error) {
	from, near := -1, 0
	for _, h := range had {
		if away := max(h-i, i-h); from < 0 || away < near {
			from, near = h, away
		}
	}
	if from < 0 {
		e := failed(aai.NotDelivered, "nothing is selected beside %s that a range could begin at", v.name(i))
		aai.AsError(e).Hint = "Click its first element before."
		return nil, e
	}
	first, last := min(i, from), max(i, from)
	for _, c := range v.shot.Children(v.shot.Elements[i].Parent) {
		if e := &v.shot.Elements[c]; c >= first && c <= last && c != from && e.Role == v.shot.Elements[i].Role {
			want = append(want, c)
		}
	}
	if len(want) > maxRange {
		e := aai.Errorf(aai.InvalidParams, "select: expected a range of at most %d, which has %d", maxRange, len(want))
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	return want, nil
}

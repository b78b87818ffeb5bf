package gui

import (
	"context"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// maxItemSteps limits the keys that step through a list: the program shows each item on the way.
const maxItemSteps = 40

// currentBeside returns the current item of the list of item i if it is another one, and a selection of i
// would leave it; otherwise -1.
func (v *view) currentBeside(i int) int {
	e := &v.snapshot.Elements[i]
	if !v.app.SelectsWithoutCurrent || !e.States.Has(desktop.Selectable) || e.Parent < 0 || e.Role == desktop.Cell {
		return -1 // the keys of a table may go to its columns
	}
	list := &v.snapshot.Elements[e.Parent]
	for other := e.Parent + 1; other < list.End; other = v.snapshot.Elements[other].End {
		if other != i && v.snapshot.Elements[other].States.Has(desktop.Focused) {
			return other
		}
	}
	return -1
}

// byItemKeys returns a technique that makes item i the current one of its list by the arrow keys, as
// a selection does not. It is unsupported if the list does not take keys.
func (v *view) byItemKeys(i, current int) technique {
	return v.byKeys(v.snapshot.Elements[i].Parent, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		way, key := v.itemsBetween(current, i), "down"
		if i < current {
			key = "up"
		}
		if len(way) > maxItemSteps {
			return v.noItemKeysError(i, "is too far from its current item")
		}
		if err := v.judgePassed(ctx, i, way[:max(len(way)-1, 0)]); err != nil {
			return err
		}
		if err := v.focusWithoutPress(ctx, v.snapshot.Elements[i].Parent, input, seat, w); err != nil {
			return err
		}
		for step, item := range way {
			if err := input.Key(ctx, seat, w.ID, desktop.Chord{Key: key}); err != nil {
				return err
			}
			id := v.snapshot.Elements[item].ID
			isCurrent, err := v.pollUntil(ctx, effectCeiling, func() (bool, error) {
				now, err := v.backend.Tree.Read(ctx, v.app, id)
				return now.States.Has(desktop.Focused), err
			})
			switch {
			case err != nil:
				return err
			case !isCurrent && step == 0:
				return v.noItemKeysError(i, "takes no arrow keys")
			case !isCurrent:
				return guierr.Failed(aai.Delivered, "the arrow keys did not reach %s: they stopped before %s", v.name(i), v.name(item))
			}
		}
		return nil
	})
}

// judgePassed asks the gates about the items that become current on the way of the keys to item i: the program may
// act on each.
func (v *view) judgePassed(ctx context.Context, i int, passed []int) error {
	if len(passed) == 0 {
		return nil
	}
	return gateway.ReportTargetElement(ctx, v.targetElement(ctx, i, passed...))
}

func (v *view) noItemKeysError(i int, problem string) error {
	return &aai.Error{Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered, Message: "the list of " + v.name(i) + " " + problem}
}

// itemsBetween returns the items of a list behind from up to to, in the order of the keys.
func (v *view) itemsBetween(from, to int) (items []int) {
	list := v.snapshot.Elements[to].Parent
	for i := list + 1; i < v.snapshot.Elements[list].End; i = v.snapshot.Elements[i].End {
		if i >= min(from, to) && i <= max(from, to) && i != from {
			items = append(items, i)
		}
	}
	if to < from {
		slices.Reverse(items)
	}
	return items
}

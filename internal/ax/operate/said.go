package operate

import (
	"context"
	"strings"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/desktop"
)

// performOne is perform for one of several: what it hits was said before, and what else
// changes is told after the last.
func (a Deed) performOne(ctx context.Context) (*aai.Result, error) {
	id := a.id()
	used, err := a.tryWays(ctx)
	if err != nil {
		return nil, err
	}
	seen := a.check(ctx, id)
	if !seen.ok && seen.wrong != "" {
		if cover := a.unseen(ctx); cover != "" {
			seen.wrong += ": " + cover
		}
		return nil, fault.Failed(aai.Delivered, "%s", seen.wrong)
	}
	if !seen.ok && !used.Asks { // nobody says when keys are read
		if _, err := a.Observe(ctx, a.Shot, a.Watch(ctx), "", false); err != nil {
			return nil, err
		}
	}
	return &aai.Result{Data: DeedResult{Delivered: true, Verified: seen.ok, Way: used.Name}}, nil
}

// Say notes what was said that is acted upon, as it is now.
func (v *View) Say(all ...int) {
	if v.Said == nil {
		v.Said = make(map[desktop.ID]string)
	}
	for _, i := range all {
		v.Said[v.Shot.Elements[i].ID] = strings.Join(v.ReadOn(i), "\n")
	}
}

// WasSaid reports whether it was said of the element that it is acted upon, and the same is
// to be read on it.
func (v *View) WasSaid(i int) bool {
	says, is := v.Said[v.Shot.Elements[i].ID]
	return is && says == strings.Join(v.ReadOn(i), "\n")
}

package operate

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// executeOne is perform for one of several: what it hits was said before, and what else
// changes is told after the last.
func (a Action) executeOne(ctx context.Context) (*aai.Result, error) {
	id := a.id()
	used, err := a.tryTechniques(ctx)
	if err != nil {
		return nil, err
	}
	seen := a.check(ctx, id)
	if !seen.ok && seen.wrong != "" {
		if cover := a.invisibleReason(ctx); cover != "" {
			seen.wrong += ": " + cover
		}
		return nil, guierr.Failed(aai.Delivered, "%s", seen.wrong)
	}
	if !seen.ok && !used.ViaAccessibility { // nobody says when keys are read
		if _, err := a.Observe(ctx, a.Snapshot, a.Subscribe(ctx), "", false); err != nil {
			return nil, err
		}
	}
	return &aai.Result{Data: ActionResult{Delivered: true, Verified: seen.ok, Way: used.Name}}, nil
}

// MarkAnnounced notes what was said that is acted upon, as it is now.
func (v *View) MarkAnnounced(all ...int) {
	if v.Announced == nil {
		v.Announced = make(map[desktop.ID]string)
	}
	for _, i := range all {
		v.Announced[v.Snapshot.Elements[i].ID] = strings.Join(v.ReadableTexts(i), "\n")
	}
}

// WasAnnounced reports whether it was said of the element that it is acted upon, and the same is
// to be read on it.
func (v *View) WasAnnounced(i int) bool {
	says, is := v.Announced[v.Snapshot.Elements[i].ID]
	return is && says == strings.Join(v.ReadableTexts(i), "\n")
}

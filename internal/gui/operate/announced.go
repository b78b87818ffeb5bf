package operate

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// executeOne is Execute for one action of a batch: its target was announced before, and the caller
// reports further changes after the last one.
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
	if !seen.ok && !used.ViaAccessibility { // programs do not report when they read keys
		if _, err := a.Observe(ctx, a.Snapshot, a.Subscribe(ctx), "", false); err != nil {
			return nil, err
		}
	}
	return &aai.Result{Data: ActionResult{Delivered: true, Verified: seen.ok, Way: used.Name}}, nil
}

// MarkAnnounced records that the gates know these elements with their present texts, so that Announce does not report
// them again.
func (v *View) MarkAnnounced(all ...int) {
	if v.Announced == nil {
		v.Announced = make(map[desktop.ID]string)
	}
	for _, i := range all {
		v.Announced[v.Snapshot.Elements[i].ID] = strings.Join(v.ReadableTexts(i), "\n")
	}
}

// WasAnnounced reports whether the gates know the element and its texts are unchanged since then.
func (v *View) WasAnnounced(i int) bool {
	says, is := v.Announced[v.Snapshot.Elements[i].ID]
	return is && says == strings.Join(v.ReadableTexts(i), "\n")
}

package gui

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// executeOne is execute for one action of a batch: its target was announced before, and the caller
// reports further changes after the last one.
func (a action) executeOne(ctx context.Context) (*aai.Result, error) {
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
	if !seen.ok && !used.viaAccessibility { // programs do not report when they read keys
		if _, err := a.observe(ctx, a.Snapshot, a.subscribe(ctx), "", false); err != nil {
			return nil, err
		}
	}
	return &aai.Result{Data: actionResult{Delivered: true, Verified: seen.ok, Way: used.name}}, nil
}

// markAnnounced records that the gates know these elements with their present texts, so that announce does not report
// them again.
func (v *view) markAnnounced(all ...int) {
	if v.announced == nil {
		v.announced = make(map[desktop.ID]string)
	}
	for _, i := range all {
		v.announced[v.Snapshot.Elements[i].ID] = strings.Join(v.ReadableTexts(i), "\n")
	}
}

// wasAnnounced reports whether the gates know the element and its texts are unchanged since then.
func (v *view) wasAnnounced(i int) bool {
	says, is := v.announced[v.Snapshot.Elements[i].ID]
	return is && says == strings.Join(v.ReadableTexts(i), "\n")
}

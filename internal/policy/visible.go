package policy

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
)

// VisibleCatalog is the catalog that callers see. It does not list tools that the mode
// denies, and it notifies listeners when the mode changes. Lookups still find unlisted
// tools, so that the refusal can give the reason.
type VisibleCatalog struct {
	aai.Catalog
	Modes *ModeGate

	listeners aai.Listeners
}

// Apps implements aai.Catalog.
func (v *VisibleCatalog) Apps() []*aai.App {
	apps, mode := v.Catalog.Apps(), v.Modes.Current()
	if mode == Normal {
		return apps
	}
	shown := slices.Clone(apps)
	for i, app := range shown {
		less := *app
		less.Tools = slices.DeleteFunc(slices.Clone(app.Tools), func(t *aai.Tool) bool { return !mode.Allows(app, t) })
		shown[i] = &less
	}
	return shown
}

// OnChange implements aai.Catalog.
func (v *VisibleCatalog) OnChange(f func()) (stop func()) {
	stopCatalog, stopMode := v.Catalog.OnChange(f), v.listeners.Add(f)
	return func() {
		stopCatalog()
		stopMode()
	}
}

// lookForMode is the interval between checks of the mode; calls check it each time.
const lookForMode = time.Second

// Watch notifies the listeners of changes of the mode, until ctx ends.
func (v *VisibleCatalog) Watch(ctx context.Context) {
	ticks := time.NewTicker(lookForMode)
	defer ticks.Stop()
	was := v.Modes.Current()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		mode := v.Modes.Current()
		if mode == was {
			continue
		}
		was = mode
		v.listeners.Call()
	}
}

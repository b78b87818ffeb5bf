package policy

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
)

// VisibleCatalog is the catalog as callers see it: what the mode does not leave them is
// not listed, and when the mode changes the list has changed. It still finds what
// is not listed, so that the refusal can say why.
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

// lookForMode is how often the mode is looked at; calls look at it each time.
const lookForMode = time.Second

// Watch tells the listeners when a person has changed the mode, until ctx ends.
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

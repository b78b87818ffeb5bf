package main

import (
	"context"
	"slices"
	"time"

	"aai"
	"aai/internal/policy"
)

// visible is the catalog as callers see it: what the mode does not leave them is
// not listed, and when the mode changes the list has changed. It still finds what
// is not listed, so that the refusal can say why.
type visible struct {
	aai.Catalog
	modes *policy.Modes

	listeners aai.Listeners
}

// Apps implements aai.Catalog.
func (v *visible) Apps() []*aai.App {
	apps, mode := v.Catalog.Apps(), v.modes.Mode()
	if mode == policy.Normal {
		return apps
	}
	shown := slices.Clone(apps)
	for i, app := range shown {
		less := *app
		less.Tools = slices.DeleteFunc(slices.Clone(app.Tools), func(t *aai.Tool) bool { return !mode.Admits(app, t) })
		shown[i] = &less
	}
	return shown
}

// OnChange implements aai.Catalog.
func (v *visible) OnChange(f func()) (stop func()) {
	stopCatalog, stopMode := v.Catalog.OnChange(f), v.listeners.Add(f)
	return func() {
		stopCatalog()
		stopMode()
	}
}

// lookForMode is how often the mode is looked at; calls look at it each time.
const lookForMode = time.Second

// watch tells the listeners when a person has changed the mode, until ctx ends.
func (v *visible) watch(ctx context.Context) {
	ticks := time.NewTicker(lookForMode)
	defer ticks.Stop()
	was := v.modes.Mode()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		mode := v.modes.Mode()
		if mode == was {
			continue
		}
		was = mode
		v.listeners.Call()
	}
}

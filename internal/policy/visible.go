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
		shown[i] = mode.visible(app)
	}
	return shown
}

// Visible returns the app with the tools that the current mode admits.
func (m *ModeGate) Visible(app *aai.App) *aai.App { return m.Current().visible(app) }

func (m Mode) visible(app *aai.App) *aai.App {
	if m == Normal {
		return app
	}
	less := *app
	less.Tools = slices.DeleteFunc(slices.Clone(app.Tools), func(t *aai.Tool) bool { return !m.Allows(app, t) })
	return &less
}

// CheckTool returns the error for a tool that the current mode denies.
func (m *ModeGate) CheckTool(app *aai.App, tool *aai.Tool) error {
	if mode := m.Current(); !mode.Allows(app, tool) {
		return refusedBy(mode, tool.Name, app)
	}
	return nil
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

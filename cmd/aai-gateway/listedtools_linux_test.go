package main

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/policy"
)

// TestListedToolsAreAdmitted checks for each mode and each tool of the real apps that the list and the guide have
// the tool exactly if the mode does not refuse its call.
func TestListedToolsAreAdmitted(t *testing.T) {
	d := &storageDesk{desk: newDesk(t), t: t}
	d.file(t, ".aai/org.example.Notes/aai.json", notesDescriptor)
	built := d.build(d.setup())
	i := slices.IndexFunc(built.gateway.Gates, func(g aai.Gate) bool { _, ok := g.(*policy.ModeGate); return ok })
	gate := built.gateway.Gates[i]
	unlisted := 0
	for _, mode := range []policy.Mode{policy.Normal, policy.Safe, policy.Sandboxed} {
		d.must(policy.SetMode(d.path("mode"), mode))
		apps := built.gateway.Catalog.Apps()
		for _, id := range []string{aai.BuiltinApp, aai.DesktopApp, "org.example.Notes"} {
			app, err := built.gateway.Catalog.Find(t.Context(), id)
			d.must(err)
			listed := namesOf(apps[slices.IndexFunc(apps, func(a *aai.App) bool { return a.ID == id })])
			guide := d.guide(built, id)
			for _, tool := range app.Tools {
				_, err := gate.Check(t.Context(), &aai.Request{
					Call: &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP}, Target: &aai.App{ID: "desktop/editor", PID: 1}}, App: app, Tool: tool,
				})
				admitted := err == nil
				if !admitted {
					unlisted++
				}
				_, full := d.do(built.gateway, aai.BuiltinApp, builtin.Guide, map[string]any{"app": id, "tool": tool.Name})
				inGuide := admitted && !tool.Limits.Unlisted
				assert.Check(t, is.Equal(listed[tool.Name], admitted), "%s %s %s %v %v", mode, tool.Name, id, full, err)
				assert.Check(t, is.Equal(guide[tool.Name], inGuide), "%s %s %s %v %v", mode, tool.Name, id, full, err)
				assert.Check(t, is.Equal((full == nil), admitted), "%s %s %s %v %v", mode, tool.Name, id, full, err)
				e := aai.AsError(full)
				assert.Check(t, e == nil || e.Code == aai.PermissionDenied && e.Hint != "", "%s: the guide to %s of %s: %v", mode, tool.Name, id, e)
			}
		}
	}
	assert.Check(t, unlisted >= 20, "the modes refuse only %d tools", unlisted)
}

// namesOf returns the names of the app's tools.
func namesOf(app *aai.App) map[string]bool {
	names := make(map[string]bool)
	for _, tool := range app.Tools {
		names[tool.Name] = true
	}
	return names
}

// guide returns the names of the tools in the guide to the app.
func (d *storageDesk) guide(built *components, id string) map[string]bool {
	d.t.Helper()
	var data struct {
		Operations []struct{ Name string }
	}
	d.answer(built, builtin.Guide, map[string]any{"app": id}, &data)
	names := make(map[string]bool)
	for _, o := range data.Operations {
		names[o.Name] = true
	}
	return names
}

package mcp_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// TestTheTargetOfADoorDoesNotCount checks that the target that a door sets in a call is ignored: by the
// catalog, the gates, the tool and the journal.
func TestTheTargetOfADoorDoesNotCount(t *testing.T) {
	editor, harmless := &aai.App{ID: "desktop/editor", PID: 7}, &aai.App{ID: "desktop/clock", PID: 8}
	var found, gated, ran []*aai.App
	w := newWorld(t, withGate(func(r *aai.Request) ([]aai.Question, error) {
		gated = append(gated, r.Call.Target)
		return nil, nil
	}))
	press := tool("press", aai.Changes, func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		ran = append(ran, call.Target)
		return &aai.Result{}, nil
	})
	press.Target = "app"
	w.catalog.apps = append(w.catalog.apps, &aai.App{
		ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{press},
		Operator: fakeoperator.Operator{Find: func(_ context.Context, call *aai.Call, name string) (*aai.App, error) {
			found = append(found, call.Target)
			if name != "editor" {
				return nil, nil
			}
			return editor, nil
		}},
	})
	call := func(app string) error {
		_, err := (&gateway.Gateway{Catalog: w.catalog, Gates: []aai.Gate{w}, Journal: w.journal}).Do(t.Context(), &aai.Call{
			Caller: aai.Caller{Door: aai.DoorMCP}, App: aai.DesktopApp, Tool: "press", Target: harmless,
			Args: map[string]any{"app": app},
		})
		return err
	}
	assert.NilError(t, call("editor"))
	assert.Check(t, call("nothing") != nil, "a call that finds no app went on")
	for what, saw := range map[string][]*aai.App{"the finder": found, "the gates": gated, "the tool": ran} {
		for _, app := range saw {
			assert.Check(t, app != harmless, "%s saw the door's target", what)
		}
		assert.Check(t, len(saw) != 0, "%s saw nothing", what)
	}
	assert.Assert(t, is.Len(ran, 1))
	assert.Equal(t, ran[0], editor)
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	for _, e := range w.journal.entries {
		assert.Check(t, e.Target != harmless.ID, "on record is %+v", e)
	}
}

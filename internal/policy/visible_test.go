package policy

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestTheListFollowsTheMode checks that a change of the mode changes the list and notifies
// listeners, and that unlisted tools are still found, for the reason of the refusal.
func TestTheListFollowsTheMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "mode")
		app := &aai.App{ID: "org.example.App", Tools: []*aai.Tool{{Name: "look", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true})}, {Name: "act"}}}
		v := &VisibleCatalog{Catalog: shelfOf(app), Modes: &ModeGate{Path: path}}
		told := 0
		stop := v.OnChange(func() { told++ })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go v.Watch(ctx)
		set := func(m Mode, tools, tells int) {
			t.Helper()
			assert.NilError(t, SetMode(path, m))
			time.Sleep(2 * lookForMode)
			synctest.Wait()
			listed := len(v.Apps()[0].Tools)
			assert.Check(t, is.Equal(listed, tools), m)
			assert.Check(t, is.Equal(told, tells), m)
		}
		set(Normal, 2, 0)
		set(Sandboxed, 1, 1)
		set(Sandboxed, 1, 1)
		set(Normal, 2, 2)
		stop()
		set(Safe, 2, 2)
		found, err := v.Find(ctx, "a")
		assert.NilError(t, err)
		assert.Equal(t, found, app)
		assert.Assert(t, is.Len(app.Tools, 2))
	})
}

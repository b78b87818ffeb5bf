package policy

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gybob/aai-gateway"
)

// TestTheListFollowsTheMode checks that a change of the mode changes the list and notifies
// listeners, and that unlisted tools are still found, for the reason of the refusal.
func TestTheListFollowsTheMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "mode")
		app := &aai.App{ID: "org.example.App", Tools: []*aai.Tool{{Name: "look", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true})}, {Name: "act"}}}
		v := &VisibleCatalog{Catalog: oneApp{app}, Modes: &ModeGate{Path: path}}
		told := 0
		stop := v.OnChange(func() { told++ })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go v.Watch(ctx)
		set := func(m Mode, tools, tells int) {
			t.Helper()
			if err := SetMode(path, m); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * lookForMode)
			synctest.Wait()
			if listed := len(v.Apps()[0].Tools); listed != tools || told != tells {
				t.Errorf("%s: %d tools are listed, and the listener was told %d times", m, listed, told)
			}
		}
		set(Normal, 2, 0)
		set(Sandboxed, 1, 1)
		set(Sandboxed, 1, 1)
		set(Normal, 2, 2)
		stop()
		set(Safe, 2, 2)
		if found, err := v.Find(ctx, "x"); err != nil || found != app || len(app.Tools) != 2 {
			t.Error("the app itself has changed")
		}
	})
}

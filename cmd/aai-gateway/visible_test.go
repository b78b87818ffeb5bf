package main

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"aai"
	"aai/internal/policy"
)

// oneApp is a catalog with one app.
type oneApp struct{ app *aai.App }

func (o oneApp) Apps() []*aai.App { return []*aai.App{o.app} }

func (o oneApp) Find(context.Context, string) (*aai.App, error) { return o.app, nil }

func (o oneApp) OnChange(func()) func() { return func() {} }

// When a person changes the mode, what is listed changes, and who listens is
// told; what is not listed is still found, so that the refusal can say why.
func TestTheListFollowsTheMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "mode")
		app := &aai.App{ID: "org.example.App", Tools: []*aai.Tool{{Name: "look", Effect: aai.Reads, Natural: true}, {Name: "act"}}}
		v := &visible{Catalog: oneApp{app}, modes: &policy.Modes{Path: path}}
		told := 0
		stop := v.OnChange(func() { told++ })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go v.watch(ctx)
		set := func(m policy.Mode, tools, tells int) {
			t.Helper()
			if err := policy.SetMode(path, m); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * lookForMode)
			synctest.Wait()
			if listed := len(v.Apps()[0].Tools); listed != tools || told != tells {
				t.Errorf("%s: %d tools are listed, and the listener was told %d times", m, listed, told)
			}
		}
		set(policy.Normal, 2, 0)
		set(policy.Sandboxed, 1, 1)
		set(policy.Sandboxed, 1, 1)
		set(policy.Normal, 2, 2)
		stop()
		set(policy.Safe, 2, 2)
		if found, err := v.Find(ctx, "x"); err != nil || found != app || len(app.Tools) != 2 {
			t.Error("the app itself has changed")
		}
	})
}

package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// TestConsentForInstalledApp checks that consent for a program that does not run is possible if
// its executable is known, and applies once it runs.
func TestConsentForInstalledApp(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "starter")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	name, runs := "desktop/"+filepath.Base(program), false
	installed := map[string]string{name: program, "desktop/starter": script, "desktop/other": program}
	desk := windows()
	targets := desk.Operator.FindTarget
	desk.Operator = fakeoperator.Operator{Find: func(ctx context.Context, call *aai.Call, name string) (*aai.App, error) {
		launch, _ := call.Args["launch"].(bool)
		if path := installed[name]; path != "" && (runs || launch) {
			app := &aai.App{ID: name, Name: name, Source: path, Platform: "any", Digest: "of " + path}
			if !launch {
				app.PID = 12
			}
			return app, nil
		}
		return targets(ctx, call, name)
	}}
	w := newWorld(t, nil)
	w.otherApps = []*aai.App{desk}
	w.open()
	grant := func(app string) string {
		return `{"app": "` + app + `", "tool": "see", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`
	}
	look := func() error {
		_, err := w.do(t, agent(), aai.DesktopApp, "look", `{"app": "`+name+`"}`)
		return err
	}
	for _, unknown := range []string{"desktop/starter", "desktop/other"} {
		if _, err := w.do(t, person(), aai.BuiltinApp, builtin.Grant, grant(unknown)); aai.AsError(err) == nil || aai.AsError(err).Code != aai.AppNotRunning {
			t.Errorf("%s: %v", unknown, err)
		}
	}
	sameJSON(t, w.callBuiltin(t, builtin.Grant, grant(name)).Data, `{"granted": ["see"]}`)
	if err := look(); aai.AsError(err) == nil || aai.AsError(err).Code != aai.AppNotFound {
		t.Errorf("it does not run: %v", err)
	}
	if runs = true; look() != nil {
		t.Errorf("it runs, and was allowed ahead: %v", look())
	}
	installed[name] = script // another program of that name
	if err := look(); aai.AsError(err) == nil || aai.AsError(err).Code != aai.ConsentRequired {
		t.Errorf("another program has the name: %v", err)
	}
}

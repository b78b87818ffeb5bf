package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// TestConsentForInstalledApp checks that consent for a program that does not run is possible if
// its executable is known, and applies once it runs.
func TestConsentForInstalledApp(t *testing.T) {
	program, err := os.Executable()
	assert.NilError(t, err)
	script := filepath.Join(t.TempDir(), "starter")
	assert.NilError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700))
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
		_, err := w.do(t, person(), aai.BuiltinApp, builtin.Grant, grant(unknown))
		assert.Assert(t, aai.AsError(err) != nil, "%s %v", unknown, err)
		assert.Equal(t, aai.AsError(err).Code, aai.AppNotRunning, "%s %v", unknown, err)
	}
	sameJSON(t, w.callBuiltin(t, builtin.Grant, grant(name)).Data, `{"granted": ["see"]}`)
	err = look()
	assert.Assert(t, aai.AsError(err) != nil, "it does not run: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.AppNotFound, err)
	runs = true
	assert.Check(t, look(), "it runs, and was allowed ahead: %v", look())
	installed[name] = script // another program of that name
	err = look()
	assert.Assert(t, aai.AsError(err) != nil, "another program has the name: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.ConsentRequired, err)
}

package gui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/policy"
)

// TestRealTerminalIsAShell: in a real terminal, under its name and another, a caller that may click
// and type cannot run a command, by keys or by a click that pastes.
func TestRealTerminalIsAShell(t *testing.T) {
	w := newRealWorld(t)
	real, err := exec.LookPath("xterm")
	assert.NilError(t, err)
	program, err := os.ReadFile(real)
	assert.NilError(t, err)
	otherwise := filepath.Join(t.TempDir(), "notes")
	assert.NilError(t, os.WriteFile(otherwise, program, 0o700))
	for name, command := range map[string]string{"xterm": real, "notes": otherwise} {
		t.Run(name, func(t *testing.T) { terminalIsAShell(w.on(t), name, command) })
	}
}

// terminalIsAShell tests the terminal under the given name.
func terminalIsAShell(w *realWorld, name, command string) {
	t := w.T
	shell := w.Launch(t, command, "-T", "a shell called "+name, "-class", "Notes", "-e", "sh")
	defer shell.Kill(t)
	_ = w.windowCalled("a shell called " + name)
	allow := func(permissions ...string) {
		var grants []policy.Grant
		for _, permission := range permissions {
			grants = append(grants, policy.Grant{Caller: policy.Wildcard, App: "desktop/" + name, Tool: permission, Decision: policy.Allow})
		}
		store := policy.NewFileStore(filepath.Join(w.TempDir(), "consent.json"))
		w.gateway.Gates = []aai.Gate{risk.ShellMarker{}, policy.NewConsent(policy.ConsentConfig{Store: store, Preapproved: grants})}
	}
	keys := []params{{"app": name, "key": "t", "mode": "focus"}, {"app": name, "key": "return", "mode": "focus"}}
	allow(aai.PermissionSee, aai.PermissionAct, aai.PermissionDestroy, policy.Wildcard)
	for _, p := range keys {
		if e := w.refused(aai.ConsentRequired, "ax_key_press", p); e.Delivery == aai.Delivered || e.Needs == nil || e.Needs.Tool != aai.PermissionRun {
			t.Errorf("%+v", e)
		}
	}
	_ = w.refused(aai.ConsentRequired, "ax_type", params{"app": name, "text": "id\n", "mode": "focus"})
	_ = w.refused(aai.ConsentRequired, "ax_click_at", params{"app": name, "x": 100, "y": 100})

	allow(aai.PermissionRun)
	for tool, p := range map[string]params{"ax_type": {"app": name, "text": "id"}, "ax_click_at": {"app": name, "x": 100, "y": 100, "mode": "focus"}} {
		_, err := w.do(t.Context(), tool, p)
		assert.Check(t, err == nil || err.Code != aai.ConsentRequired, "%s: who may run a command is refused: %v", tool, err)
	}
}

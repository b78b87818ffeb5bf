package ax_test

import (
	"path/filepath"
	"testing"

	"aai"
	"aai/internal/policy"
)

// A real terminal: who may click and type in it may not run a command there, by keys
// or by a click, which pastes.
func TestRealTerminalIsAShell(t *testing.T) {
	w := newRealWorld(t)
	w.Launch(t, "xterm", "-T", "a shell", "-e", "sh")
	_ = w.windowCalled("a shell")
	allow := func(permissions ...string) {
		var grants []policy.Grant
		for _, permission := range permissions {
			grants = append(grants, policy.Grant{Caller: policy.Every, App: "desktop/xterm", Tool: permission, Decision: policy.Allow})
		}
		store := policy.NewFileStore(filepath.Join(w.TempDir(), "consent.json"))
		w.gateway.Gates = []aai.Gate{policy.Shells{}, policy.NewConsent(policy.ConsentConfig{Store: store, Preapproved: grants})}
	}
	keys := []params{{"app": "xterm", "key": "t", "mode": "focus"}, {"app": "xterm", "key": "return", "mode": "focus"}}
	allow(aai.PermissionSee, aai.PermissionAct, aai.PermissionDestroy, policy.Every)
	for _, p := range keys {
		if e := w.refused(aai.ConsentRequired, "ax_key_press", p); e.Delivery == aai.Delivered || e.Needs == nil || e.Needs.Tool != aai.PermissionRun {
			t.Errorf("%+v", e)
		}
	}
	_ = w.refused(aai.ConsentRequired, "ax_type", params{"app": "xterm", "text": "id\n", "mode": "focus"})
	_ = w.refused(aai.ConsentRequired, "ax_click_at", params{"app": "xterm", "x": 100, "y": 100})

	allow(aai.PermissionRun)
	for tool, p := range map[string]params{"ax_type": {"app": "xterm", "text": "id"}, "ax_click_at": {"app": "xterm", "x": 100, "y": 100, "mode": "focus"}} {
		if _, err := w.do(t.Context(), tool, p); err != nil && err.Code == aai.ConsentRequired {
			t.Errorf("%s: who may run a command is refused: %v", tool, err)
		}
	}
}

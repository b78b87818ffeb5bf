package secrets

import (
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestAKeyThatCountsForNothing checks that a key from an untrusted environment is ignored,
// with the reason.
func TestAKeyThatCountsForNothing(t *testing.T) {
	d := newDesk(t)
	d.env[KeyFileEnv] = d.keyFile(newKey())
	cfg := Config{Folder: d.path, Getenv: func(name string) string { return d.env[name] }, UntrustedEnvReason: "it counts for nothing"}
	for _, getenv := range []func(string) string{cfg.Getenv, func(string) string { return "" }} {
		cfg.Getenv = getenv
		v := New(cfg)
		v.system = d.keychain.system(d.unreachable)
		e := refusal(t, v.NonInteractive().CheckSealing(t.Context()), aai.AutomationNotSupported)
		if !strings.Contains(e.Message, "AAI_MASTER_KEY_FILE: it counts for nothing;") || !strings.Contains(e.Message, "aai-master: it counts for nothing;") || strings.Contains(e.Message, "not set") {
			t.Error(e.Message)
		}
	}
}

package secrets

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.Assert(t, is.Contains(e.Message, "AAI_MASTER_KEY_FILE: it counts for nothing;"))
		assert.Assert(t, is.Contains(e.Message, "aai-master: it counts for nothing;"))
		assert.Assert(t, !strings.Contains(e.Message, "not set"), e.Message)
	}
}

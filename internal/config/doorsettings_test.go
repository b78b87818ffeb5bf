package config_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
)

// TestOpeningADoorNeedsReauthentication: a process that controls the browser with the dashboard
// can change settings that widen nothing. These must not include settings that admit callers
// without a token, delegate authentication, or select a file to write or disclose.
func TestOpeningADoorNeedsReauthentication(t *testing.T) {
	w := newWorld(t, "")
	for key, value := range map[string]any{
		"logFile": "~/.bashrc", "scanPaths": []any{"~/Downloads"},
		"http.auth": "none", "http.bind": "0.0.0.0", "http.hosts": []any{"evil.example"}, "http.origins": []any{"https://evil.example"},
		"http.url": "https://evil.example", "http.issuer": "https://evil.example", "http.audience": []any{"evil"}, "http.clientId": "evil",
		"http.clientSecretFile": "~/.ssh/id_ed25519",
	} {
		call := &aai.Call{Tool: config.SetTool, Args: map[string]any{"key": key, "value": value}}
		assert.Check(t, w.editor.Widens(call), "%s = %v is set, and nobody proves anything", key, value)
	}
	for key, value := range map[string]any{"logLevel": "debug", "http.port": 8000.0, "http.sse": true} {
		assert.Check(t, !w.editor.Widens(&aai.Call{Tool: config.SetTool, Args: map[string]any{"key": key, "value": value}}), "%s = %v is to be proved", key, value)
	}
}

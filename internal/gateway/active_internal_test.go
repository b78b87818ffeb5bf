package gateway

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestProgressBesideManySecrets checks that a message is redacted, and omitted beside more secrets than can
// be compared often.
func TestProgressBesideManySecrets(t *testing.T) {
	for secret, want := range map[string]string{
		"hunter22": "at [redacted]",
		strings.Repeat("x", maxProgressSecrets+1): "",
	} {
		p := newInvocation(t.Context(), &Gateway{}, &aai.Call{Args: map[string]any{"s": secret}}, make(chan struct{}, 1))
		p.clock.alarm.Stop()
		p.request.Tool = &aai.Tool{Privacy: aai.Privacy{Secret: []string{"s"}}}
		p.setProgress(1, 2, "at hunter22")
		got := p.lastProgress
		assert.Assert(t, got.done == 1, "%.20s %+v", secret, got)
		assert.Assert(t, !strings.Contains(got.message, "hunter22"), "%.20s %+v", secret, got)
		assert.Equal(t, (want == ""), (got.message == ""), "%.20s %+v", secret, got)
	}
}

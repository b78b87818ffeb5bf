package gateway_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestCallsWithinASandboxAreInIt: gates see it of those that an Action makes too, however
// deep.
func TestCallsWithinASandboxAreInIt(t *testing.T) {
	for _, inside := range []bool{true, false} {
		w := newWorld(plain())
		g, see := w.gateway(), &seer{}
		g.Gates = []aai.Gate{see}
		deep := 0
		w.app.Tools[0].Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			assert.Check(t, is.Equal(see.saw.Sandboxed, inside), "call %d: sandboxed is %v", deep, see.saw.Sandboxed)
			if deep++; deep < 3 {
				return g.Do(ctx, &aai.Call{App: call.App, Tool: call.Tool})
			}
			return &aai.Result{}, nil
		}
		ctx := t.Context()
		if inside {
			ctx = gateway.WithSandbox(ctx)
		}
		_, err := g.Do(ctx, plain().call())
		assert.NilError(t, err)
		assert.Equal(t, deep, 3)
	}
}

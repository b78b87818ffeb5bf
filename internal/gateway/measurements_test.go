package gateway_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestMeasurements: numbers of a call and of the calls that it makes are summed, and a bool holds if it holds for all.
func TestMeasurements(t *testing.T) {
	var m gateway.Measurements
	ctx := gateway.WithMeasurements(t.Context(), &m)
	for _, took := range []float64{1.5, 2} {
		gateway.Measure(ctx, "took", took)
	}
	for name, all := range map[string][]bool{"one": {true}, "mixed": {true, false, true}, "none": {false, false}} {
		for _, cached := range all {
			gateway.Measure(ctx, name, cached)
		}
	}
	gateway.Measure(context.Background(), "took", 100.0) // no receiver
	got := map[string]any{}
	m.CopyTo(got)
	for name, want := range map[string]any{"took": 3.5, "one": true, "mixed": false, "none": false} {
		assert.Check(t, is.Equal(got[name], want), name)
	}
}

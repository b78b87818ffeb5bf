package wintree

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestWorkerIsAbandoned checks that a call that never ends delays neither its caller nor other apps, and costs one thread.
func TestWorkerIsAbandoned(t *testing.T) {
	var all workers
	release := make(chan struct{})
	started := 0
	block := func(context.Context) (int, error) {
		started++
		<-release
		return 1, nil
	}
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := run(ctx, all.of(1), block)
		cancel()
		assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	}
	assert.Equal(t, started, 1)
	other, err := run(t.Context(), all.of(2), func(context.Context) (int, error) { return 2, nil })
	assert.NilError(t, err)
	assert.Equal(t, other, 2)
	close(release)
	again, err := run(t.Context(), all.of(1), func(context.Context) (int, error) { return 3, nil })
	assert.NilError(t, err)
	assert.Equal(t, again, 3)
}

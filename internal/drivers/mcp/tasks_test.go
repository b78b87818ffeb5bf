package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// A call that ends before its task cancels the task.
func TestTaskIsCancelled(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "cancelled")
	app := w.hostile(t, "task", file)
	w.start(t, app)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan *aai.Error)
	go func() {
		_, e := w.callIn(ctx, app, "do", nil)
		ended <- e
	}()
	eventually(t, "the state of the task is asked for", func() bool {
		_, err := os.Stat(file + ".asked")
		return err == nil
	})
	cancel()
	e := <-ended
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Delivery, aai.DeliveryUnknown, "%+v", e)
	eventually(t, "the task is cancelled", func() bool {
		b, err := os.ReadFile(file + ".task")
		return err == nil && string(b) == "t1"
	})
}

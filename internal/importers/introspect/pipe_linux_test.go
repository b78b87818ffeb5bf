package introspect_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

// TestCheckWaitsForNoPipe checks that a non-regular file in place of a descriptor is ignored.
func TestCheckWaitsForNoPipe(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Join(w.folder, "org.example.Pipe")
	assert.NilError(t, errors.Join(os.Mkdir(folder, 0o700), syscall.Mkfifo(filepath.Join(folder, "aai.json"), 0o600)))
	ended := make(chan error, 1)
	go func() {
		_, err := w.ownTool(introspect.CheckTool)(w.Context(), &aai.Call{})
		ended <- err
	}()
	select {
	case err := <-ended:
		assert.Check(t, err)
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
}

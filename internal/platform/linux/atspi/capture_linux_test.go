package atspi_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// TestCapture writes the windows of the programs on the present screen to AAI_CAPTURE, in the form of snapshottest.Read.
func TestCapture(t *testing.T) {
	folder := os.Getenv("AAI_CAPTURE")
	if folder == "" {
		return
	}
	screen := x11.New(x11.Config{Getenv: os.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: os.Getenv})})
	bus := atspi.New(atspi.Config{Getenv: os.Getenv, Windows: screen})
	defer bus.Close()
	apps, err := bus.Apps(t.Context())
	assert.NilError(t, err)
	for _, app := range apps {
		s, err := bus.Snapshot(t.Context(), app)
		for end := time.Now().Add(10 * time.Second); err == nil && app.IsBrowser && !hasPage(s) && time.Now().Before(end); time.Sleep(time.Second) {
			s, err = bus.Snapshot(t.Context(), app) // a browser builds the tree of its page when it is first read
		}
		if err != nil {
			t.Logf("%s: %v", app.ID, err)
			continue
		}
		assert.NilError(t, os.WriteFile(filepath.Join(folder, app.ID+".txt"), []byte(snapshottest.Write(s)), 0o600))
		t.Log(app.ID, len(s.Elements))
	}
}

func hasPage(s *desktop.Snapshot) bool {
	return slices.ContainsFunc(s.Elements, func(e desktop.Element) bool { return e.Role == desktop.Document && e.Name != "" })
}

package mcp_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// A server ends after its idle time with all its children, even against its will, and with its
// gateway.
func TestServersEnd(t *testing.T) {
	for name, idle := range map[string]time.Duration{"idle": 50 * time.Millisecond, "closed": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *mcp.Config) { c.IdleTimeout = idle })
			file := filepath.Join(w.folder, "pids")
			app := w.hostile(t, "stays", file)
			w.start(t, app)
			var self, child, daemon int
			b, err := os.ReadFile(file)
			_, scan := fmt.Sscanf(string(b), "%d %d %d", &self, &child, &daemon)
			assert.NilError(t, err)
			assert.NilError(t, scan)
			if name == "closed" {
				assert.NilError(t, syscall.Kill(self, 0))
				assert.NilError(t, syscall.Kill(child, 0))
				assert.Assert(t, !testkit.HasExited(daemon), "it does not run")
				w.close(t)
			}
			for _, pid := range []int{self, child, daemon} {
				eventually(t, "the process ends", func() bool { return testkit.HasExited(pid) })
			}
		})
	}
}

// A server leaves nothing behind, however the gateway dies.
func TestServersEndWithAKilledGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	gateway := testkit.StartProcess(t, exec.Command(os.Args[0], asGateway, file))
	assert.Check(t, is.Equal(gateway.ReadLine(t), "started <nil>"))
	b, err := os.ReadFile(file)
	var server, child, daemon int
	_, scan := fmt.Sscanf(string(b), "%d %d %d", &server, &child, &daemon)
	assert.NilError(t, err, b)
	assert.NilError(t, scan, b)
	assert.Assert(t, !testkit.HasExited(server), b)
	assert.Assert(t, !testkit.HasExited(child), b)
	assert.Assert(t, !testkit.HasExited(daemon), b)
	gateway.Kill()
	for _, pid := range []int{server, child, daemon} {
		eventually(t, "the process ends", func() bool { return testkit.HasExited(pid) })
	}
}

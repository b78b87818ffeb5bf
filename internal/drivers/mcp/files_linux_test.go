package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// A server inherits no open file of the gateway.
func TestServersGetNoOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	assert.NilError(t, os.WriteFile(path, []byte("x"), 0o600))
	fd, err := syscall.Open(path, syscall.O_RDONLY, 0) // inherited by child processes
	assert.NilError(t, err)
	defer syscall.Close(fd) //nolint:errcheck // it was only read
	w := newWorld(t)
	app := w.hostile(t, "files")
	w.start(t, app)
	got, e := w.call(t, app, "do", nil)
	assert.Assert(t, e == nil, "%v %v", got, e)
	assert.Assert(t, is.Contains(got.Text, "pipe:"), "%v %v", got, e)
	assert.Assert(t, !strings.Contains(got.Text, path), "%v %v", got, e)
}

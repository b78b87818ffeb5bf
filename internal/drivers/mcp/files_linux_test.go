package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A server inherits no open file of the gateway.
func TestServersGetNoOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY, 0) // inherited by child processes
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd) //nolint:errcheck // it was only read
	w := newWorld(t)
	app := w.hostile(t, "files")
	w.start(t, app)
	got, e := w.call(t, app, "do", nil)
	if e != nil || !strings.Contains(got.Text, "pipe:") || strings.Contains(got.Text, path) {
		t.Errorf("%v, %v", got, e)
	}
}

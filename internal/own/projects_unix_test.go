//go:build unix

package own_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no file is told as such, and is not waited for.
func TestAProjectWithAPipe(t *testing.T) {
	folder := newProject(t, map[string]string{".aai/x/README": ""})
	if err := syscall.Mkfifo(filepath.Join(folder, ".aai", "aai.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := projectsOf(t, in(folder))
	if err != nil {
		t.Fatal(err)
	}
	if d := found.Projects[0].Descriptors; len(d) != 1 || !strings.Contains(d[0].Fault, "no regular file") {
		t.Errorf("the pipe is %+v", d)
	}
}

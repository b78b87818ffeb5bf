//go:build unix

package builtin_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestAProjectWithAPipe checks that non-regular files are reported, without blocking.
func TestAProjectWithAPipe(t *testing.T) {
	folder := newProject(t, map[string]string{".aai/x/README": ""})
	assert.NilError(t, syscall.Mkfifo(filepath.Join(folder, ".aai", "aai.json"), 0o600))
	found, err := projectsOf(t, in(folder))
	assert.NilError(t, err)
	d := found.Projects[0].Descriptors
	assert.Assert(t, is.Len(d, 1))
	assert.Assert(t, is.Contains(d[0].Fault, "no regular file"))
}

// TestProjectsThatAreNoFolders checks that a root that is no folder does not block and stays
// unchanged, and that the message does not reveal its type. Root can read all files, so the case
// of an unreadable one needs another user.
func TestProjectsThatAreNoFolders(t *testing.T) {
	folder := newProject(t, map[string]string{"file": "x", "closed/.aai/workflows/a.json": "{}", ".aai/README": ""})
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, pipe := range []string{"pipe", ".aai/workflows"} {
		assert.NilError(t, syscall.Mkfifo(at(pipe), 0o600))
	}
	listener, err := net.Listen("unix", at("socket"))
	assert.NilError(t, err)
	defer listener.Close() //nolint:errcheck // no call was made
	for from, to := range map[string]string{"dangling": "nowhere", "link": "pipe", "loop": "loop"} {
		assert.NilError(t, os.Symlink(to, at(from)))
	}
	named := []string{
		at("pipe"), at("link"), at("socket"), at("file"), at("dangling"), at("loop"), at("nowhere"), at("nowhere/deep"), at("file/deep"),
		"/dev/null", "/dev/tty", "/dev/stdin", at(strings.Repeat("x", 5000)), at("nul\x00"),
	}
	if os.Getuid() != 0 {
		assert.NilError(t, os.Chmod(at("closed"), 0))
		defer os.Chmod(at("closed"), 0o700) //nolint:errcheck // the test's folder goes anyway
		named = append(named, at("closed"), at("closed/deep"))
	}
	for _, path := range named {
		found, err := projectsOf(t, in(path))
		assert.NilError(t, err)
		const want = "this folder cannot be opened: it is not there, it is no folder, or the gateway may not read it"
		p := found.Projects[0]
		assert.Check(t, is.Equal(p.Problem, want), "%.100s", path)
		assert.Check(t, len(p.Descriptors)+len(p.Workflows) <= 0, "%.100s", path)
	}
	// A pipe in place of a folder in a project does not block either.
	found, err := projectsOf(t, in(folder))
	assert.NilError(t, err, "%+v", found)
	assert.Equal(t, found.Projects[0].Problem, "", "%+v", found)
	assert.Assert(t, is.Len(found.Projects[0].Workflows, 0), "%+v", found)
}

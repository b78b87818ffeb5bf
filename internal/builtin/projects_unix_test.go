//go:build unix

package builtin_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAProjectWithAPipe checks that non-regular files are reported, without blocking.
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

// TestProjectsThatAreNoFolders checks that a root that is no folder does not block and stays
// unchanged, and that the message does not reveal its type. Root can read all files, so the case
// of an unreadable one needs another user.
func TestProjectsThatAreNoFolders(t *testing.T) {
	folder := newProject(t, map[string]string{"file": "x", "closed/.aai/workflows/a.json": "{}", ".aai/README": ""})
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, pipe := range []string{"pipe", ".aai/workflows"} {
		if err := syscall.Mkfifo(at(pipe), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // no call was made
	for from, to := range map[string]string{"dangling": "nowhere", "link": "pipe", "loop": "loop"} {
		if err := os.Symlink(to, at(from)); err != nil {
			t.Fatal(err)
		}
	}
	named := []string{
		at("pipe"), at("link"), at("socket"), at("file"), at("dangling"), at("loop"), at("nowhere"), at("nowhere/deep"), at("file/deep"),
		"/dev/null", "/dev/tty", "/dev/stdin", at(strings.Repeat("x", 5000)), at("nul\x00"),
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(at("closed"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(at("closed"), 0o700) //nolint:errcheck // the test's folder goes anyway
		named = append(named, at("closed"), at("closed/deep"))
	}
	for _, path := range named {
		found, err := projectsOf(t, in(path))
		if err != nil {
			t.Fatal(err)
		}
		const want = "this folder cannot be opened: it is not there, it is no folder, or the gateway may not read it"
		if p := found.Projects[0]; p.Problem != want || len(p.Descriptors)+len(p.Workflows) > 0 {
			t.Errorf("%.100s is %.300q", path, p.Problem)
		}
	}
	// A pipe in place of a folder in a project does not block either.
	found, err := projectsOf(t, in(folder))
	if err != nil || found.Projects[0].Problem != "" || len(found.Projects[0].Workflows) > 0 {
		t.Errorf("the project is %+v, %v", found, err)
	}
}

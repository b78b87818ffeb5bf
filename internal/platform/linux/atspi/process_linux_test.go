package atspi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit"
	"golang.org/x/sys/unix"
)

// runs starts a program that prints a line and then waits for the end of its input, and returns its
// processInfo.
func runs(t *testing.T, r *processCache, dir, name string, args ...string) processInfo {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	p := testkit.StartProcess(t, cmd)
	t.Cleanup(func() { _ = p.Close() })
	p.ReadLine(t)
	return r.of(p.Process.Pid)
}

const waits = "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n"

// TestWhatAProgramIs checks that the identity differs between programs of the same name and after a change,
// and is stable for repeated runs and system updates.
func TestWhatAProgramIs(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	a, b := write("a/editor.py", waits, 0o644), write("b/editor.py", waits, 0o644)
	r := &processCache{}
	one := runs(t, r, folder, "python3", a)
	again, relative := runs(t, r, folder, "python3", a), runs(t, r, filepath.Dir(a), "python3", "editor.py")
	other := runs(t, r, folder, "python3", b)
	for name, is := range map[string]processInfo{"again": again, "by a relative path": relative} {
		if is.id != "editor" || is.program != one.program || is.started == "" {
			t.Errorf("%s it is %+v, and was %+v", name, is, one)
		}
	}
	assert.Check(t, again.started != one.started, "two runs began at the same time")
	assert.Check(t, is.Equal(other.id, one.id), "%q %q", one.program, other.program)
	assert.Check(t, other.program != one.program, "a/editor.py is %q, b/editor.py %q", one.program, other.program)
	write("a/editor.py", waits+"# changed\n", 0o644)
	assert.Check(t, runs(t, r, folder, "python3", a).program != one.program, "a script that was changed is what it was")
	code, codes := runs(t, r, folder, "python3", "-c", waits), runs(t, r, folder, "python3", "-c", waits+"#")
	assert.Check(t, code.program != codes.program, "two pieces of code are one program: %q", code.program)
	shell := runs(t, r, folder, "/bin/sh", "-c", "exec /bin/cat -u /proc/self/comm -")
	assert.Equal(t, shell.program, shell.executable, "%+v", shell)
	assert.Assert(t, !strings.Contains(shell.program, "sha256"), "one of the system's is %+v", shell)
	assert.Equal(t, shell.id, "cat", "%+v", shell)
	text, err := os.ReadFile(shell.executable)
	assert.NilError(t, err)
	own := runs(t, r, folder, write("bin/cat", string(text), 0o755), "-u", "/proc/self/comm", "-")
	assert.Check(t, is.Equal(own.id, "cat"), "%+v", own)
	assert.Check(t, own.program != shell.program, "one of the person's own is %+v", own)
	assert.Check(t, is.Contains(own.program, "sha256:"), "%+v", own)
}

// TestAnotherProgramInTheSameProcess checks that a process is read again after exec.
func TestAnotherProgramInTheSameProcess(t *testing.T) {
	p := testkit.StartProcess(t, exec.Command("python3", "-c", "import os,sys\nprint('ready', flush=True)\nsys.stdin.readline()\nos.execv('/bin/cat', ['cat', '-u', '/proc/self/comm', '-'])"))
	t.Cleanup(func() { _ = p.Close() })
	p.ReadLine(t)
	r := &processCache{}
	before := r.of(p.Process.Pid)
	_, err := p.In.Write([]byte("go\n"))
	assert.NilError(t, err)
	p.ReadLine(t) // cat has printed its name
	after := r.of(p.Process.Pid)
	assert.Check(t, after.program != before.program, "it was %+v and is %+v", before, after)
	assert.Check(t, is.Equal(after.id, "cat"), "%+v %+v", before, after)
	assert.Check(t, is.Equal(after.started, before.started), "%+v %+v", before, after)
	for i := range 3 * maxProcesses {
		r.of(-i)
	}
	assert.Check(t, len(r.known) <= maxProcesses, "%d are remembered", len(r.known))
}

// TestWhatHasEndedIsNotListed checks that a killed program without a notice by its parent, which still has
// a process ID and perhaps a window, is not an app.
func TestWhatHasEndedIsNotListed(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	pid, r := cmd.Process.Pid, &processCache{}
	windowed := []desktop.WindowInfo{{PID: pid, Title: "Letters"}}
	treed := []*appEntry{{root: ref{":1.5", "/root"}, pid: pid, answered: true, name: "Editor", count: 1, contents: 3}}
	silent := []*appEntry{{root: ref{":1.5", "/root"}, pid: pid}}
	listed := func() (n int) {
		for _, entries := range [][]*appEntry{nil, treed, silent} {
			for _, app := range list(entries, windowed, r.of) {
				n++
				assert.Check(t, is.Equal(app.ID, "sleep"), "%+v", app)
			}
		}
		return n
	}
	n := listed()
	assert.Check(t, is.Equal(n, 3), "while it runs it is listed %d times, want 3", n)
	assert.NilError(t, cmd.Process.Kill())
	var status unix.Siginfo
	if err := unix.Waitid(unix.P_PID, pid, &status, unix.WEXITED|unix.WNOWAIT, nil); err != nil { // it stays unreaped
		t.Fatal(err)
	}
	n = listed()
	assert.Check(t, is.Equal(n, 0), "a program that has ended is listed %d times", n)
}

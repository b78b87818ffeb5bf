package linuxtest

import (
	"context"
	"io"
	"os/exec"
	"syscall"
	"testing"
)

// guardScript reads until its input ends: the test closes it, or is dead. What it
// has read is a folder to remove besides the session's. It ends every process that
// has the session's folder in its environment, which nothing else can have, and
// removes the folders. It asks first, since the screen has a lock to take away,
// and goes on until nobody is left who could have started another.
const guardScript = `
other=$(cat)
signal=TERM
for round in 1 2 3 4 5 6 7 8 9 10; do
	found=
	for file in $(grep -alzx "XDG_RUNTIME_DIR=$1/run" /proc/[0-9]*/environ 2>/dev/null); do
		process=${file#/proc/}
		kill -$signal "${process%/environ}" 2>/dev/null && found=yes
	done
	[ -n "$found" ] || break
	sleep 0.1
	signal=KILL
done
rm -rf "$1" "$other"
`

// guard sees to it that nothing of the session outlives the test, even if the
// test is killed, or if a program has left its process group. What is written to
// it is the name of another folder to remove.
func (s *Session) guard(t testing.TB) io.Writer {
	t.Helper()
	guard := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh", "-c", guardScript, "guard", s.folder)
	guard.Env = []string{"PATH=/usr/bin:/bin"}
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test
	alive, err := guard.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = alive.Close()
		if err := guard.Wait(); err != nil {
			t.Errorf("clearing up: %v", err)
		}
	})
	return alive
}

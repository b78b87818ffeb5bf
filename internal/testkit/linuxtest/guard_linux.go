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
// removes the folders. It goes on until nobody is left who could have started another.
// The screen is asked, for ten seconds, since it has a lock to take away. Where something is
// written into a folder while it is removed, that is tried again.
const guardScript = `
other=$(cat)
round=0
while [ $round -lt 1200 ]; do
	found=
	for file in $(grep -alzx "XDG_RUNTIME_DIR=$1/run" /proc/[0-9]*/environ 2>/dev/null); do
		process=${file#/proc/}
		process=${process%/environ}
		signal=KILL
		if [ $round = 0 ] || [ $round -lt 100 ] && grep -sqx Xvfb "/proc/$process/comm"; then
			signal=TERM
		fi
		kill -$signal "$process" 2>/dev/null && found=yes
	done
	[ -n "$found" ] || break
	sleep 0.1
	round=$((round + 1))
done
until rm -rf "$1" "$other" 2>/dev/null || [ $round -ge 1200 ]; do
	sleep 0.1
	round=$((round + 12))
done
rm -rf "$1" "$other"
`

// guard sees to it that nothing of the session outlives the test, even if the
// test is killed, or if a program has left its process group. What is written to
// it is the name of another folder to remove.
func (s *Session) guard(t testing.TB) io.Writer {
	t.Helper()
	guard := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh", "-c", guardScript, "guard", s.Folder)
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

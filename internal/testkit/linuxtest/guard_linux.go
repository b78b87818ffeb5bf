package linuxtest

import (
	"context"
	"io"
	"os/exec"
	"syscall"
	"testing"
)

// guardScript reads until its input ends, because the test has closed it or is dead. The input is the name
// of another folder to remove. The script ends every process that has the session's unique folder in its
// environment, repeatedly until none is left that could start another, and removes the folders. For ten
// seconds it ends the screen with SIGTERM, so that the screen removes its lock. If a folder is written to
// during its removal, the script tries again.
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

// guard starts a process that cleans up after the session, even if the test is killed or a program has left
// its process group. The returned writer accepts the name of another folder to remove.
func (s *Session) guard(t testing.TB) io.Writer {
	t.Helper()
	guard := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh", "-c", guardScript, "guard", s.Folder)
	guard.Env = []string{"PATH=/usr/bin:/bin"}
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is meant for the test
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

package process_test

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestTerminal: a program with a shell on a pseudo-terminal shows one, also if a child process of
// the same program started it. A program with other children does not, nor does its parent.
func TestTerminal(t *testing.T) {
	testkit.Need(t, "python3")
	start := func(name string, args ...string) int {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it ends with all its children
		in, err := cmd.StdinPipe()
		assert.NilError(t, err)
		assert.NilError(t, cmd.Start())
		t.Cleanup(func() { _ = in.Close(); _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	const loop = `import os, pty, time
if os.fork():
    time.sleep(600)
if os.fork():
    time.sleep(600)
pty.spawn(["sleep", "600"])`
	for name, pid := range map[string]int{
		"itself":    start("python3", "-c", `import pty; pty.spawn(["sleep", "600"])`),
		"by others": start("python3", "-c", loop),
	} {
		for late := time.After(time.Minute); !process.ShowsTerminal(pid); time.Sleep(5 * time.Millisecond) {
			select {
			case <-late:
				t.Fatalf("%s: it shows no terminal", name)
			default:
			}
		}
	}
	starter, shown := start("sh", "-c", "exec 3<&0; python3 -c '"+loop+"' <&3; true"), 0
	for late := time.After(time.Minute); shown == 0; time.Sleep(5 * time.Millisecond) {
		for pid := starter + 1; pid < starter+1000; pid++ {
			if process.ParentPID(pid) == starter && process.ShowsTerminal(pid) {
				shown = pid
			}
		}
		select {
		case <-late:
			t.Fatal("what it starts shows no terminal")
		default:
		}
	}
	assert.Check(t, !process.ShowsTerminal(starter), "who starts a terminal is taken for one")
}

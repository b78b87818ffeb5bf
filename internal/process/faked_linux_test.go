package process_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// inNamespace starts a shell script as root of a user and mount namespace, which then executes
// the program, and returns its process id.
func inNamespace(t *testing.T, script, program string) int {
	t.Helper()
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "set -e\n"+script, "sh", t.TempDir())
	var said strings.Builder
	cmd.Stderr = &said
	assert.NilError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	late := time.After(time.Minute)
	for process.Executable(cmd.Process.Pid) != program {
		select {
		case <-late:
			t.Fatalf("it runs %s", process.Executable(cmd.Process.Pid))
		case err := <-ended:
			t.Fatalf("%v: %s", err, said.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return cmd.Process.Pid
}

// TestFakedFlatpak: a root with the file of Flatpak's is no app of it.
func TestFakedFlatpak(t *testing.T) {
	for _, program := range []string{"/app/agent", "/usr/bin/sleep"} {
		pid := inNamespace(t, `cd "$1"; mount -t tmpfs none .; cd "$1"
mkdir app usr old; mount --rbind /usr usr; ln -s usr/bin usr/lib usr/lib64 .
cp /usr/bin/sleep app/agent
printf '[Application]\nname=com.example.Agent\n' >.flatpak-info
pivot_root . old
exec `+program+` 1000`, program)
		assert.Check(t, is.Equal(process.FlatpakID(pid), ""), program)
		assert.Check(t, !process.SharesMountNamespace(pid), "it has the folders of this process")
	}
}

// TestRunsFile: a path in another mount namespace is not the path here.
func TestRunsFile(t *testing.T) {
	pid := inNamespace(t, `cp /usr/bin/sleep "$1/sleep"; mount --bind "$1/sleep" /usr/bin/sleep; exec /usr/bin/sleep 1000`, "/usr/bin/sleep")
	assert.Check(t, !process.RunsFile(pid, "/usr/bin/sleep"), "a program of its own passes for the system's")
	pid = inNamespace(t, `exec /usr/bin/sleep 1000`, "/usr/bin/sleep")
	assert.Check(t, process.RunsFile(pid, "/usr/bin/sleep"), "the system's program is not known any more")
}

// TestHideEnvironment: the process keeps its secret variables, and other processes cannot read
// them.
func TestHideEnvironment(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.Command(self, process.ConcealerTestArg)
	cmd.Env = []string{"BEFORE=1", "MY_TOKEN=hush-hush", "AFTER=2"}
	p, err := process.Start(cmd, process.Limits{})
	assert.NilError(t, err)
	defer p.Stop(true)
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	assert.Check(t, is.Equal(line, "hush-hush <nil>\n"), err)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID()))
	assert.NilError(t, err, "%q", b)
	assert.Assert(t, !bytes.Contains(b, []byte("hush")), "%q", b)
	assert.Assert(t, bytes.Contains(b, []byte("BEFORE=1\x00MY_TOKEN=*********\x00AFTER=2\x00")), "%q", b)
}

// TestSupervisor: a supervised process has its own pipes, arguments, folder and variables, and
// nothing of the supervisor; both end together.
func TestSupervisor(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.Command("/bin/sh", "-c", `read word; echo "$0 $word $A $PWD $(ls /proc/self/fd | wc -l)"; exit 7`, "one two")
	cmd.Env, cmd.Dir = []string{"A=b", "PATH=/usr/bin:/bin"}, "/"
	p, err := process.Start(cmd, process.Limits{SupervisorCommand: []string{self, process.SupervisorTestArg}})
	assert.NilError(t, err)
	defer p.Stop(false)
	_, err = io.WriteString(p.Stdin, "hello\n")
	assert.NilError(t, err)
	b, err := io.ReadAll(p.Stdout)
	// Three files, and the one by which ls reads the folder.
	assert.NilError(t, err, "%q", b)
	assert.Equal(t, strings.TrimSpace(string(b)), "one two hello b / 4", "%q", b)
	<-p.Exited()
	assert.Check(t, is.Equal(p.State().ExitCode(), 7))
	_, err = process.Start(exec.Command("no-such-program-anywhere"), process.Limits{SupervisorCommand: []string{self, process.SupervisorTestArg}})
	assert.Check(t, err != nil, "what is not there was started")
}

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

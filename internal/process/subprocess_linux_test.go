package process_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/process"
)

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
	code := p.State().ExitCode()
	assert.Check(t, is.Equal(code, 7), "it ended with %d", code)
	_, err = process.Start(exec.Command("no-such-program-anywhere"), process.Limits{SupervisorCommand: []string{self, process.SupervisorTestArg}})
	assert.Check(t, err != nil, "what is not there was started")
}

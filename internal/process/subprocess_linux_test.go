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

	"github.com/gybob/aai-gateway/internal/process"
)

// TestHideEnvironment: the process keeps its secret variables, and other processes cannot read
// them.
func TestHideEnvironment(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, process.ConcealerTestArg)
	cmd.Env = []string{"BEFORE=1", "MY_TOKEN=hush-hush", "AFTER=2"}
	p, err := process.Start(cmd, process.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(true)
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); line != "hush-hush <nil>\n" {
		t.Errorf("%q, %v", line, err)
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID()))
	if err != nil || bytes.Contains(b, []byte("hush")) || !bytes.Contains(b, []byte("BEFORE=1\x00MY_TOKEN=*********\x00AFTER=2\x00")) {
		t.Errorf("%q, %v", b, err)
	}
}

// TestSupervisor: a supervised process has its own pipes, arguments, folder and variables, and
// nothing of the supervisor; both end together.
func TestSupervisor(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `read word; echo "$0 $word $A $PWD $(ls /proc/self/fd | wc -l)"; exit 7`, "one two")
	cmd.Env, cmd.Dir = []string{"A=b", "PATH=/usr/bin:/bin"}, "/"
	p, err := process.Start(cmd, process.Limits{SupervisorCommand: []string{self, process.SupervisorTestArg}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(false)
	if _, err := io.WriteString(p.Stdin, "hello\n"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(p.Stdout)
	// Three files, and the one by which ls reads the folder.
	if err != nil || strings.TrimSpace(string(b)) != "one two hello b / 4" {
		t.Errorf("%q, %v", b, err)
	}
	<-p.Exited()
	if code := p.State().ExitCode(); code != 7 {
		t.Errorf("it ended with %d", code)
	}
	if _, err := process.Start(exec.Command("no-such-program-anywhere"), process.Limits{SupervisorCommand: []string{self, process.SupervisorTestArg}}); err == nil {
		t.Error("what is not there was started")
	}
}

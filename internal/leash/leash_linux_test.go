package leash_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"aai/internal/leash"
)

// The first arguments by which the test binary is something else.
const (
	asGuard     = "as-guard"
	asConcealer = "as-concealer"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case asGuard:
			os.Exit(leash.Guard(os.Args[2:]))
		case asConcealer:
			err := leash.Conceal(func(name string) bool { return name == "MY_TOKEN" })
			_, _ = fmt.Println(os.Getenv("MY_TOKEN"), err)
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// What a process was given in secret it has, and nobody reads in its environment.
func TestConceal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, asConcealer)
	cmd.Env = []string{"BEFORE=1", "MY_TOKEN=hush-hush", "AFTER=2"}
	p, err := leash.Start(cmd, leash.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.End(true)
	if line, err := bufio.NewReader(p.Out).ReadString('\n'); line != "hush-hush <nil>\n" {
		t.Errorf("%q, %v", line, err)
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.ID()))
	if err != nil || bytes.Contains(b, []byte("hush")) || !bytes.Contains(b, []byte("BEFORE=1\x00MY_TOKEN=*********\x00AFTER=2\x00")) {
		t.Errorf("%q, %v", b, err)
	}
}

// A process behind a guard has its own pipes, arguments, folder and variables, and nothing of
// the guard's; and its end is the guard's.
func TestBehindAGuard(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `read word; echo "$0 $word $A $PWD $(ls /proc/self/fd | wc -l)"; exit 7`, "one two")
	cmd.Env, cmd.Dir = []string{"A=b", "PATH=/usr/bin:/bin"}, "/"
	p, err := leash.Start(cmd, leash.Limits{Guard: []string{self, asGuard}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.End(false)
	if _, err := io.WriteString(p.In, "hello\n"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(p.Out)
	// Three files, and the one by which ls reads the folder.
	if err != nil || strings.TrimSpace(string(b)) != "one two hello b / 4" {
		t.Errorf("%q, %v", b, err)
	}
	<-p.Gone()
	if code := p.State().ExitCode(); code != 7 {
		t.Errorf("it ended with %d", code)
	}
	if _, err := leash.Start(exec.Command("no-such-program-anywhere"), leash.Limits{Guard: []string{self, asGuard}}); err == nil {
		t.Error("what is not there was started")
	}
}

package comwindow

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// A Process is a running program, as the test sees it.
type Process struct {
	PID    int
	Window uintptr
	Title  string

	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts this test's own executable with the arguments role, a title and a fault. Its TestMain must call Serve then. The process
// ends with the test.
func Start(t testing.TB, role, fault string) *Process {
	t.Helper()
	p := &Process{Title: fmt.Sprintf("%s %d", role, os.Getpid())}
	p.cmd = exec.CommandContext(t.Context(), os.Args[0], role, p.Title, fault)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(t) })
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the program has not started: %v", err)
	}
	window, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
	if err != nil {
		t.Fatalf("the program answers %q: %v", line, err)
	}
	p.PID, p.Window = p.cmd.Process.Pid, uintptr(window)
	return p
}

// Tree returns a tree of the window around a source.
func (p *Process) Tree(source Source) *Tree {
	window := win32.Window(p.Window)
	return &Tree{Source: source, PID: p.PID, Title: p.Title, Window: window, Gone: func() bool { return !window.Exists() }}
}

// do sends a command and decodes the answer.
func (p *Process) do(t testing.TB, command string, answer any) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		t.Fatal(err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if err := json.Unmarshal([]byte(line), answer); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
}

// State returns the program's own state.
func (p *Process) State(t testing.TB) map[string]any {
	t.Helper()
	var state map[string]any
	p.do(t, "state", &state)
	return state
}

// Live returns the number of the provider's objects that clients have references to.
func (p *Process) Live(t testing.TB) int {
	t.Helper()
	var n int
	p.do(t, "live", &n)
	return n
}

// Secrets returns how often a client has read the content of a password field.
func (p *Process) Secrets(t testing.TB) int {
	t.Helper()
	var n int
	p.do(t, "secrets", &n)
	return n
}

// Hang makes the program answer neither messages nor calls, until Continue.
func (p *Process) Hang(t testing.TB) {
	t.Helper()
	var ok bool
	p.do(t, "hang", &ok)
}

// Continue ends Hang.
func (p *Process) Continue(t testing.TB) {
	t.Helper()
	var ok bool
	p.do(t, "continue", &ok)
}

// Kill ends the process.
func (p *Process) Kill(testing.TB) {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

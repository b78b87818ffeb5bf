package inputlock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// The variable makes this program act as another gateway; its value selects the action.
const asGateway = "SEAT_TEST_GATEWAY"

func TestMain(m *testing.M) {
	if folder, ok := strings.CutPrefix(os.Getenv(asGateway), "asks "); ok {
		a, err := at(folder).AcquireForQuestion(context.Background())
		fmt.Println("has it", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		a.Release()
		os.Exit(0)
	}
	if folder, ok := strings.CutPrefix(os.Getenv(asGateway), "holds "); ok {
		g, err := at(folder).Acquire(context.Background(), nil)
		if err == nil {
			err = g.SetHeldInput(inputlock.HeldInput{Process: os.Getpid(), Connection: 1, Buttons: []byte{1}})
		}
		fmt.Println("has it", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		g.Release()
		os.Exit(0)
	}
	if folder, ok := strings.CutPrefix(os.Getenv(asGateway), "acts "); ok {
		leave, _, err := claims(folder).Claim(context.Background(), 7)
		fmt.Println("has it", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		leave()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startGateway starts another process, which holds the lock when startGateway returns.
func startGateway(t *testing.T, does, folder string) *testkit.Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asGateway+"="+does+" "+folder)
	p := testkit.StartProcess(t, cmd)
	t.Cleanup(p.Kill)
	if line := p.ReadLine(t); line != "has it <nil>" {
		t.Fatalf("%q", line)
	}
	return p
}

// A question of one process blocks the input of another, until it is answered or its process has
// ended in any way.
func TestTwoProcesses(t *testing.T) {
	for name, end := range map[string]func(*testkit.Process) error{
		"answered": func(p *testkit.Process) error { return p.In.Close() },
		"killed":   func(p *testkit.Process) error { return p.Process.Kill() },
	} {
		folder := t.TempDir()
		p := startGateway(t, "asks", folder)
		_, err := at(folder).Acquire(within(t, 700*time.Millisecond), nil)
		if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.RateLimited {
			t.Errorf("%s: %v", name, err)
		}
		if err := end(p); err != nil {
			t.Fatal(err)
		}
		take(t, at(folder)).Release()
	}
}

// A stuck holder blocks others only for a limited time. A killed one releases the lock, and its
// held input is released too.
func TestAProcessThatStandsStill(t *testing.T) {
	folder := t.TempDir()
	p := startGateway(t, "holds", folder)
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"input":    func() error { _, err := at(folder).Acquire(context.Background(), nil); return err }(),
		"question": func() error { _, err := at(folder).AcquireForQuestion(context.Background()); return err }(),
	} {
		if e, ok := errors.AsType[*aai.Error](err); !ok || !strings.Contains(e.Hint, fmt.Sprint("Process ", p.Process.Pid)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	g := take(t, at(folder))
	if held := g.HeldInput(p.Process.Pid, 1); len(held.Buttons) != 1 {
		t.Errorf("what the dead one held is not known: %+v", held)
	}
	g.Release()
}

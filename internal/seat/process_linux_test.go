package seat_test

import (
	"bufio"
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

	"aai"
	"aai/internal/seat"
)

// The variable says of this program that it is another gateway: what it does.
const asGateway = "SEAT_TEST_GATEWAY"

func TestMain(m *testing.M) {
	if folder, ok := strings.CutPrefix(os.Getenv(asGateway), "asks "); ok {
		a, err := at(folder).Ask(context.Background())
		fmt.Println("has it", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		a.End()
		os.Exit(0)
	}
	if folder, ok := strings.CutPrefix(os.Getenv(asGateway), "holds "); ok {
		g, err := at(folder).Take(context.Background(), nil)
		if err == nil {
			err = g.Hold(seat.Held{Process: os.Getpid(), Connection: 1, Buttons: []byte{1}})
		}
		fmt.Println("has it", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		g.Leave()
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

// gateway starts another process that has the seat when this returns.
func gateway(t *testing.T, does, folder string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asGateway+"="+does+" "+folder)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "has it <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, in
}

// A question of one process keeps the input of another waiting, until it is answered or
// its process has ended, however that was.
func TestTwoProcesses(t *testing.T) {
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"answered": func(_ *exec.Cmd, in io.Closer) error { return in.Close() },
		"killed":   func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Kill() },
	} {
		folder := t.TempDir()
		cmd, in := gateway(t, "asks", folder)
		_, err := at(folder).Take(within(t, 700*time.Millisecond), nil)
		if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.RateLimited {
			t.Errorf("%s: %v", name, err)
		}
		if err := end(cmd, in); err != nil {
			t.Fatal(err)
		}
		take(t, at(folder)).Leave()
	}
}

// Who stands still with the seat in hand keeps nobody for ever; and who is killed has
// let go, of what it held on the screen too.
func TestAProcessThatStandsStill(t *testing.T) {
	folder := t.TempDir()
	cmd, _ := gateway(t, "holds", folder)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"input":    func() error { _, err := at(folder).Take(context.Background(), nil); return err }(),
		"question": func() error { _, err := at(folder).Ask(context.Background()); return err }(),
	} {
		if e, ok := errors.AsType[*aai.Error](err); !ok || !strings.Contains(e.Hint, fmt.Sprint("Process ", cmd.Process.Pid)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	g := take(t, at(folder))
	if held := g.Held(cmd.Process.Pid, 1); len(held.Buttons) != 1 {
		t.Errorf("what the dead one held is not known: %+v", held)
	}
	g.Leave()
}

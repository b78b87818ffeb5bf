package inputlock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
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
	assert.Equal(t, p.ReadLine(t), "has it <nil>")
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
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%s %v", name, err)
		assert.Equal(t, e.Code, aai.RateLimited, "%s %v", name, err)
		assert.NilError(t, end(p))
		take(t, at(folder)).Release()
	}
}

// A stuck holder blocks others only for a limited time. A killed one releases the lock, and its
// held input is released too.
func TestAProcessThatStandsStill(t *testing.T) {
	folder := t.TempDir()
	p := startGateway(t, "holds", folder)
	assert.NilError(t, p.Process.Signal(syscall.SIGSTOP))
	for name, err := range map[string]error{
		"input":    func() error { _, err := at(folder).Acquire(context.Background(), nil); return err }(),
		"question": func() error { _, err := at(folder).AcquireForQuestion(context.Background()); return err }(),
	} {
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%s %v", name, err)
		assert.Assert(t, is.Contains(e.Hint, fmt.Sprint("Process ", p.Process.Pid)), "%s %v", name, err)
	}
	assert.NilError(t, p.Process.Kill())
	g := take(t, at(folder))
	held := g.HeldInput(p.Process.Pid, 1)
	assert.Check(t, is.Len(held.Buttons, 1), "what the dead one held is not known: %+v", held)
	g.Release()
}

func claims(folder string) gateway.Claims {
	return inputlock.Claims{Folder: func() (string, error) { return folder, nil }}
}

// TestClaims: a claim waits until another gateway releases the same program or its process ends in
// any way. It does not wait for other programs.
func TestClaims(t *testing.T) {
	for name, end := range map[string]func(*testkit.Process) error{
		"left":   func(p *testkit.Process) error { return p.In.Close() },
		"killed": func(p *testkit.Process) error { return p.Process.Kill() },
	} {
		folder := t.TempDir()
		p := startGateway(t, "acts", folder)
		if _, waited, err := claims(folder).Claim(within(t, 300*time.Millisecond), 7); !errors.Is(err, context.DeadlineExceeded) || !waited {
			t.Errorf("%s: waited %v, %v", name, waited, err)
		}
		leave, waited, err := claims(folder).Claim(t.Context(), 8)
		assert.NilError(t, err, "%s %v", name, waited)
		assert.Assert(t, !waited, "%s: another program: waited %v, %v", name, waited, err)
		leave()
		assert.NilError(t, end(p))
		leave, _, err = claims(folder).Claim(t.Context(), 7)
		assert.NilError(t, err, name)
		_, _, err = claims(folder).Claim(within(t, 50*time.Millisecond), 7)
		assert.Check(t, err != nil, "%s: two have it", name)
		leave()
		leave() // a second call has no effect
	}
}

// TestClaimsThatCannotBe: without a shared folder, or with a removed file, a claim fails.
func TestClaimsThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	_, _, err := claims(file).Claim(t.Context(), 7)
	assert.Check(t, is.Equal(aai.AsError(err).Delivery, aai.NotDelivered), err)
	assert.Check(t, aai.AsError(err).Hint != "", err)
	folder := t.TempDir()
	assert.NilError(t, os.Symlink(file, filepath.Join(folder, "claims")))
	_, _, err = claims(folder).Claim(t.Context(), 7)
	assert.Check(t, err != nil, "a link was followed")
}

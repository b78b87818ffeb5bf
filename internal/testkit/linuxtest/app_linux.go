package linuxtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// An App is a program that runs in a session. It is the first of a process group
// of its own, and ends with the test.
type App struct {
	*private.Program
}

// Launch starts a program of this computer in the session. The name is looked for
// in the session's PATH, unless it has a slash. What the program prints is shown
// if the test fails. It does not wait for a window.
func (s *Session) Launch(t testing.TB, name string, args ...string) *App {
	t.Helper()
	return s.LaunchEnv(t, nil, name, args...)
}

// LaunchEnv is Launch with more variables, "NAME=value"; they win over the session's.
func (s *Session) LaunchEnv(t testing.TB, env []string, name string, args ...string) *App {
	t.Helper()
	p, err := s.Start(private.Command{Name: name, Args: args, Env: env})
	if err != nil {
		t.Fatalf("%v: install the packages of scripts/desktop-packages.txt (make test does)", err)
	}
	a := &App{p}
	t.Cleanup(func() { a.Kill(t) })
	return a
}

// Stop makes the program, and what it started, hang: they are as they were, but
// do nothing until Continue.
func (a *App) Stop(t testing.TB) {
	t.Helper()
	a.signal(t, syscall.SIGSTOP)
	a.await(t, "it hangs", func() bool { // a thread that waits for a processor goes on until it has one
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", a.PID))
		return err == nil && len(threads) > 0 && !slices.ContainsFunc(threads, func(stat string) bool {
			line, err := os.ReadFile(stat)
			_, state, _ := strings.Cut(string(line), ") ")
			return err == nil && !strings.HasPrefix(state, "T")
		})
	})
}

// Continue ends what Stop did.
func (a *App) Continue(t testing.TB) {
	t.Helper()
	a.signal(t, syscall.SIGCONT)
}

// Kill ends the program, and what it started, without warning, and waits until it
// is gone. It may have ended before.
func (a *App) Kill(t testing.TB) {
	t.Helper()
	if err := a.End(); err != nil {
		t.Error(err)
	}
}

// Wait waits until the program has ended by itself and returns what exec.Cmd.Wait
// does.
func (a *App) Wait(t testing.TB) error {
	t.Helper()
	select {
	case <-a.Done():
		return a.Err()
	case <-time.After(patience):
		t.Fatalf("%s did not end by itself", a.Name)
		return nil
	}
}

func (a *App) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := a.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// await waits until ready says so, and fails the test if the program ends before
// that.
func (a *App) await(t testing.TB, what string, ready func() bool) {
	t.Helper()
	if err := a.Await(context.WithoutCancel(t.Context()), what, ready); err != nil {
		t.Fatal(err)
	}
}

// nextTitle is a title for the window of the next program.
func (s *Session) nextTitle(of string) string { return fmt.Sprintf("%s %d", of, len(s.Programs())) }

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

// An App is a program that runs in a session. It leads its own process group, and ends with the test.
type App struct {
	*private.Program
}

// Launch starts an installed program in the session. It looks for the name in the PATH of the session, unless the
// name has a slash. It does not wait for a window. If the test fails, the session logs the output of the program.
func (s *Session) Launch(t testing.TB, name string, args ...string) *App {
	t.Helper()
	return s.LaunchEnv(t, nil, name, args...)
}

// LaunchEnv is Launch with additional variables, "NAME=value", which override the session's.
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

// Suspend suspends the program and its children until Continue, and waits until all threads have stopped.
func (a *App) Suspend(t testing.TB) {
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

// Continue undoes Stop.
func (a *App) Continue(t testing.TB) {
	t.Helper()
	a.signal(t, syscall.SIGCONT)
}

// Kill kills the program and its children, and waits until they have ended. They may have ended before.
func (a *App) Kill(t testing.TB) {
	t.Helper()
	if err := a.End(); err != nil {
		t.Error(err)
	}
}

// Wait waits until the program has ended by itself and returns the result of exec.Cmd.Wait.
func (a *App) Wait(t testing.TB) error {
	t.Helper()
	select {
	case <-a.Done():
		return a.AwaitEnd()
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

// await waits until ready returns true, and fails the test if the program ends first.
func (a *App) await(t testing.TB, what string, ready func() bool) {
	t.Helper()
	if err := a.Await(context.WithoutCancel(t.Context()), what, ready); err != nil {
		t.Fatal(err)
	}
}

// nextTitle returns a title for the window of the next program.
func (s *Session) nextTitle(of string) string { return fmt.Sprintf("%s %d", of, len(s.Programs())) }

package linuxtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An App is a program that runs in a session. It is the first of a process group
// of its own, and ends with the test.
type App struct {
	PID int

	name, log string
	done      chan struct{}
	err       error // of the program's end; valid after done
}

// launch says how to start a program.
type launch struct {
	name   string
	args   []string
	env    []string   // besides the session's
	files  []*os.File // from descriptor 3 on
	gently bool       // ask it to end, before it is made to
}

// Launch starts a program of this computer in the session. The name is looked for
// in the session's PATH, unless it has a slash. What the program prints is shown
// if the test fails. It does not wait for a window.
func (s *Session) Launch(t testing.TB, name string, args ...string) *App {
	t.Helper()
	return s.start(t, launch{name: name, args: args})
}

// LaunchEnv is Launch with more variables, "NAME=value"; they win over the session's.
func (s *Session) LaunchEnv(t testing.TB, env []string, name string, args ...string) *App {
	t.Helper()
	return s.start(t, launch{name: name, args: args, env: env})
}

func (s *Session) start(t testing.TB, l launch) *App {
	t.Helper()
	program, err := s.lookPath(l.name)
	if err != nil {
		t.Fatal(err)
	}
	s.started++
	a := &App{name: filepath.Base(l.name), done: make(chan struct{})}
	a.log = s.path("log", fmt.Sprintf("%d-%s", s.started, a.name))
	log, err := os.OpenFile(a.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	// A program outlives the test's context: other cleanups still need it.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, l.args...)
	cmd.Env = append(append([]string{}, s.Env...), l.env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = s.Home, log, log, l.files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.PID = cmd.Process.Pid
	go func() {
		a.err = cmd.Wait()
		close(a.done)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s (process %d) printed:\n%s", a.name, a.PID, a.Output())
		}
		if l.gently {
			a.ask()
		}
		a.Kill(t)
	})
	return a
}

// lookPath finds a program in the session's PATH: the test's own may lead to
// another Python.
func (s *Session) lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(s.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no %s in %s: install the packages of scripts/desktop-packages.txt (make test does)", name, s.Getenv("PATH"))
}

// Output is what the program has printed so far, at most its last 64 KiB. It is
// safe for concurrent use.
func (a *App) Output() string {
	const most = 64 << 10
	text, err := os.ReadFile(a.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// Stop makes the program, and what it started, hang: they are as they were, but
// do nothing until Continue.
func (a *App) Stop(t testing.TB) {
	t.Helper()
	a.signal(t, syscall.SIGSTOP)
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
	if !a.running() {
		return
	}
	if err := syscall.Kill(-a.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("%s cannot be ended: %v", a.name, err)
		return
	}
	<-a.done
}

// Wait waits until the program has ended by itself and returns what exec.Cmd.Wait
// does.
func (a *App) Wait(t testing.TB) error {
	t.Helper()
	select {
	case <-a.done:
		return a.err
	case <-time.After(patience):
		t.Fatalf("%s did not end by itself", a.name)
		return nil
	}
}

func (a *App) running() bool {
	select {
	case <-a.done:
		return false
	default:
		return true
	}
}

func (a *App) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if !a.running() {
		t.Fatalf("%s has ended: %v\n%s", a.name, a.err, a.Output())
	}
	if err := syscall.Kill(-a.PID, signal); err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
}

// ask asks the program to end, and gives it a while.
func (a *App) ask() {
	if !a.running() {
		return
	}
	_ = syscall.Kill(a.PID, syscall.SIGTERM)
	select {
	case <-a.done:
	case <-time.After(patience):
	}
}

// await waits until ready says so, and fails the test if the program ends before
// that.
func (a *App) await(t testing.TB, what string, ready func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ready() {
		if !a.running() {
			t.Fatalf("%s has ended (%v), so it never came to this: %s\n%s", a.name, a.err, what, a.Output())
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s, after %s it is still not so: %s", a.name, patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

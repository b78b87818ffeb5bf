package private_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

func start(t *testing.T) *private.Session {
	t.Helper()
	s, err := private.New("private-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.End(); err != nil {
			t.Error(err)
		}
		if err := s.Remove(); err != nil {
			t.Error(err)
		}
	})
	s.Env = append(s.Env, "PATH=/usr/bin:/bin")
	return s
}

// TestPrograms checks that a program gets only the session's environment, that an early
// end is reported with its output, and that a graceful program can handle SIGTERM.
func TestPrograms(t *testing.T) {
	t.Setenv("AAI_TEST_OF_THE_PERSON", "private")
	s := start(t)
	env, err := s.Start(private.Command{Name: "env", Env: []string{"HOME=/elsewhere"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := env.AwaitEnd(); err != nil || !strings.Contains(env.Output(), "HOME=/elsewhere\n") || strings.Contains(env.Output(), "AAI_TEST") {
		t.Errorf("%v, with\n%s", err, env.Output())
	}
	never := func() bool { return false }
	dying, err := s.Start(private.Command{Name: "/bin/sh", Args: []string{"-c", "echo no luck; exit 3"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := dying.Await(t.Context(), "it works", never); err == nil || !strings.Contains(err.Error(), "it works") || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("a program that has ended: %v", err)
	}
	if err := dying.Signal(0); err == nil {
		t.Error("one that has ended took a signal")
	}
	polite, err := s.Start(private.Command{Name: "sh", Args: []string{"-c", `trap "echo goodbye; exit" TERM; touch ready; while :; do sleep 0.05; done`}, Graceful: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := polite.Await(t.Context(), "it is ready", func() bool { _, err := os.Stat(s.Home + "/ready"); return err == nil }); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := polite.Await(cancelled, "never", never); err == nil {
		t.Error("a wait outlasted its context")
	}
	if err := s.End(); err != nil || polite.Running() || !strings.Contains(polite.Output(), "goodbye") {
		t.Errorf("%v, running: %v, %s", err, polite.Running(), polite.Output())
	}
	if _, err := s.Start(private.Command{Name: "no-such-program"}); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestStartXServerEnds checks that a server that reports no display blocks no longer than
// the context.
func TestStartXServerEnds(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	display, err := private.StartXServer(ctx, func(end *os.File, options ...string) error {
		defer cancel()
		_, err := s.Start(private.Command{Name: "sleep", Args: []string{"infinity"}, Files: []*os.File{end}})
		return err
	})
	if err == nil {
		t.Errorf("it is on %q", display)
	}
}

// TestEndTakesWhatItStarted checks that a program's children end with it.
func TestEndTakesWhatItStarted(t *testing.T) {
	s := start(t)
	parent, err := s.Start(private.Command{Name: "sh", Args: []string{"-c", "sleep 600 & echo $! > child; wait"}})
	if err != nil {
		t.Fatal(err)
	}
	child := ""
	if err := parent.Await(t.Context(), "it has a child", func() bool {
		b, _ := os.ReadFile(s.Home + "/child")
		child = strings.TrimSpace(string(b))
		return child != ""
	}); err != nil {
		t.Fatal(err)
	}
	if err := parent.End(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if line, err := os.ReadFile("/proc/" + child + "/cmdline"); err != nil || len(line) == 0 { // gone, or about to be
			return
		}
		if time.Now().After(until) {
			t.Fatal("the child goes on")
		}
	}
}

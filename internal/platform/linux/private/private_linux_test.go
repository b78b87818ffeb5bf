package private_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

func start(t *testing.T) *private.Session {
	t.Helper()
	s, err := private.New("private-")
	assert.NilError(t, err)
	t.Cleanup(func() {
		assert.Check(t, s.End())
		assert.Check(t, s.Remove())
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
	assert.NilError(t, err)
	err = env.AwaitEnd()
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(env.Output(), "HOME=/elsewhere\n"))
	assert.Assert(t, !strings.Contains(env.Output(), "AAI_TEST"), env.Output())
	never := func() bool { return false }
	dying, err := s.Start(private.Command{Name: "/bin/sh", Args: []string{"-c", "echo no luck; exit 3"}})
	assert.NilError(t, err)
	err = dying.Await(t.Context(), "it works", never)
	assert.Assert(t, is.ErrorContains(err, "it works"))
	assert.Assert(t, is.ErrorContains(err, "no luck"))
	assert.Check(t, dying.Signal(0) != nil, "one that has ended took a signal")
	polite, err := s.Start(private.Command{Name: "sh", Args: []string{"-c", `trap "echo goodbye; exit" TERM; touch ready; while :; do sleep 0.05; done`}, Graceful: true})
	assert.NilError(t, err)
	assert.NilError(t, polite.Await(t.Context(), "it is ready", func() bool { _, err := os.Stat(s.Home + "/ready"); return err == nil }))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Check(t, polite.Await(cancelled, "never", never) != nil, "a wait outlasted its context")
	if err := s.End(); err != nil || polite.Running() || !strings.Contains(polite.Output(), "goodbye") {
		t.Errorf("%v, running: %v, %s", err, polite.Running(), polite.Output())
	}
	_, err = s.Start(private.Command{Name: "no-such-program"})
	assert.Check(t, is.ErrorContains(err, "no-such-program"), "a program that is not there: %v", err)
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
	assert.Check(t, err != nil, "it is on %q", display)
}

// TestEndTakesWhatItStarted checks that a program's children end with it.
func TestEndTakesWhatItStarted(t *testing.T) {
	s := start(t)
	parent, err := s.Start(private.Command{Name: "sh", Args: []string{"-c", "sleep 600 & echo $! > child; wait"}})
	assert.NilError(t, err)
	child := ""
	assert.NilError(t, parent.Await(t.Context(), "it has a child", func() bool {
		b, _ := os.ReadFile(s.Home + "/child")
		child = strings.TrimSpace(string(b))
		return child != ""
	}))
	assert.NilError(t, parent.End())
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if line, err := os.ReadFile("/proc/" + child + "/cmdline"); err != nil || len(line) == 0 { // gone, or about to be
			return
		}
		assert.Assert(t, !time.Now().After(until), "the child goes on")
	}
}

package process_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/process"
)

func shell(script string) *exec.Cmd {
	return &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", script}}
}

func TestRun(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	end, started, err := process.Run(t.Context(), shell("cat; echo problem >&2; exit 3"), []byte(long), 1<<20)
	assert.NilError(t, err)
	assert.Check(t, started)
	assert.Check(t, string(end.Stdout) == long)
	assert.Equal(t, string(end.Stderr), "problem\n")
	assert.Equal(t, end.State.ExitCode(), 3)
	_, started, err = process.Run(t.Context(), &exec.Cmd{Path: "/no/such/program"}, nil, 10)
	assert.Check(t, err != nil)
	assert.Check(t, !started)
}

// TestRunEndsProgram checks that Run ends a program with its children: at the deadline, and if it writes too much.
func TestRunEndsProgram(t *testing.T) {
	for script, want := range map[string]error{
		"sleep 60 & sleep 61":        context.DeadlineExceeded,
		"yes":                        process.ErrOutputTooLong,
		"setsid sleep 8 & sleep 0.1": nil, // left the group, and holds the output open
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		begun := time.Now()
		_, started, err := process.Run(ctx, shell(script), nil, 100_000)
		cancel()
		assert.Check(t, started, script)
		assert.Check(t, errors.Is(err, want), "%s: %v", script, err)
		assert.Check(t, time.Since(begun) < 10*time.Second, script)
	}
	out, _ := exec.CommandContext(t.Context(), "pgrep", "-f", "^sleep 6[01]$").Output()
	assert.Check(t, is.Equal(string(out), ""))
}

//go:build unix

package cli_test

import (
	"os"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestSignal sends this process the signals of ^C and of a supervisor.
func TestSignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			w := newWorld()
			r := start(t.Context(), w, nil, "exec", "org.example.Notes", "hang")
			<-w.started
			assert.NilError(t, syscall.Kill(os.Getpid(), signal))
			code := <-r.ended
			assert.Check(t, is.Equal(code, 130), "exit code %d, want 130", code)
		})
	}
}

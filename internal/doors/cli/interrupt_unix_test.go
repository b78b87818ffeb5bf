//go:build unix

package cli_test

import (
	"os"
	"syscall"
	"testing"
)

// TestSignal sends this process the signals of ^C and of a supervisor.
func TestSignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			w := newWorld()
			r := start(t.Context(), w, nil, "exec", "org.example.Notes", "hang")
			<-w.started
			if err := syscall.Kill(os.Getpid(), signal); err != nil {
				t.Fatal(err)
			}
			if code := <-r.ended; code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
		})
	}
}

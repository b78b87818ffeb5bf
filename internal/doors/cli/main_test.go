package cli_test

import (
	"os"
	"os/signal"
	"testing"
)

// TestMain starts the runtime's goroutine for signals, which would otherwise start in the
// first bubble of package synctest and outlive it.
func TestMain(m *testing.M) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	os.Exit(m.Run())
}

package atspi_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
)

// TestReadyOfAHungBus checks that a bus that accepts connections without answering is reported as not
// answering when the context expires.
func TestReadyOfAHungBus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	b := atspi.New(atspi.Config{Getenv: func(name string) string {
		if name == "DBUS_SESSION_BUS_ADDRESS" {
			return "unix:path=" + path
		}
		return ""
	}})
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = b.Ready(ctx)
	if e := aai.AsError(err); err == nil || e.Code != aai.Timeout || !strings.HasPrefix(e.Message, "the session bus does not answer") {
		t.Errorf("got %v", err)
	}
}

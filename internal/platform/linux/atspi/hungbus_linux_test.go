package atspi_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
)

// TestReadyOfAHungBus checks that a bus that accepts connections without answering is reported as not
// answering when the context expires.
func TestReadyOfAHungBus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	assert.NilError(t, err)
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
	e := aai.AsError(err)
	assert.Assert(t, err != nil, err)
	assert.Equal(t, e.Code, aai.Timeout, err)
	assert.Assert(t, strings.HasPrefix(e.Message, "the session bus does not answer"), err)
}

package wayland_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestSwayLock: while swaylock locks the screen, no key and no click goes into it, and afterwards they work.
func TestSwayLock(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	w := s.show(t, "foot", "sh", "-c", "cat > typed")
	until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
	assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "before "))
	reason := s.PauseReason(t.Context())
	assert.Equal(t, reason, "", "acts pause, %s, but nothing locks the screen", reason)
	lock := s.Launch(t, "swaylock", "--color", "112233")
	until(t, func() bool { return s.PauseReason(t.Context()) != "" })
	s.lock.SetPauseReason(s.PauseReason)
	center := desktop.Point{X: w.Frame.X + w.Frame.W/2, Y: w.Frame.Y + w.Frame.H/2}
	for name, act := range map[string]func(context.Context) error{
		"type": func(ctx context.Context) error { return s.Type(ctx, desktop.PersonSeat, w.ID, "secret") },
		"key":  func(ctx context.Context) error { return s.Key(ctx, desktop.PersonSeat, w.ID, desktop.Chord{Key: "a"}) },
		"picture": func(ctx context.Context) error {
			_, err := s.CaptureWindow(ctx, w.ID)
			return err
		},
		"click": func(ctx context.Context) error {
			return s.Display.Click(ctx, desktop.PersonSeat, w.ID, center, desktop.LeftButton, 1)
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		e := aai.AsError(act(ctx))
		assert.Assert(t, e != nil, "%s into the lock: %v", name, e)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %v", name, e)
		cancel()
	}
	pid, err := s.FocusedPID(t.Context())
	assert.Check(t, is.Equal(pid, 0))
	assert.Check(t, err)
	if err := syscall.Kill(lock.PID, syscall.SIGUSR1); err != nil { // it unlocks
		t.Fatal(err)
	}
	until(t, func() bool { return s.PauseReason(t.Context()) == "" })
	assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "after\n"))
	until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
	assert.Check(t, is.Equal(s.read("typed"), "before after\n"))
}

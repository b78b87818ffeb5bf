package wayland_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestSwayLock: while swaylock locks the screen, no key and no click goes into it, and afterwards they work.
func TestSwayLock(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	w := s.show(t, "foot", "sh", "-c", "cat > typed")
	until(t, func() bool { _, err := os.Stat(filepath.Join(s.Home, "typed")); return err == nil })
	if err := s.Type(t.Context(), desktop.PersonSeat, w.ID, "before "); err != nil {
		t.Fatal(err)
	}
	if reason := s.PauseReason(t.Context()); reason != "" {
		t.Fatalf("acts pause, %s, but nothing locks the screen", reason)
	}
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
		if e := aai.AsError(act(ctx)); e == nil || e.Delivery != aai.NotDelivered {
			t.Errorf("%s into the lock: %v", name, e)
		}
		cancel()
	}
	if pid, err := s.FocusedPID(t.Context()); pid != 0 || err != nil {
		t.Errorf("the keyboard is of %d, %v", pid, err)
	}
	if err := syscall.Kill(lock.PID, syscall.SIGUSR1); err != nil { // it unlocks
		t.Fatal(err)
	}
	until(t, func() bool { return s.PauseReason(t.Context()) == "" })
	if err := s.Type(t.Context(), desktop.PersonSeat, w.ID, "after\n"); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return strings.HasSuffix(s.read("typed"), "\n") })
	if got := s.read("typed"); got != "before after\n" {
		t.Errorf("the terminal got %q", got)
	}
}

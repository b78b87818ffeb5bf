package wayland_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// long takes some seconds to type.
var long = strings.Repeat("a long text ", 2000)

// typing types a long text into a terminal that discards it, and returns its result after it has begun.
func (s *session) typing(ctx context.Context, t *testing.T) <-chan error {
	t.Helper()
	w := s.show(t, "foot", "sh", "-c", "stty raw -echo; cat > typed")
	until(t, func() bool {
		assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "a"))
		return s.read("typed") != ""
	})
	done := make(chan error, 1)
	go func() { done <- s.Type(ctx, desktop.PersonSeat, w.ID, long) }()
	until(t, func() bool { return len(s.read("typed")) > 20 })
	return done
}

// fails checks that an act ended with one of the codes, and without its success.
func fails(t *testing.T, err error, codes ...aai.Code) {
	t.Helper()
	if err == nil {
		t.Error("it succeeded")
		return
	}
	e := aai.AsError(err)
	for _, code := range codes {
		if e.Code == code {
			return
		}
	}
	t.Errorf("%v; want one of %q", e, codes)
}

// TestWaylandCompositorEnds: acts fail after the compositor has been killed in the middle of one, and work after its restart.
func TestWaylandCompositorEnds(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	done := s.typing(t.Context(), t)
	s.Compositor().Kill(t)
	fails(t, <-done, aai.AutomationFailed)
	_, err := s.Windows(t.Context())
	fails(t, err, aai.AutomationFailed)
	_, err = s.Get(t.Context())
	fails(t, err, aai.AutomationFailed)
	s.RestartCompositor(t)
	w := s.show(t, "foot", "sh", "-c", "cat > again")
	until(t, func() bool { return s.Type(t.Context(), desktop.PersonSeat, w.ID, "again\n") == nil })
	until(t, func() bool { return s.read("again") != "" })
	assert.Check(t, is.Equal(s.read("again"), "again\n"))
}

// TestWaylandCompositorHangs: acts end at their deadline while the compositor is stopped, and work when it goes on.
func TestWaylandCompositorHangs(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if s.refusesWindows(t) {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := s.typing(ctx, t)
	s.Compositor().Suspend(t)
	cancel()
	fails(t, <-done, aai.AutomationFailed, aai.Timeout)
	for name, act := range map[string]func(context.Context) error{
		"windows":   func(ctx context.Context) error { _, err := s.Windows(ctx); return err },
		"picture":   func(ctx context.Context) error { _, err := s.Capture(ctx, desktop.Rect{W: 10, H: 10}); return err },
		"read clip": func(ctx context.Context) error { _, err := s.Get(ctx); return err },
		"set clip":  func(ctx context.Context) error { _, err := s.Set(ctx, desktop.Clip{Text: "x"}); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		t.Run(name, func(t *testing.T) { fails(t, act(ctx), aai.Timeout) })
		cancel()
	}
	s.Compositor().Continue(t)
	until(t, func() bool { _, err := s.Windows(t.Context()); return err == nil })
}

// TestWaylandClipOwnerHangs: a program that does not give its clip ends the read, not the gateway.
func TestWaylandClipOwnerHangs(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	owner := s.Launch(t, "wl-copy", "-f", "theirs")
	until(t, func() bool { clip, err := s.Get(t.Context()); return err == nil && clip.Text == "theirs" })
	owner.Suspend(t)
	_, err := s.Get(t.Context())
	fails(t, err, aai.Timeout)
	_, err = s.Set(t.Context(), desktop.Clip{Text: strings.Repeat("ours", 1<<18)})
	assert.NilError(t, err)
	reader := s.Launch(t, "sh", "-c", "wl-paste | (sleep 600; cat)") // it never reads the rest
	until(t, func() bool { return reader.PID != 0 })
	got := s.output(t, "wl-paste", "-n")
	assert.Check(t, is.Equal(len(got), 4<<18), "wl-paste has %d bytes", len(got))
}

// TestWaylandUnplugged: without a monitor acts pause and pictures fail, and both work when it is back. Sway 1.7 cannot
// disable a headless monitor.
func TestWaylandUnplugged(t *testing.T) {
	if os.Getenv(linuxtest.CompositorEnv) != string(linuxtest.Sway) {
		return
	}
	s := newSession(t)
	w := s.show(t, "foot", "sh", "-c", "cat > typed")
	s.output(t, "swaymsg", "output", "HEADLESS-1", "disable")
	until(t, func() bool { return s.PauseReason(t.Context()) == "no monitor is connected" })
	_, err := s.Capture(t.Context(), desktop.Rect{W: 10, H: 10})
	fails(t, err, aai.AutomationNotSupported, aai.InvalidParams)
	at := desktop.Point{X: w.Frame.X + 5, Y: w.Frame.Y + 5}
	fails(t, s.Display.Click(t.Context(), desktop.PersonSeat, w.ID, at, desktop.LeftButton, 1), aai.AutomationFailed, aai.AutomationNotSupported)
	s.output(t, "swaymsg", "output", "HEADLESS-1", "enable")
	until(t, func() bool { return s.PauseReason(t.Context()) == "" })
	assert.NilError(t, s.Type(t.Context(), desktop.PersonSeat, w.ID, "after\n"))
	until(t, func() bool { return s.read("typed") == "after\n" })
}

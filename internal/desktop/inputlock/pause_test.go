package inputlock_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// pausable returns a lock that is paused until the function is called.
func pausable(t *testing.T) (s *inputlock.Lock, resume func()) {
	t.Helper()
	var resumed atomic.Bool
	s = at(t.TempDir())
	s.SetPauseReason(func(context.Context) string {
		if resumed.Load() {
			return ""
		}
		return "the screen is locked"
	})
	return s, func() { resumed.Store(true) }
}

// strokes are the ways in which calls use a lock.
func strokes() map[string]func(context.Context, *inputlock.Lock) error {
	return map[string]func(context.Context, *inputlock.Lock) error{
		"input": func(ctx context.Context, s *inputlock.Lock) error {
			g, err := s.Acquire(ctx, nil)
			if err == nil {
				g.Release()
			}
			return err
		},
		"action": func(ctx context.Context, s *inputlock.Lock) error {
			done, err := s.Begin(ctx)
			if err == nil {
				done()
			}
			return err
		},
		"set text": func(ctx context.Context, s *inputlock.Lock) error { return s.AwaitResume(ctx) },
	}
}

// TestPausedUntilTheDeadline: while paused nothing begins, and the error names the reason in time for
// the reply.
func TestPausedUntilTheDeadline(t *testing.T) {
	for name, stroke := range strokes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := pausable(t)
			ctx := within(t, time.Second)
			e := aai.AsError(stroke(ctx, s))
			if e == nil || e.Code != aai.RateLimited || e.Delivery != aai.NotDelivered {
				t.Fatalf("%+v", e)
			}
			if !strings.Contains(e.Message, "the screen is locked") {
				t.Error(e.Message)
			}
			if ctx.Err() != nil {
				t.Error("no time is left for the reply")
			}
		})
	}
}

// TestResumes: what waits goes on when the person is back.
func TestResumes(t *testing.T) {
	for name, stroke := range strokes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, resume := pausable(t)
			ended := make(chan error, 1)
			go func() { ended <- stroke(within(t, time.Minute), s) }()
			resume()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPauseIsKnownToInput: input that waited knows it, and has released held input before.
func TestPauseIsKnownToInput(t *testing.T) {
	s, resume := pausable(t)
	yielded := false
	g, err := s.Acquire(within(t, time.Minute), func(g *inputlock.Lease) { yielded = g != nil; resume() })
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if !yielded {
		t.Error("held input was not released")
	}
	if !g.WasPaused() {
		t.Error("the lease does not say that it waited")
	}
}

package inputlock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
			assert.Assert(t, e != nil, "%+v", e)
			assert.Equal(t, e.Code, aai.RateLimited, "%+v", e)
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
			assert.Check(t, is.Contains(e.Message, "the screen is locked"))
			assert.Check(t, ctx.Err(), "no time is left for the reply")
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
			assert.Check(t, <-ended)
		})
	}
}

// TestPauseIsKnownToInput: input that waited knows it, and has released held input before.
func TestPauseIsKnownToInput(t *testing.T) {
	s, resume := pausable(t)
	yielded := false
	g, err := s.Acquire(within(t, time.Minute), func(g *inputlock.Lease) { yielded = g != nil; resume() })
	assert.NilError(t, err)
	defer g.Release()
	assert.Check(t, yielded, "held input was not released")
	assert.Check(t, g.WasPaused(), "the lease does not say that it waited")
}

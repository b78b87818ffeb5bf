package inputlock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// TestTakenPauses checks that a call waits with its clock paused while the person works on its desktop, for half a minute
// at most, and that another reason ends it at once.
func TestTakenPauses(t *testing.T) {
	const callTime = 10 * time.Second
	for name, c := range map[string]struct {
		reason      string
		taken, took time.Duration
		words       string
	}{
		"free":             {inputlock.TakenReason, 0, 0, ""},
		"given back":       {inputlock.TakenReason, 2*callTime + time.Millisecond, 2*callTime + 200*time.Millisecond, ""},
		"never given back": {inputlock.TakenReason, time.Hour, 30*time.Second + 200*time.Millisecond, "not now: the person works on this desktop"},
		"locked":           {"the screen is locked", time.Hour, 0, "cannot see what an agent does"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ctx, end := actionctx.WithPauses(t.Context(), begun.Add(callTime), time.Minute, func(time.Duration) {})
				defer end()
				err := inputlock.CheckPaused(ctx, func(context.Context) string {
					if time.Since(begun) < c.taken {
						return c.reason
					}
					return ""
				})
				assert.Check(t, is.Equal(time.Since(begun), c.took), err)
				assert.NilError(t, ctx.Err())
				if c.words == "" {
					assert.NilError(t, err)
					return
				}
				e := aai.AsError(err)
				assert.Check(t, is.ErrorContains(e, c.words))
				assert.Check(t, is.Equal(e.Code, aai.RateLimited))
				assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered))
				assert.Check(t, e.RetryAfter > 0)
			})
		})
	}
}

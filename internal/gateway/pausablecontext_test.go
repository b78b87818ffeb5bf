package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// onWindows returns a world with an Action on windows.
func onWindows(run aai.Action) *world {
	w := newWorld(plain())
	w.app.Operator = fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return w.app, nil }}
	w.app.Tools[0].Run = run
	return w
}

// TestAQuestionOfOthersIsApart: an Action that waits for the answer to another call's question
// keeps all of its time, in derived contexts too, and its wait is limited.
func TestAQuestionOfOthersIsApart(t *testing.T) {
	const asked, half, most = 50 * time.Second, toolTimeout / 2, 170 * time.Second
	for name, c := range map[string]struct {
		waits []time.Duration // for persons
		works time.Duration   // before each and after
		takes time.Duration
		late  bool
	}{
		"no question":     {nil, half, half, false},
		"one":             {[]time.Duration{asked}, half - 1, asked + 2*half - 2, false},
		"two":             {[]time.Duration{asked, asked}, half / 2, 2*asked + 3*half/2, false},
		"works too long":  {[]time.Duration{asked}, half + 1, asked + 2*half, true},
		"asks for ever":   {[]time.Duration{time.Hour}, half, most + 2*half, true},
		"asks for longer": {[]time.Duration{most, time.Hour}, half / 2, most + 2*half, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := onWindows(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
					within, cancel := context.WithTimeout(ctx, time.Hour)
					defer cancel()
					sleep := func(d time.Duration) error {
						select {
						case <-time.After(d):
							return nil
						case <-within.Done():
							return within.Err()
						}
					}
					if err := sleep(c.works); err != nil {
						return nil, err
					}
					for _, wait := range c.waits {
						goOn := actionctx.PauseDeadline(within)
						if err := sleep(wait); err != nil {
							return nil, err
						}
						goOn()
						if err := sleep(c.works); err != nil {
							return nil, err
						}
					}
					return &aai.Result{}, nil
				})
				begun := time.Now()
				_, err := w.gateway().Do(t.Context(), w.call())
				took := time.Since(begun)
				assert.Check(t, is.Equal(took, c.takes), err)
				assert.Check(t, is.Equal((err != nil), c.late), err)
				assert.Check(t, !c.late || codeOf(err) == aai.Timeout, "after %s: %v; expected %s", took, err, c.takes)
			})
		})
	}
}

// TestQuestionsAtOnceAreOnePause: overlapping pauses count once.
func TestQuestionsAtOnceAreOnePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const part = 10 * time.Second
		w := onWindows(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			outer := actionctx.PauseDeadline(ctx)
			time.Sleep(part)
			inner := actionctx.PauseDeadline(ctx)
			time.Sleep(part)
			inner()
			time.Sleep(part)
			outer()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		begun := time.Now()
		_, err := w.gateway().Do(t.Context(), w.call())
		took := time.Since(begun)
		assert.Check(t, took == 3*part+toolTimeout, "after %s: %v", took, err)
		assert.Check(t, is.Equal(codeOf(err), aai.Timeout), "%s %v", took, err)
	})
}

// TestWhoLeavesWhileOthersAreAsked: a caller can cancel during a pause.
func TestWhoLeavesWhileOthersAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onWindows(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			defer actionctx.PauseDeadline(ctx)()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		_, err := w.gateway().Do(ctx, w.call())
		took := time.Since(begun)
		assert.Assert(t, err != nil, "after %s: %v", took, err)
		assert.Equal(t, took, time.Second, err)
	})
}

func TestPauseEndsWithTheContext(t *testing.T) {
	err := aai.Sleep(context.Background(), 0)
	assert.Check(t, err, "a pause that was waited out: %v", err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = aai.Sleep(ctx, time.Hour)
	assert.Check(t, is.ErrorIs(err, context.Canceled), "a pause in a context that has ended: %v", err)
}

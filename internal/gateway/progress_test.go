package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestProgress: a call without reports of its own is reported each second; reports of an Action
// pass unchanged, and replace the gateway's from then on.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(ctx context.Context)
		want []string
	}{
		"quick":  {func(context.Context) {}, nil},
		"silent": {func(context.Context) { time.Sleep(2500 * time.Millisecond) }, []string{"1/10 Waiting for Calculator", "2/10 Waiting for Calculator"}},
		"speaking": {func(ctx context.Context) {
			gateway.Progress(ctx, 1, 3, "begun")
			time.Sleep(5 * time.Second)
			gateway.Progress(ctx, 3, 3, "ended")
		}, []string{"1/3 begun", "3/3 ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(plain())
				w.app.Name = "Calculator|Rechner"
				w.app.Tools[0].Limits.Timeout = 10 * time.Second
				w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
					c.run(ctx)
					return &aai.Result{}, nil
				}
				var got []string
				ctx := gateway.WithProgress(t.Context(), func(done, total float64, message string) {
					got = append(got, fmt.Sprintf("%v/%v %s", done, total, message))
				})
				_, err := w.gateway().Do(ctx, w.call())
				assert.NilError(t, err)
				time.Sleep(time.Minute) // no report after the end
				synctest.Wait()
				assert.Check(t, is.Equal(fmt.Sprint(got), fmt.Sprint(c.want)), "%q %q", got, c.want)
			})
		})
	}
}

// TestProgressThatNobodyHears: without a receiver, Progress does nothing.
func TestProgressThatNobodyHears(t *testing.T) {
	gateway.Progress(t.Context(), 1, 2, "begun")
	a := aai.ClientCapabilitiesOf(t.Context())
	assert.Assert(t, a.Sample == nil, "there is no client, but it can %+v", a)
	assert.Assert(t, a.Roots == nil, "there is no client, but it can %+v", a)
	assert.Assert(t, !a.SampleTools, "there is no client, but it can %+v", a)
}

// TestWaits: the wait hook runs before the call waits, and not for a call that is refused
// earlier.
func TestWaits(t *testing.T) {
	heard := false
	ctx := gateway.WithWaitHook(t.Context(), func() { heard = true })
	before := false
	w := newWorld(plain())
	w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
		before = heard
		return &aai.Result{}, nil
	}
	call := w.call()
	call.Tool = "nothing"
	_, err := w.gateway().Do(ctx, call)
	assert.Assert(t, err != nil, "a refused call: %v, heard %t", err, heard)
	assert.Assert(t, !heard, "a refused call: %v, heard %t", err, heard)
	_, err = w.gateway().Do(ctx, w.call())
	assert.NilError(t, err, "%t", before)
	assert.Assert(t, before, "a call that runs: %v, heard before it ran: %t", err, before)
	heard, before = false, false
	doubt := newGate(func(*aai.Request) ([]aai.Question, error) {
		return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}, Text: "May it?", Choices: []aai.Choice{{ID: "no", Label: "No"}}}}, nil
	})
	dialog := asker(func(context.Context, aai.Question) (aai.Answer, error) {
		before = heard
		return aai.Answer{}, errors.New("no screen")
	})
	_, err = openTo(doubt, dialog, nil).Do(ctx, work())
	assert.Assert(t, err != nil, "a call that asks: %v, heard before it asked: %t", err, before)
	assert.Assert(t, before, "a call that asks: %v, heard before it asked: %t", err, before)
}

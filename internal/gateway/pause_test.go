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

// TestBackgroundTimeout: a tool with a BackgroundTimeout gets the time of the context, up to that
// limit; other tools get their usual time. An admission lasts as long.
func TestBackgroundTimeout(t *testing.T) {
	const usual = toolTimeout + grace
	for name, c := range map[string]struct {
		lasting, asked, want time.Duration
	}{
		"a call":           {time.Hour, 0, usual},
		"a task":           {time.Hour, 30 * time.Minute, 30*time.Minute + grace},
		"a task for ever":  {time.Hour, 24 * time.Hour, time.Hour + grace},
		"a short task":     {time.Hour, time.Millisecond, usual},
		"one that may not": {0, time.Hour, usual},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, w, _, _ := together("yes")
			outer := *w.app.Tools[0]
			outer.Name, outer.Assess, outer.Limits.Background = "outer", aai.Always(aai.Assessment{OnlyMakesCalls: true}), c.lasting
			outer.Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
				a, err := g.Admit(ctx, tool("one"))
				if err != nil {
					return nil, err
				}
				defer a.Release()
				if c.want > time.Hour/2 {
					time.Sleep(c.want - time.Minute)
					_, err := a.Run(ctx, 0)
					assert.Check(t, err, "%s: what was admitted: %v", name, err)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			w.app.Tools = append(w.app.Tools, &outer)
			ctx := t.Context()
			if c.asked > 0 {
				ctx = gateway.WithBackgroundTimeout(ctx, c.asked)
			}
			begun := time.Now()
			_, err := g.Do(ctx, tool("outer"))
			took := time.Since(begun)
			assert.Check(t, is.Equal(codeOf(err), aai.Timeout), "%s %v %s %s", name, err, took, c.want)
			assert.Check(t, took <= c.want, "%s: %v after %s, expected %s", name, err, took, c.want)
			assert.Check(t, took >= c.want-grace, "%s: %v after %s, expected %s", name, err, took, c.want)
		})
	}
}

// TestMeasurements: numbers of a call and of the calls that it makes are summed, and a bool holds if it holds for all.
func TestMeasurements(t *testing.T) {
	var m gateway.Measurements
	ctx := gateway.WithMeasurements(t.Context(), &m)
	for _, took := range []float64{1.5, 2} {
		gateway.Measure(ctx, "took", took)
	}
	for name, all := range map[string][]bool{"one": {true}, "mixed": {true, false, true}, "none": {false, false}} {
		for _, cached := range all {
			gateway.Measure(ctx, name, cached)
		}
	}
	gateway.Measure(context.Background(), "took", 100.0) // no receiver
	got := map[string]any{}
	m.CopyTo(got)
	for name, want := range map[string]any{"took": 3.5, "one": true, "mixed": false, "none": false} {
		assert.Check(t, is.Equal(got[name], want), name)
	}
}

// TestPausedForThePerson checks that a call that acts waits for Gateway.Pause with its clock paused and without a slot,
// that a reading call to the same app runs meanwhile, and that the error of Pause ends the call before its Action.
func TestPausedForThePerson(t *testing.T) {
	const taken = 3 * toolTimeout
	busy := aai.Errorf(aai.RateLimited, "the person works there")
	for name, c := range map[string]struct {
		effect aai.Effect
		err    error
		took   time.Duration
		ran    bool
	}{
		"an act":           {aai.Changes, nil, taken, true},
		"an act in vain":   {aai.Changes, busy, taken, false},
		"a reading call":   {aai.Reads, busy, 0, true},
		"a dangerous call": {aai.Destroys, nil, taken, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				w := onWindows(func(context.Context, *aai.Call) (*aai.Result, error) { ran++; return &aai.Result{}, nil })
				w.app.Tools[0].Effect = c.effect
				look := *w.app.Tools[0]
				look.Name, look.Effect = "look", aai.Reads
				w.app.Tools = append(w.app.Tools, &look)
				g := w.gateway()
				g.Pause = func(ctx context.Context, _ *aai.Request) (bool, error) {
					reading := w.call()
					reading.Tool = "look"
					_, err := g.Do(t.Context(), reading)
					assert.Check(t, err)
					assert.Check(t, aai.Sleep(ctx, taken))
					return true, c.err
				}
				begun := time.Now()
				_, err := g.Do(t.Context(), w.call())
				assert.Check(t, is.Equal(time.Since(begun), c.took), err)
				assert.Check(t, is.Equal(err == nil, c.ran), "%v", err)
				want := 1
				if c.effect != aai.Reads {
					want = map[bool]int{true: 2, false: 1}[c.ran]
				}
				assert.Check(t, is.Equal(ran, want))
			})
		})
	}
}

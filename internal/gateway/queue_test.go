package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// program returns a target with windows.
func program(name string, answers func(context.Context) error) *aai.App {
	return &aai.App{ID: "desktop/" + name, Name: name, PID: 100 + len(name), Digest: "of " + name, Process: aai.Process{Ping: answers}}
}

// inLanes returns a gateway with an app that operates the windows of the programs.
func inLanes(run aai.Action, programs ...*aai.App) (*gateway.Gateway, *world) {
	g, _, w := windows(aai.Changes, func(_ context.Context, _ *aai.Call, name string) (*aai.App, error) {
		for _, p := range programs {
			if p.Name == name {
				return p, nil
			}
		}
		return nil, nil
	})
	w.app.Tools[0].Run = run
	return g, w
}

func on(name string) *aai.Call {
	return &aai.Call{Caller: aai.Caller{Door: "test"}, App: "org.example.App", Tool: "work", Args: map[string]any{"app": name}}
}

// TestQueueIsExclusive: one call at a time acts on the windows of a program, calls to others do
// not wait for it, and intents are recorded with the slot held.
func TestQueueIsExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		inside := map[string]int{}
		var w *world
		g, w := inLanes(func(_ context.Context, c *aai.Call) (*aai.Result, error) {
			name := c.Target.Name
			mu.Lock()
			if inside[name]++; inside[name] > 1 {
				t.Errorf("%d calls act on %s", inside[name], name)
			}
			mu.Unlock()
			time.Sleep(50 * time.Millisecond)
			mu.Lock()
			inside[name]--
			mu.Unlock()
			w.note(step{what: "ran", entry: &aai.Entry{Target: c.Target.ID}})
			return &aai.Result{}, nil
		}, program("a", nil), program("bb", nil))
		begun := time.Now()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				_, err := g.Do(t.Context(), on([]string{"a", "bb"}[i%2]))
				assert.Check(t, err)
			})
		}
		all.Wait()
		took := time.Since(begun)
		assert.Check(t, took == 500*time.Millisecond, "10 calls of 50 ms to each of two programs took %s", took)
		open := map[string]bool{}
		for _, s := range w.steps() {
			if s.entry == nil {
				continue
			}
			switch target := s.entry.Target; s.what {
			case string(aai.Intent):
				assert.Check(t, !open[target], "an intent is written while another call has the lane")
				open[target] = true
			case "ran":
				open[target] = false
			}
		}
	})
}

// TestWaitingIsNotHanging: a call that waits for its slot until its deadline runs nothing,
// reports this, and does not make the program count as hung.
func TestWaitingIsNotHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := inLanes(func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }, program("a", nil))
		long := *w.app.Tools[0]
		long.Name, long.Limits.Timeout = "long", time.Minute
		long.Run = func(context.Context, *aai.Call) (*aai.Result, error) {
			time.Sleep(10 * time.Second)
			return &aai.Result{}, nil
		}
		w.app.Tools = append(w.app.Tools, &long)
		var all sync.WaitGroup
		all.Go(func() {
			call := on("a")
			call.Tool = "long"
			_, err := g.Do(t.Context(), call)
			assert.Check(t, err)
		})
		synctest.Wait()
		for range 4 {
			all.Go(func() {
				_, err := g.Do(t.Context(), on("a"))
				e := wantCode(t, err, aai.Timeout)
				assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), "%+v", e)
				assert.Check(t, is.Contains(e.Message, "other calls to desktop/a"), "%+v", e)
			})
		}
		all.Wait()
		_, err := g.Do(t.Context(), on("a"))
		assert.Check(t, err)
	})
}

// TestLookAgain: the target element has another name when the call gets its slot. Gates refuse
// instead of asking; no person is asked, and nothing runs.
func TestLookAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caption, ran := "Save", 0
		g, _ := inLanes(func(context.Context, *aai.Call) (*aai.Result, error) {
			ran++
			time.Sleep(100 * time.Millisecond)
			caption = "Delete all"
			return &aai.Result{}, nil
		}, program("a", nil))
		g.Dialog = asker(func(context.Context, aai.Question) (aai.Answer, error) {
			t.Error("a person was asked while the call had its lane")
			return aai.Answer{}, nil
		})
		g.Gates = []aai.Gate{gateFunc(func(r *aai.Request) ([]aai.Question, error) {
			r.Destructive = strings.Contains(caption, "Delete")
			if r.AdmittedPermission == r.Permission() || r.Permission() == aai.PermissionAct {
				return nil, nil
			}
			return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}}}, nil
		})}
		var all sync.WaitGroup
		all.Go(func() { _, _ = g.Do(t.Context(), on("a")) })
		time.Sleep(time.Millisecond)
		_, err := g.Do(t.Context(), on("a"))
		all.Wait()
		e := wantCode(t, err, aai.ConsentRequired)
		assert.Equal(t, ran, 1, "%+v", e)
		assert.Assert(t, is.Len(e.Questions, 0), "%+v", e)
		assert.Assert(t, e.RetrySafe(), "%d ran, %+v", ran, e)
		assert.Assert(t, e.Needs != nil, "%d ran, %+v", ran, e)
		assert.Equal(t, e.Needs.Tool, aai.PermissionDestroy, "%+v", e)
	})
}

// TestAHungProgramIsAsked: after one timeout no call waits for the program, others continue, and
// calls resume when it responds. Then its queue is removed.
func TestAHungProgramIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := true
		answers := func(ctx context.Context) error {
			if hangs {
				<-ctx.Done()
				return ctx.Err()
			}
			return errors.New("it says no, which is an answer")
		}
		g, _ := inLanes(func(ctx context.Context, c *aai.Call) (*aai.Result, error) {
			if c.Target.Name == "a" && hangs {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &aai.Result{}, nil
		}, program("a", answers), program("bb", nil))
		var all sync.WaitGroup
		for range 5 { // queued calls do not wait for a deadline each
			all.Go(func() {
				_, err := g.Do(t.Context(), on("a"))
				_ = wantCode(t, err, aai.Timeout)
			})
		}
		begun := time.Now()
		all.Wait()
		took := time.Since(begun)
		assert.Check(t, took <= toolTimeout+grace, "five calls took %s", took)
		begun = time.Now()
		_, err := g.Do(t.Context(), on("a"))
		e := wantCode(t, err, aai.Timeout)
		assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), "%s %+v", time.Since(begun), e)
		assert.Check(t, time.Since(begun) == 0, "after %s: %+v", time.Since(begun), e)
		assert.Check(t, e.Hint != "", "after %s: %+v", time.Since(begun), e)
		_, err = g.Do(t.Context(), on("bb"))
		assert.Check(t, err)
		hangs = false
		time.Sleep(5 * time.Second)
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, err)
		n := gateway.QueueCount(g)
		assert.Check(t, is.Equal(n, 0), "%d lanes are remembered", n)
	})
}

// TestAHungAppIsTriedNowAndThen: an app without Ping counts as hung after three consecutive
// timeouts; then one call at a time tries, at growing intervals.
func TestAHungAppIsTriedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		hangs, ran := true, 0
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			ran++
			if hangs {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &aai.Result{}, nil
		}
		g := w.gateway()
		do := func() *aai.Error {
			_, err := g.Do(t.Context(), w.call())
			return aai.AsError(err)
		}
		for range 3 {
			e := do()
			assert.Check(t, is.Equal(e.Code, aai.Timeout), "%+v", e)
			assert.Check(t, is.Equal(e.Delivery, aai.DeliveryUnknown), "%+v", e)
		}
		for _, rest := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			before := ran
			e := do()
			assert.Check(t, is.Equal(e.Code, aai.Timeout), "%+v %d", e, ran-before)
			assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), "%+v %d", e, ran-before)
			assert.Check(t, is.Equal(e.RetryAfter, rest), "%+v %d", e, ran-before)
			assert.Check(t, is.Equal(ran, before), "%+v %d", e, ran-before)
			time.Sleep(e.RetryAfter)
			var all sync.WaitGroup
			for range 5 { // one of them tries
				all.Go(func() { _ = do() })
			}
			all.Wait()
			assert.Check(t, is.Equal(ran, before+1), "%d", ran-before)
		}
		hangs = false
		time.Sleep(8 * time.Second)
		for range 3 {
			e := do()
			assert.Check(t, e == nil, e)
		}
		n := gateway.QueueCount(g)
		assert.Check(t, is.Equal(n, 0), "%d lanes are remembered", n)
	})
}

// TestASlowToolIsNoHungApp: an app with other tools that respond is not hung.
func TestASlowToolIsNoHungApp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		quick := *w.app.Tools[0]
		quick.Name = "quick"
		w.app.Tools = append(w.app.Tools, &quick)
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) { <-ctx.Done(); return nil, ctx.Err() }
		g := w.gateway()
		for i := range 20 {
			call := w.call()
			if i%2 == 1 {
				call.Tool = "quick"
			}
			_, err := g.Do(t.Context(), call)
			assert.Check(t, i%2 != 1 || err == nil, "call %d: %v", i, err)
		}
	})
}

// TestConcurrencyModes: a tool determines how its calls overlap with others.
func TestConcurrencyModes(t *testing.T) {
	for turn, want := range map[aai.Concurrency]time.Duration{aai.Exclusive: 300, aai.Shared: 100, aai.Independent: 100} {
		synctest.Test(t, func(t *testing.T) {
			g, w := inLanes(func(context.Context, *aai.Call) (*aai.Result, error) {
				time.Sleep(100 * time.Millisecond)
				return &aai.Result{}, nil
			}, program("a", nil))
			w.app.Tools[0].Assess = aai.Always(aai.Assessment{Concurrency: turn})
			begun := time.Now()
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { _, _ = g.Do(t.Context(), on("a")) })
			}
			all.Wait()
			took := time.Since(begun)
			assert.Check(t, is.Equal(took, want*time.Millisecond), "turn %d: three calls of 100 ms took %s", turn, took)
		})
	}
}

// TestTargetHangsWhileWaiting: an app that responds does not count as hung when an awaited
// condition does not occur.
func TestTargetHangsWhileWaiting(t *testing.T) {
	for answered, want := range map[bool]aai.Code{true: "", false: aai.Timeout} {
		synctest.Test(t, func(t *testing.T) {
			defer time.Sleep(time.Hour) // until it is no longer probed
			calls := 0
			g, _ := inLanes(func(context.Context, *aai.Call) (*aai.Result, error) {
				if calls++; calls > 1 {
					return &aai.Result{}, nil
				}
				e := aai.Errorf(aai.Timeout, "it has not come")
				e.AppResponded = answered
				return nil, e
			}, program("a", func(context.Context) error { return nil }))
			_, err := g.Do(t.Context(), on("a"))
			_ = wantCode(t, err, aai.Timeout)
			_, err = g.Do(t.Context(), on("a"))
			assert.Check(t, err == nil || aai.AsError(err).Code == want, "answered %v: the next call ends with %v", answered, err)
			assert.Check(t, err != nil || want == "", "answered %v: the next call ends with %v", answered, err)
		})
	}
}

// TestAbandonedCallKeepsItsSlot: an abandoned Action still acts on the program. The next call
// gets an error, and does not act concurrently.
func TestAbandonedCallKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan bool)
		g, _ := inLanes(func(context.Context, *aai.Call) (*aai.Result, error) {
			<-goOn
			return &aai.Result{}, nil
		}, program("a", nil))
		var all sync.WaitGroup
		all.Go(func() {
			_, err := g.Do(t.Context(), on("a"))
			e := wantCode(t, err, aai.Timeout)
			assert.Check(t, is.Equal(e.Delivery, aai.DeliveryUnknown), "%+v", e)
		})
		all.Wait()
		_, err := g.Do(t.Context(), on("a"))
		e := wantCode(t, err, aai.Timeout)
		assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), "%+v", e)
		close(goOn)
		synctest.Wait()
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, err)
	})
}

// TestCancelledWhenSlotIsFree: a call that is cancelled when it gets its slot does nothing, and
// no intent is recorded.
func TestCancelledWhenSlotIsFree(t *testing.T) {
	g, w := inLanes(func(context.Context, *aai.Call) (*aai.Result, error) {
		t.Error("it ran")
		return &aai.Result{}, nil
	}, program("a", nil))
	ctx, cancel := context.WithCancel(t.Context())
	w.app.Tools[0].Assess = func(*aai.Call) aai.Assessment {
		cancel()
		return aai.Assessment{Concurrency: aai.Shared}
	}
	_, err := g.Do(ctx, on("a"))
	assert.Check(t, err != nil, "it is answered")
	n := w.count(string(aai.Intent))
	assert.Check(t, is.Equal(n, 0), "%d intents are on record", n)
}

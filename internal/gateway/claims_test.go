package gateway_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// claims are those of gateways that share them.
type claims struct {
	mu    sync.Mutex
	held  map[int]bool
	fails error
}

func (c *claims) Claim(ctx context.Context, process int) (func(), bool, error) {
	for waited := false; ; waited = true {
		c.mu.Lock()
		if c.fails != nil || !c.held[process] {
			defer c.mu.Unlock()
			if c.fails != nil {
				return nil, false, c.fails
			}
			c.held[process] = true
			return func() { c.mu.Lock(); defer c.mu.Unlock(); c.held[process] = false }, waited, nil
		}
		c.mu.Unlock()
		if err := aai.Sleep(ctx, time.Millisecond); err != nil {
			return nil, true, err
		}
	}
}

// TestTwoGatewaysTakeTurns: one of several gateways acts on a program at a time, gates check
// again after a wait, and a call that waits until its deadline does not run.
func TestTwoGatewaysTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &claims{held: map[int]bool{}}
		inside, ran := 0, 0
		work := func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			if inside++; inside > 1 {
				t.Error("two act at once")
			}
			ran++
			time.Sleep(50 * time.Millisecond)
			inside--
			return &aai.Result{}, nil
		}
		var all sync.WaitGroup
		for range 3 {
			g, _ := inLanes(work, program("a", nil))
			g.Claims = shared
			for range 4 {
				all.Go(func() {
					_, err := g.Do(t.Context(), on("a"))
					assert.Check(t, err)
				})
			}
		}
		all.Wait()
		if ran != 12 || shared.held[101] {
			t.Errorf("%d ran, still claimed: %v", ran, shared.held[101])
		}

		g, w := inLanes(work, program("a", nil))
		g.Claims = shared
		shared.held[101] = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := g.Do(ctx, on("a"))
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%v, %d ran", err, ran)
		assert.Equal(t, e.Code, aai.Timeout, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, err)
		assert.Equal(t, ran, 12, err)
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, err != nil, "it did not wait")
		shared.held[101] = false
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, err, "after the wait: %v", err)
		shared.fails = errors.New("no folder")
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, aai.AsError(err) != nil, "it acts though gateways cannot agree")
		w.app.Tools[0].Effect, w.app.Tools[0].Assess = aai.Reads, aai.Always(aai.Assessment{EffectInherent: true})
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, err, "it does not look where gateways cannot agree: %v", err)
	})
}

// TestACallWithinAClaimNeedsNone: a call that is made by one that has the program does not wait
// for itself.
func TestACallWithinAClaimNeedsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gateway.Gateway
		depth := 0
		g, _ = inLanes(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			if depth++; depth == 3 {
				return &aai.Result{}, nil
			}
			return g.Do(ctx, on("a"))
		}, program("a", nil))
		shared := &claims{held: map[int]bool{}}
		g.Claims = shared
		if _, err := g.Do(t.Context(), on("a")); err != nil || depth != 3 || shared.held[101] {
			t.Errorf("%v, %d deep, still claimed: %v", err, depth, shared.held[101])
		}
	})
}

// TestPanicInRecheckKeepsTheQueue: a gate that panics in the second check releases the slot.
func TestPanicInRecheckKeepsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := inLanes(func(context.Context, *aai.Call) (*aai.Result, error) {
			time.Sleep(100 * time.Millisecond)
			return &aai.Result{}, nil
		}, program("a", nil))
		g.Gates = []aai.Gate{gateFunc(func(r *aai.Request) ([]aai.Question, error) {
			if r.AdmittedPermission != "" {
				panic("such as words of an element that nobody expected")
			}
			return nil, nil
		})}
		var all sync.WaitGroup
		all.Go(func() { _, _ = g.Do(t.Context(), on("a")) })
		time.Sleep(time.Millisecond)
		_, err := g.Do(t.Context(), on("a")) // waits, looks again
		_ = wantCode(t, err, aai.Internal)
		all.Wait()
		_, err = g.Do(t.Context(), on("a"))
		assert.Check(t, err, "after the panic of one call: %v", err)
		n := gateway.QueueCount(g)
		assert.Check(t, is.Equal(n, 0), "%d lanes are remembered", n)
	})
}

// A look that hangs, and obeys no context, does not keep the app shut for ever.
func TestAProbeThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan bool)
		hangs := true
		g, _ := inLanes(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			if hangs {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &aai.Result{}, nil
		}, program("a", func(context.Context) error { <-stuck; return nil }))
		_, _ = g.Do(t.Context(), on("a"))
		hangs = false
		time.Sleep(time.Hour)
		_, err := g.Do(t.Context(), on("a"))
		assert.Check(t, err, "an hour later, though it works again: %v", err)
		close(stuck)
	})
}

// Where the one call that tries is cancelled, and its Action is left behind, another
// one may try.
func TestATryThatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		hangs, stuck := true, make(chan bool)
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			if hangs {
				<-ctx.Done()
				<-stuck
				return nil, ctx.Err()
			}
			return &aai.Result{}, nil
		}
		g := w.gateway()
		for range 3 {
			_, _ = g.Do(t.Context(), w.call())
		}
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		_, _ = g.Do(ctx, w.call())
		hangs = false
		time.Sleep(time.Hour)
		_, err := g.Do(t.Context(), w.call())
		assert.Check(t, err, "an hour later, though it works again: %v", err)
		close(stuck)
	})
}

// TestOneCallIsSeveralMisses: a call counts as one miss, even if Do abandons it and it also ends
// late.
func TestOneCallIsSeveralMisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		ran := 0
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			ran++
			<-ctx.Done()
			time.Sleep(2 * grace)
			return nil, ctx.Err()
		}
		g := w.gateway()
		for range 3 {
			_, _ = g.Do(t.Context(), w.call())
			time.Sleep(300 * time.Millisecond)
		}
		assert.Check(t, is.Equal(ran, 3), "%d of the three calls in a row ran", ran)
	})
}

// TestRefusalReopensTheQueue: a call that never ran does not affect the state of its app.
func TestRefusalReopensTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		ran := 0
		w.app.Tools[0].Effect = aai.Changes
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			ran++
			<-ctx.Done()
			return nil, ctx.Err()
		}
		broken := false
		g := w.gateway()
		g.Journal = journalFunc(func(e *aai.Entry) error {
			if broken && e.Kind == aai.Intent {
				return errors.New("no space left on device")
			}
			return nil
		})
		for range 3 {
			_, _ = g.Do(t.Context(), w.call())
		}
		time.Sleep(2 * time.Second)
		broken = true
		_, _ = g.Do(t.Context(), w.call()) // tries, but its intent cannot be written
		broken = false
		before := ran
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { _, _ = g.Do(t.Context(), w.call()) })
		}
		all.Wait()
		assert.Check(t, ran-before <= 1, "%d calls at once to an app that has never answered", ran-before)
	})
}

type journalFunc func(*aai.Entry) error

func (f journalFunc) Record(_ context.Context, e *aai.Entry) error { return f(e) }

// TestAnAnswerIsTakenForAHang: an app that reports a timeout itself does not count as hung, so an
// agent cannot block it for others.
func TestAnAnswerIsTakenForAHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		quick := *w.app.Tools[0]
		quick.Name = "quick"
		w.app.Tools = append(w.app.Tools, &quick)
		w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) { // as webapi does of a status 504
			return nil, &aai.Error{Code: aai.Timeout, Message: "HTTP 504", Delivery: aai.Delivered}
		}
		g := w.gateway()
		for range 3 {
			_, _ = g.Do(t.Context(), w.call())
		}
		honest := w.call()
		honest.Tool = "quick"
		_, err := g.Do(t.Context(), honest)
		assert.Check(t, err, "an app that answers everything within no time: %v", err)
	})
}

// TestCallsWithinASandboxAreInIt: gates see it of those that an Action makes too, however
// deep.
func TestCallsWithinASandboxAreInIt(t *testing.T) {
	for _, inside := range []bool{true, false} {
		w := newWorld(plain())
		g, see := w.gateway(), &seer{}
		g.Gates = []aai.Gate{see}
		deep := 0
		w.app.Tools[0].Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			assert.Check(t, is.Equal(see.saw.Sandboxed, inside), "call %d: sandboxed is %v", deep, see.saw.Sandboxed)
			if deep++; deep < 3 {
				return g.Do(ctx, &aai.Call{App: call.App, Tool: call.Tool})
			}
			return &aai.Result{}, nil
		}
		ctx := t.Context()
		if inside {
			ctx = gateway.WithSandbox(ctx)
		}
		_, err := g.Do(ctx, plain().call())
		assert.NilError(t, err)
		assert.Equal(t, deep, 3)
	}
}

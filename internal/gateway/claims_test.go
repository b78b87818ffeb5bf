package gateway_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

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

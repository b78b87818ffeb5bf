package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gybob/aai-gateway"
)

// reservingCall returns the context of a call of g.
func reservingCall(t *testing.T, g *Gateway) (context.Context, *invocation) {
	t.Helper()
	p := newInvocation(t.Context(), g, &aai.Call{}, make(chan struct{}, 1))
	t.Cleanup(func() { p.clock.alarm.Stop() })
	return context.WithValue(t.Context(), invocationKey{}, p), p
}

// TestLargeResultsWait checks that the second of two large results waits for the end of the first call,
// and that small ones do not.
func TestLargeResultsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gateway{}
		first, call := reservingCall(t, g)
		if err := ReserveResult(first, maxResultMemory/resultByteCost/2, 1000); err != nil {
			t.Fatal(err)
		}
		second, other := reservingCall(t, g)
		got := make(chan error, 1)
		go func() { got <- ReserveResult(second, 0, maxResultMemory/resultValueCost) }()
		synctest.Wait()
		small, third := reservingCall(t, g)
		if err := ReserveResult(small, 1000, 10); err != nil {
			t.Error(err)
		}
		third.releaseResult()
		if len(got) > 0 {
			t.Fatal("the second did not wait")
		}
		call.releaseResult()
		if err := <-got; err != nil {
			t.Error(err)
		}
		other.releaseResult()
		if g.results.used != 0 {
			t.Errorf("%d bytes are left", g.results.used)
		}
	})
}

// TestResultsWaitNotForever checks that a large result is refused after a few seconds, and at the end of its
// call.
func TestResultsWaitNotForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gateway{}
		first, _ := reservingCall(t, g)
		if err := ReserveResult(first, 1<<40, 1<<20); err != nil { // more than all there is
			t.Fatal(err)
		}
		second, _ := reservingCall(t, g)
		begun := time.Now()
		if e := aai.AsError(ReserveResult(second, 1, 0)); e == nil || e.Delivery != aai.Delivered || time.Since(begun) != resultMemoryWait {
			t.Errorf("%+v after %s", e, time.Since(begun))
		}
		ended, cancel := context.WithCancel(second)
		cancel()
		if err := ReserveResult(ended, 1, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

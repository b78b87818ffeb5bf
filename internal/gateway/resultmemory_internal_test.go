package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.NilError(t, ReserveResult(first, maxResultMemory/resultByteCost/2, 1000))
		second, other := reservingCall(t, g)
		got := make(chan error, 1)
		go func() { got <- ReserveResult(second, 0, maxResultMemory/resultValueCost) }()
		synctest.Wait()
		small, third := reservingCall(t, g)
		assert.Check(t, ReserveResult(small, 1000, 10))
		third.releaseResult()
		assert.Assert(t, len(got) <= 0, "the second did not wait")
		call.releaseResult()
		assert.Check(t, <-got)
		other.releaseResult()
		assert.Check(t, is.Equal(g.results.used, 0), "%d bytes are left", g.results.used)
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
		e := aai.AsError(ReserveResult(second, 1, 0))
		assert.Assert(t, e != nil, "%+v after %s", e, time.Since(begun))
		assert.Equal(t, e.Delivery, aai.Delivered, "%+v", e)
		assert.Equal(t, time.Since(begun), resultMemoryWait, "%+v", e)
		ended, cancel := context.WithCancel(second)
		cancel()
		assert.Check(t, is.ErrorIs(ReserveResult(ended, 1, 0), context.Canceled))
	})
}

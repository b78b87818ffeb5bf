package webapi

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// The limit applies to an origin, over all tools.
func TestLimitOfAnOrigin(t *testing.T) {
	one, other := serve(t, answers(http.StatusNoContent, "", "")), serve(t, answers(http.StatusNoContent, "", ""))
	d := New(Config{Client: plainClient(t), Rate: 0.001, Burst: 2})
	get := compile(t, d, recipe(one.URL, http.MethodGet, "/a"))
	post := compile(t, d, recipe(one.URL+"/v1", http.MethodPost, "/b"))
	run(t, get, nil)
	run(t, post, nil)
	e := fail(t, post, nil, aai.RateLimited, aai.NotDelivered)
	assert.Check(t, e.RetryAfter >= 15*time.Minute, "the next turn is said to be in %s", e.RetryAfter)
	assert.Check(t, e.RetryAfter <= 1000*time.Second, "the next turn is said to be in %s", e.RetryAfter)
	again := fail(t, get, nil, aai.RateLimited, aai.NotDelivered)
	assert.Check(t, again.RetryAfter <= e.RetryAfter, "a refused call took a turn: %s, then %s", e.RetryAfter, again.RetryAfter)
	run(t, compile(t, d, recipe(other.URL, http.MethodGet, "/")), nil)
	a, b := len(one.requests()), len(other.requests())
	assert.Check(t, is.Equal(a, 2))
	assert.Check(t, is.Equal(b, 1))
}

// Calls get their slots in order of arrival, each without unnecessary delay.
func TestTurnsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(10, 1).of("https://example.com")
		begun := time.Now()
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				err := l.wait(t.Context())
				assert.Check(t, err == nil, err)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			})
		}
		all.Wait()
		for i, got := range order {
			assert.Equal(t, got, i, "the turns were %v", order)
		}
		took := time.Since(begun).Round(100 * time.Millisecond)
		assert.Check(t, took == 1900*time.Millisecond, "20 turns of 10 a second took %s", took)
	})
}

// A cancelled wait frees its slot.
func TestATurnGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, 1).of("https://example.com")
		err := l.wait(t.Context())
		assert.Assert(t, err == nil, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		err = l.wait(ctx)
		assert.Assert(t, err != nil, err)
		assert.Equal(t, err.Code, aai.AutomationFailed, err)
		assert.Equal(t, err.Delivery, aai.NotDelivered, err)
		begun := time.Now()
		err = l.wait(t.Context())
		assert.Assert(t, err == nil, err)
		took := time.Since(begun)
		assert.Check(t, took <= time.Second, "the turn came after %s", took)
	})
}

// A retry takes a slot like any other request.
func TestRetriesTakeTurns(t *testing.T) {
	s := serve(t, failing(9, http.StatusBadGateway, nil))
	d := New(Config{Client: plainClient(t), Rate: 0.001, Burst: 2})
	fail(t, compile(t, d, recipe(s.URL, http.MethodGet, "/")), nil, aai.RateLimited, aai.Delivered)
	assert.Check(t, is.Equal(len(s.requests()), 2))
}

package webapi

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
	if e.RetryAfter < 15*time.Minute || e.RetryAfter > 1000*time.Second {
		t.Errorf("the next turn is said to be in %s", e.RetryAfter)
	}
	again := fail(t, get, nil, aai.RateLimited, aai.NotDelivered)
	if again.RetryAfter > e.RetryAfter {
		t.Errorf("a refused call took a turn: %s, then %s", e.RetryAfter, again.RetryAfter)
	}
	run(t, compile(t, d, recipe(other.URL, http.MethodGet, "/")), nil)
	if a, b := len(one.requests()), len(other.requests()); a != 2 || b != 1 {
		t.Errorf("%d and %d requests", a, b)
	}
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
				if err := l.wait(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			})
		}
		all.Wait()
		for i, got := range order {
			if got != i {
				t.Fatalf("the turns were %v", order)
			}
		}
		if took := time.Since(begun).Round(100 * time.Millisecond); took != 1900*time.Millisecond {
			t.Errorf("20 turns of 10 a second took %s", took)
		}
	})
}

// A cancelled wait frees its slot.
func TestATurnGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, 1).of("https://example.com")
		if err := l.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		if err := l.wait(ctx); err == nil || err.Code != aai.AutomationFailed || err.Delivery != aai.NotDelivered {
			t.Errorf("got %v", err)
		}
		begun := time.Now()
		if err := l.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the turn came after %s", took)
		}
	})
}

// A retry takes a slot like any other request.
func TestRetriesTakeTurns(t *testing.T) {
	s := serve(t, failing(9, http.StatusBadGateway, nil))
	d := New(Config{Client: plainClient(t), Rate: 0.001, Burst: 2})
	fail(t, compile(t, d, recipe(s.URL, http.MethodGet, "/")), nil, aai.RateLimited, aai.Delivered)
	if n := len(s.requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

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

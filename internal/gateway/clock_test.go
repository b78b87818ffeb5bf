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
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// hanging is a part of a gateway that does not return, until its context ends or not even then.
type hanging struct {
	*world
	deaf bool
}

func (h hanging) wait(ctx context.Context) error {
	if h.deaf {
		<-h.forever
		return errors.New("woken at the end of the test")
	}
	<-ctx.Done()
	return ctx.Err()
}

func (h hanging) Find(ctx context.Context, _ string) (*aai.App, error) { return nil, h.wait(ctx) }
func (h hanging) Check(ctx context.Context, _ *aai.Request) ([]aai.Question, error) {
	return nil, h.wait(ctx)
}

// hungRecord is a journal that never writes lines of one kind.
type hungRecord struct {
	*world
	kind aai.EntryKind
}

func (h hungRecord) Record(ctx context.Context, e *aai.Entry) error {
	if e.Kind == h.kind {
		<-h.forever
	}
	return h.world.Record(ctx, e)
}

// recordTimeout is the time that Do waits for a journal that does not respond.
const recordTimeout = 10 * time.Second

// TestTheDeadlineCoversEverything: whichever part hangs, with or without obeying its context, the
// call ends by its deadline. Nothing runs, the outcome states this, and reservations are
// released.
func TestTheDeadlineCoversEverything(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		for part, c := range map[string]struct {
			limit time.Duration
			code  aai.Code
			hang  func(g *gateway.Gateway, w *world, h hanging)
		}{
			"catalog": {aai.DefaultTimeout, aai.Timeout, func(g *gateway.Gateway, _ *world, h hanging) { g.Catalog = h }},
			"gate":    {toolTimeout, aai.Timeout, func(g *gateway.Gateway, _ *world, h hanging) { g.Gates = append(g.Gates, h) }},
			"target": {toolTimeout, aai.Timeout, func(_ *gateway.Gateway, w *world, h hanging) {
				w.app.Tools[0].Target = "app"
				w.app.Operator = fakeoperator.Operator{Find: func(ctx context.Context, _ *aai.Call, _ string) (*aai.App, error) { return nil, h.wait(ctx) }}
			}},
			"check": {toolTimeout, aai.Timeout, func(_ *gateway.Gateway, w *world, h hanging) {
				w.app.Tools[0].Params.Check = func(v any) (any, error) {
					if h.deaf {
						<-h.forever
					} else {
						time.Sleep(toolTimeout)
					}
					return v, nil
				}
			}},
			"intent": {toolTimeout + recordTimeout, aai.RecordFailed, func(g *gateway.Gateway, w *world, _ hanging) { g.Journal = hungRecord{w, aai.Intent} }},
		} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(plain())
				g, held, released := w.gateway(), 0, 0
				var keeper *aGate
				keeper = newGate(func(r *aai.Request) ([]aai.Question, error) {
					held++
					r.Reserve(keeper, func() { released++ })
					return nil, nil
				})
				g.Gates = []aai.Gate{keeper}
				c.hang(g, w, hanging{w, deaf})
				begun := time.Now()
				_, err := g.Do(t.Context(), &aai.Call{App: w.app.ID, Tool: "work", Args: map[string]any{"app": "x"}})
				took := time.Since(begun)
				e := aai.AsError(err)
				assert.Assert(t, e != nil, "%s, deaf %v: %+v", part, deaf, e)
				assert.Equal(t, e.Code, c.code, "%s %v %+v", part, deaf, e)
				assert.Assert(t, e.RetrySafe(), "%s, deaf %v: %+v", part, deaf, e)
				assert.Assert(t, e.Hint != "", "%s, deaf %v: %+v", part, deaf, e)
				assert.Check(t, took <= c.limit+grace, "%s, deaf %v: took %s", part, deaf, took)
				close(w.forever)
				synctest.Wait()
				assert.Check(t, is.Equal(w.count("run"), 0), "%s, deaf %v: it ran after all", part, deaf)
				n := w.count(string(aai.Outcome))
				assert.Check(t, is.Equal(n, 1), "%s, deaf %v: %d outcomes", part, deaf, n)
				assert.Check(t, is.Equal(held, released), "%s, deaf %v: held %d times, given back %d times", part, deaf, held, released)
			})
		}
	}
}

// TestAJournalThatHangs: a call with an outcome that is never written ends, and its result is
// withheld.
func TestAJournalThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(plain())
		defer close(w.forever)
		g := w.gateway()
		g.Journal = hungRecord{w, aai.Outcome}
		result, err := g.Do(t.Context(), w.call())
		e := wantCode(t, err, aai.RecordFailed)
		assert.Assert(t, result == nil, "%+v", e)
		assert.Assert(t, !e.RetrySafe(), "%+v", e)
	})
}

// TestAPersonsTimeIsApart: the tool has exactly its time, however long a person takes.
func TestAPersonsTimeIsApart(t *testing.T) {
	for _, run := range []string{works, obeys} {
		synctest.Test(t, func(t *testing.T) {
			s := plain()
			s.Gates, s.Run = []string{asks}, run
			w := newWorld(s)
			g := w.gateway()
			const thinks = 50 * time.Second
			g.Dialog = asker(func(ctx context.Context, q aai.Question) (aai.Answer, error) {
				time.Sleep(thinks)
				return aai.Answer{Choice: "yes", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
			})
			begun := time.Now()
			_, err := g.Do(t.Context(), w.call())
			took := time.Since(begun)
			e := w.entryOf(t, aai.Outcome)
			assert.Check(t, is.Equal(e.PersonWait, thinks), e.Elapsed)
			assert.Check(t, e.Elapsed >= thinks, "on record are %s of %s", e.PersonWait, e.Elapsed)
			assert.Check(t, run != works || err == nil && took == thinks, "after %s: %v", took, err)
			assert.Check(t, run != obeys || codeOf(err) == aai.Timeout && took == thinks+toolTimeout, "after %s: %v", took, err)
		})
	}
}

// TestLeftWhileAsked: the record of a call that ends during its question contains the wait for
// the person so far.
func TestLeftWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plain()
		s.Gates = []string{asks}
		w := newWorld(s)
		defer close(w.forever)
		g := w.gateway()
		g.Dialog = asker(func(ctx context.Context, _ aai.Question) (aai.Answer, error) {
			return aai.Answer{}, hanging{w, true}.wait(ctx)
		})
		ctx, leave := context.WithTimeout(t.Context(), 20*time.Second)
		defer leave()
		_, err := g.Do(ctx, w.call())
		if e := w.entryOf(t, aai.Outcome); err == nil || e.Elapsed < 20*time.Second || e.PersonWait != e.Elapsed {
			t.Errorf("%v; on record are %s of %s", err, e.PersonWait, e.Elapsed)
		}
	})
}

// TestNobodyAnswers: a question waits for earlier ones and for its own answer, each up to its
// limit, whatever the dialog does.
func TestNobodyAnswers(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := plain()
			s.Gates = []string{asks}
			w := newWorld(s)
			defer close(w.forever)
			g := w.gateway()
			g.Dialog = asker(func(ctx context.Context, q aai.Question) (aai.Answer, error) {
				return aai.Answer{Choice: "yes", Seal: q.Seal, Channel: aai.DesktopDialog}, hanging{w, deaf}.wait(ctx)
			})
			begun := time.Now()
			_, err := g.Do(t.Context(), w.call())
			e := aai.AsError(err)
			assert.Assert(t, e != nil, "deaf %v, after %s: %v", deaf, time.Since(begun), err)
			assert.Assert(t, e.RetrySafe(), "deaf %v, after %s: %v", deaf, time.Since(begun), err)
			assert.Assert(t, time.Since(begun) <= 170*time.Second+grace, "deaf %v, after %s: %v", deaf, time.Since(begun), err)
			assert.Equal(t, w.count("run"), 0, "%v %s %v", deaf, time.Since(begun), err)
			if deaf {
				return
			}
			e = wantCode(t, err, aai.ConsentRequired)
			assert.Check(t, is.Len(e.Questions, 0), "a weaker way to ask is offered: %+v", e)
		})
	}
}

// TestProgressWhileAPersonIsAsked: a report every ten seconds keeps clients from giving up; later
// reports of the Action continue from there.
func TestProgressWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plain()
		s.Gates = []string{asks}
		w := newWorld(s)
		w.app.Name = "Notes"
		w.app.Tools[0].Limits.Timeout = 10 * time.Second
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			gateway.Progress(ctx, 1, 3, "begun")
			return &aai.Result{}, nil
		}
		g := w.gateway()
		g.Dialog = asker(func(_ context.Context, q aai.Question) (aai.Answer, error) {
			time.Sleep(35500 * time.Millisecond) // between two reports
			return aai.Answer{Choice: "yes", Seal: q.Seal}, nil
		})
		var mu sync.Mutex
		var done []float64
		var messages []string
		ctx := gateway.WithProgress(t.Context(), func(d, _ float64, m string) {
			mu.Lock()
			defer mu.Unlock()
			done, messages = append(done, d), append(messages, m)
		})
		_, err := g.Do(ctx, w.call())
		assert.NilError(t, err)
		assert.DeepEqual(t, done, []float64{1, 11, 21, 31, 32})
		assert.Assert(t, is.Contains(messages[0], "person"), "%q", messages)
		assert.Equal(t, messages[4], "begun", "%q", messages)
	})
}

// TestLongReadsAreOnRecord: a read of more than a second is recorded before it ends, with its
// caller only once.
func TestLongReadsAreOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plain()
		s.Effect, s.Args = aai.Reads, map[string]any{"password": secretValue, "of": "x"}
		w := newWorld(s)
		w.app.Tools[0].Limits.Timeout = 10 * time.Second
		w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
			time.Sleep(1001 * time.Millisecond)
			assert.Check(t, is.Equal(w.count(string(aai.Received)), 1), "after a second it is not on record")
			return &aai.Result{}, nil
		}
		_, err := w.gateway().Do(t.Context(), s.call())
		assert.NilError(t, err)
		received, outcome := w.entryOf(t, aai.Received), w.entryOf(t, aai.Outcome)
		assert.Equal(t, received.Caller.Door, "test", "%+v", received)
		assert.Assert(t, received.Admitted, "received %+v", received)
		assert.Assert(t, !received.Durable, "received %+v", received)
		assert.Equal(t, received.Args["password"], sanitize.Hide(secretValue), "%+v", received)
		assert.Equal(t, outcome.Caller.Door, "", "%+v", outcome)
		assert.Assert(t, !outcome.Admitted, "outcome %+v", outcome)
		assert.Assert(t, outcome.Args == nil, "outcome %+v", outcome)
	})
}

// TestTheClientEndsWhileAsked: a question ends two seconds after the client has closed its input, and a late answer runs nothing.
// Without that, the question stays open.
func TestTheClientEndsWhileAsked(t *testing.T) {
	for _, closes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := plain()
			s.Gates, s.Run = []string{asks}, works
			w := newWorld(s)
			g := w.gateway()
			g.Dialog = asker(func(ctx context.Context, q aai.Question) (aai.Answer, error) {
				if err := aai.Sleep(ctx, 10*time.Second); err != nil {
					return aai.Answer{}, err
				}
				return aai.Answer{Choice: "yes", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
			})
			ended := make(chan struct{})
			if closes {
				close(ended)
			}
			begun := time.Now()
			_, err := g.Do(gateway.WithClientEnd(t.Context(), ended), w.call())
			took := time.Since(begun)
			assert.Check(t, !closes || codeOf(err) == aai.ConsentRequired && took == 2*time.Second, "after its end: %v after %s", err, took)
			assert.Check(t, closes || err == nil && took == 10*time.Second, "a client that waits: %v after %s", err, took)
		})
	}
}

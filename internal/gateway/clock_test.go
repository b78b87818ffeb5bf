package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
				if e == nil || e.Code != c.code || !e.RetrySafe() || e.Hint == "" {
					t.Errorf("%s, deaf %v: %+v", part, deaf, e)
				}
				if took > c.limit+grace {
					t.Errorf("%s, deaf %v: took %s", part, deaf, took)
				}
				close(w.forever)
				synctest.Wait()
				if n := w.count("run"); n != 0 {
					t.Errorf("%s, deaf %v: it ran after all", part, deaf)
				}
				if n := w.count(string(aai.Outcome)); n != 1 {
					t.Errorf("%s, deaf %v: %d outcomes", part, deaf, n)
				}
				if held != released {
					t.Errorf("%s, deaf %v: held %d times, given back %d times", part, deaf, held, released)
				}
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
		if e := wantCode(t, err, aai.RecordFailed); result != nil || e.RetrySafe() {
			t.Errorf("%+v", e)
		}
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
			if e := w.entryOf(t, aai.Outcome); e.PersonWait != thinks || e.Elapsed < thinks {
				t.Errorf("on record are %s of %s", e.PersonWait, e.Elapsed)
			}
			if run == works && (err != nil || took != thinks) {
				t.Errorf("after %s: %v", took, err)
			}
			if run == obeys && (codeOf(err) != aai.Timeout || took != thinks+toolTimeout) {
				t.Errorf("after %s: %v", took, err)
			}
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
			if e := aai.AsError(err); e == nil || !e.RetrySafe() || time.Since(begun) > 170*time.Second+grace || w.count("run") != 0 {
				t.Errorf("deaf %v, after %s: %v", deaf, time.Since(begun), err)
			}
			if deaf {
				return
			}
			if e := wantCode(t, err, aai.ConsentRequired); len(e.Questions) != 0 {
				t.Errorf("a weaker way to ask is offered: %+v", e)
			}
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
		if _, err := g.Do(ctx, w.call()); err != nil {
			t.Fatal(err)
		}
		if len(done) != 5 || done[0] != 1 || done[1] != 11 || done[3] != 31 || done[4] != 32 || !strings.Contains(messages[0], "person") || messages[4] != "begun" {
			t.Errorf("%v %q", done, messages)
		}
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
			if w.count(string(aai.Received)) != 1 {
				t.Error("after a second it is not on record")
			}
			return &aai.Result{}, nil
		}
		if _, err := w.gateway().Do(t.Context(), s.call()); err != nil {
			t.Fatal(err)
		}
		received, outcome := w.entryOf(t, aai.Received), w.entryOf(t, aai.Outcome)
		if received.Caller.Door != "test" || !received.Admitted || received.Args["of"] != "x" || received.Durable || received.Args["password"] != sanitize.Hide(secretValue) {
			t.Errorf("received %+v", received)
		}
		if outcome.Caller.Door != "" || outcome.Admitted || outcome.Args != nil || !outcome.Ran {
			t.Errorf("outcome %+v", outcome)
		}
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
			if closes && (codeOf(err) != aai.ConsentRequired || took != 2*time.Second) {
				t.Errorf("after its end: %v after %s", err, took)
			}
			if !closes && (err != nil || took != 10*time.Second) {
				t.Errorf("a client that waits: %v after %s", err, took)
			}
		})
	}
}

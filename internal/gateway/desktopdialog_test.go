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

// openTo is a gateway of one app with one gate and, where there is one, a dialog.
func openTo(gate aai.Gate, dialog aai.Asker, run aai.Action) *gateway.Gateway {
	if run == nil {
		run = func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }
	}
	s := plain()
	w := newWorld(s)
	w.app.Name = "An app"
	w.app.Tools[0].Run = run
	w.app.Tools[0].Description = "Works."
	return &gateway.Gateway{Catalog: w, Gates: []aai.Gate{gate}, Journal: w, Dialog: dialog}
}

type aGate func(r *aai.Request) ([]aai.Question, error)

func (f *aGate) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	return (*f)(r)
}

func newGate(f aGate) *aGate { return &f }

type asker func(context.Context, aai.Question) (aai.Answer, error)

func (f asker) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) { return f(ctx, q) }

func work() *aai.Call {
	return &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "a"}, App: "org.example.App", Tool: "work"}
}

// TestHold: reservations of a call are released once, however the call ends.
func TestHold(t *testing.T) {
	denied := aai.Errorf(aai.PermissionDenied, "no")
	for name, c := range map[string]struct {
		refusal error
		run     aai.Action
		asks    bool
	}{
		"ran":     {},
		"asked":   {asks: true},
		"refused": {refusal: denied},
		"failed":  {run: func(context.Context, *aai.Call) (*aai.Result, error) { return nil, denied }},
		"panic":   {run: func(context.Context, *aai.Call) (*aai.Result, error) { panic("broken") }},
		"hung":    {run: func(context.Context, *aai.Call) (*aai.Result, error) { select {} }},
	} {
		t.Run(name, func(t *testing.T) {
			held, released := 0, 0
			var gate *aGate
			gate = newGate(func(r *aai.Request) ([]aai.Question, error) {
				if !r.HasReservation(gate) {
					held++
					r.Reserve(gate, func() { released++ })
				}
				assert.Check(t, !r.HasReservation(newGate(nil)), "another gate holds something")
				if c.asks && len(r.Call.Answers) == 0 {
					return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}}}, nil
				}
				return nil, c.refusal
			})
			yes := asker(func(context.Context, aai.Question) (aai.Answer, error) {
				assert.Check(t, is.Equal(released, 0), "released before the end")
				return aai.Answer{Choice: "yes"}, nil
			})
			_, _ = openTo(gate, yes, c.run).Do(t.Context(), work())
			assert.Check(t, is.Equal(held, 1))
			assert.Check(t, is.Equal(released, 1))
		})
	}
}

// TestOneAnswerForMany: of many calls that need the same answer one asks; the others wait and use
// its answer.
func TestOneAnswerForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		allowed, dialogs := false, 0
		gate := newGate(func(r *aai.Request) ([]aai.Question, error) {
			mu.Lock()
			defer mu.Unlock()
			if len(r.Call.Answers) > 0 {
				allowed = true
			}
			if allowed {
				return nil, nil
			}
			return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}}}, nil
		})
		g := openTo(gate, asker(func(context.Context, aai.Question) (aai.Answer, error) {
			dialogs++
			time.Sleep(10 * time.Second)
			return aai.Answer{Choice: "always"}, nil
		}), nil)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := g.Do(t.Context(), work())
				assert.Check(t, err)
			})
		}
		wg.Wait()
		assert.Check(t, is.Equal(dialogs, 1))
	})
}

// A call does not wait for ever for other calls' dialogs, nor longer than its
// caller.
func TestWaitingForOthersDialogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newGate(func(*aai.Request) ([]aai.Question, error) {
			return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}}}, nil
		})
		g := openTo(gate, asker(func(ctx context.Context, _ aai.Question) (aai.Answer, error) {
			<-ctx.Done()
			return aai.Answer{}, ctx.Err()
		}), nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := g.Do(t.Context(), work())
			e := wantCode(t, err, aai.ConsentRequired)
			assert.Check(t, e.RetryAfter == 0, "nobody answered, and it says %+v", e)
			assert.Check(t, is.Len(e.Questions, 0), "%+v", e)
		})
		synctest.Wait()
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err := g.Do(gone, work())
		_ = wantCode(t, err, aai.Timeout)
		begun := time.Now()
		_, err = g.Do(t.Context(), work())
		e := wantCode(t, err, aai.ConsentRequired)
		assert.Check(t, e.RetryAfter != 0, "%+v", e)
		assert.Check(t, e.Needs != nil, "%+v", e)
		took := time.Since(begun)
		assert.Check(t, took == 2*time.Minute, "it waited %s for its turn", took)
		wg.Wait()
	})
}

// TestNobodyCanBeAsked: without a dialog only the refusal is recorded, and it is durable only if
// a door is to ask.
func TestNobodyCanBeAsked(t *testing.T) {
	gate := newGate(func(*aai.Request) ([]aai.Question, error) {
		return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog, aai.Client}}}, nil
	})
	for _, asks := range []bool{false, true} {
		g := openTo(gate, noScreen{}, nil)
		w := g.Journal.(*world)
		_, err := g.Do(aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{CanAsk: asks}), work())
		e := wantCode(t, err, aai.ConsentRequired)
		assert.Check(t, is.Len(e.Questions, 1), "%+v", e)
		if e := w.entryOf(t, aai.Outcome); w.story() != "find false, outcome true" || e.Durable != asks {
			t.Errorf("a client that asks: %v: %s, durable %v", asks, w.story(), e.Durable)
		}
	}
}

// TestWindowsThatFail: if the dialog cannot show a window, the gates check again, since they may
// have another channel.
func TestWindowsThatFail(t *testing.T) {
	ways := []aai.Channel{aai.DesktopDialog}
	gate := newGate(func(*aai.Request) ([]aai.Question, error) {
		return []aai.Question{{ID: "q", Channels: ways}}, nil
	})
	g := openTo(gate, asker(func(context.Context, aai.Question) (aai.Answer, error) {
		ways = []aai.Channel{aai.DesktopDialog, aai.Terminal}
		return aai.Answer{}, errors.New("zenity ended with code 255")
	}), nil)
	_, err := g.Do(t.Context(), work())
	e := wantCode(t, err, aai.ConsentRequired)
	assert.Assert(t, is.Len(e.Questions, 1))
	assert.Assert(t, e.Questions[0].AllowsChannel(aai.Terminal), "%+v", e.Questions)
}

// noScreen is a dialog without a screen.
type noScreen struct{}

func (noScreen) Ready(context.Context) error { return errors.New("no screen") }
func (noScreen) Ask(context.Context, aai.Question) (aai.Answer, error) {
	return aai.Answer{}, errors.New("asked without a screen")
}

// TestCancelledWhileAsked: a caller that cancels during a question gets an error, which is
// recorded.
func TestCancelledWhileAsked(t *testing.T) {
	gate := newGate(func(*aai.Request) ([]aai.Question, error) {
		return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}}}, nil
	})
	for _, said := range []error{errors.New("killed"), aai.Errorf(aai.ConsentRequired, "nobody answered")} {
		ctx, cancel := context.WithCancel(t.Context())
		g := openTo(gate, asker(func(ctx context.Context, _ aai.Question) (aai.Answer, error) {
			cancel()
			<-ctx.Done()
			return aai.Answer{}, said
		}), nil)
		_, err := g.Do(ctx, work())
		e := wantCode(t, err, aai.AutomationFailed)
		assert.Assert(t, is.Contains(e.Message, "cancelled"), "%+v", e)
		assert.Assert(t, e.RetrySafe(), "%+v", e)
	}
}

// A question that is rather for the client goes there where the client can put
// it, and is put in a dialog where it cannot.
func TestClientFirst(t *testing.T) {
	q := aai.Question{ID: "q", Channels: []aai.Channel{aai.Client, aai.DesktopDialog}}
	gate := newGate(func(r *aai.Request) ([]aai.Question, error) {
		if len(r.Call.Answers) > 0 {
			return nil, nil
		}
		return []aai.Question{q}, nil
	})
	g := openTo(gate, asker(func(context.Context, aai.Question) (aai.Answer, error) { return aai.Answer{Choice: "yes"}, nil }), nil)
	if _, err := g.Do(t.Context(), work()); err != nil {
		t.Error(err)
	}
	_, err := g.Do(aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{CanAsk: true}), work())
	e := wantCode(t, err, aai.ConsentRequired)
	assert.Check(t, is.Len(e.Questions, 1), "%+v", e)
	q.Channels = []aai.Channel{aai.DesktopDialog, aai.Client}
	_, err = g.Do(aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{CanAsk: true}), work())
	assert.Check(t, err)
}

// TestDialogsThatFail: a final error of the dialog reaches the caller; if no dialog could be
// shown, the question stays open.
func TestDialogsThatFail(t *testing.T) {
	gate := newGate(func(*aai.Request) ([]aai.Question, error) {
		return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}}}, nil
	})
	for name, c := range map[string]struct {
		err       error
		questions int
		message   string
	}{
		"final": {aai.Errorf(aai.ConsentRequired, "nobody answered"), 0, "nobody answered"},
		"other": {errors.New("no screen"), 1, "a person must allow mcp:a to use work of org.example.App first"},
	} {
		t.Run(name, func(t *testing.T) {
			g := openTo(gate, asker(func(context.Context, aai.Question) (aai.Answer, error) { return aai.Answer{}, c.err }), nil)
			_, err := g.Do(t.Context(), work())
			e := wantCode(t, err, aai.ConsentRequired)
			assert.Assert(t, is.Len(e.Questions, c.questions), "%+v", e)
			assert.Equal(t, e.Message, c.message, "%+v", e)
			want := aai.Needs{
				App: "org.example.App", AppName: "An app", Tool: "work", Description: "Works.",
				URL: "aai://consent?app=org.example.App&tool=work",
			}
			assert.DeepEqual(t, e.Needs, &want)
		})
	}
}

func TestDigestOf(t *testing.T) {
	app := &aai.App{Digest: "app", Tools: []*aai.Tool{{Name: "one", Implementation: aai.Implementation{Digest: func() string { return "one's" }}}, {Name: "two"}}}
	for permission, want := range map[string]string{"one": "one's", "two": "app", "see": "app", "": "app"} {
		assert.Check(t, is.Equal(app.DigestOf(permission), want), "%q", permission)
	}
}

// TestAskedAnew: only calls at the person's own page ignore a recent refusal: no agent's call,
// none at a terminal, which may be an agent's shell, and no nested call. The dialog receives the caller's
// identity.
func TestAskedAnew(t *testing.T) {
	var anew []bool
	var by string
	var g *gateway.Gateway
	ask := newGate(func(r *aai.Request) ([]aai.Question, error) {
		if len(r.Call.Answers) > 0 {
			return nil, nil
		}
		return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.DesktopDialog}, Choices: []aai.Choice{{ID: "no"}, {ID: "yes"}}, IgnoreRecentRefusal: true, CallerIdentity: "forged"}}, nil
	})
	g = openTo(ask, asker(func(_ context.Context, q aai.Question) (aai.Answer, error) {
		anew, by = append(anew, q.IgnoreRecentRefusal), q.CallerIdentity
		return aai.Answer{Choice: "yes", Channel: aai.DesktopDialog}, nil
	}), func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		if len(anew) > 1 {
			return &aai.Result{}, nil
		}
		inner := work()
		inner.Caller = call.Caller
		return g.Do(ctx, inner)
	})
	for identity, want := range map[string]bool{aai.IdentityPage: true, aai.IdentityTerminal: false, "/usr/bin/agent": false, "": false} {
		anew = nil
		call := work()
		call.Caller.Identity = identity
		_, err := g.Do(t.Context(), call)
		assert.NilError(t, err, "%q", identity)
		assert.Assert(t, is.Len(anew, 2), "%q", identity)
		assert.Equal(t, by, identity)
		assert.Equal(t, anew[0], want, "%q", identity)
		assert.Assert(t, !anew[1], "%q: asked anew: %v, %v", identity, anew, err)
	}
}

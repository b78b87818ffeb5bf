package gateway_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// brakes is a StopChecker that stops every call, one caller's, or one call.
type brakes struct {
	mu  sync.Mutex
	all bool
	who string
	one string
}

func (b *brakes) set(f func(*brakes)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b)
}

func (b *brakes) CheckStopped(w gateway.CallScope) *aai.Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all || b.who != "" && w.Caller.Identity == b.who || b.one != "" && slices.Contains(w.CallIDs, b.one) {
		return aai.Errorf(aai.PermissionDenied, "the person has stopped it")
	}
	return nil
}

// wantStopped looks at how a call ended that a person stopped.
func wantStopped(t *testing.T, err error, delivery aai.Delivery) {
	t.Helper()
	e, is := errors.AsType[*aai.Error](err)
	if !is || e.Code != aai.PermissionDenied || !strings.Contains(e.Message, "the person has stopped it") || e.Delivery != delivery {
		t.Errorf("it ended with %+v, expected that it was stopped, %q", e, delivery)
	}
}

// until waits for something to be so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// TestStoppedAnywhere: a call can be stopped at every stage, and the error reports its delivery
// correctly.
func TestStoppedAnywhere(t *testing.T) {
	for name, c := range map[string]struct {
		run      string
		effect   aai.Effect
		delivery aai.Delivery
	}{
		"it obeys":           {obeys, aai.Changes, aai.DeliveryUnknown},
		"it obeys, destroys": {obeys, aai.Destroys, aai.DeliveryUnknown},
		"it ignores it":      {ignores, aai.Changes, aai.DeliveryUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := plain()
			s.Run, s.Effect = c.run, c.effect
			w := newWorld(s)
			defer close(w.forever)
			w.app.Tools[0].Limits.Timeout = time.Hour
			g, b := w.gateway(), &brakes{}
			g.Stops = b
			done := make(chan error, 1)
			go func() { _, err := g.Do(t.Context(), s.call()); done <- err }()
			until(t, "it runs", func() bool { return w.count("run") == 1 })
			b.set(func(b *brakes) { b.all = true })
			g.CancelStopped()
			wantStopped(t, <-done, c.delivery)
			if w.count(string(aai.Intent)) != 1 || w.count(string(aai.Outcome)) != 1 {
				t.Error(w.story())
			}
			_, err := g.Do(t.Context(), s.call())
			wantStopped(t, err, aai.NotDelivered)
			if w.count("find") != 1 || w.count("run") != 1 || w.count(string(aai.Intent)) != 1 {
				t.Errorf("a call came through: %s", w.story())
			}
			assert.Check(t, is.Len(g.Active(), 0), "under way are %+v", g.Active())
		})
	}
}

// TestStoppedTooLate: effects before the stop are reported.
func TestStoppedTooLate(t *testing.T) {
	w := newWorld(plain())
	g, b := w.gateway(), &brakes{}
	g.Stops = b
	w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		b.set(func(b *brakes) { b.all = true })
		g.CancelStopped()
		<-ctx.Done()
		return &aai.Result{Text: "done"}, nil
	}
	result, err := g.Do(t.Context(), plain().call())
	assert.NilError(t, err, "%+v", result)
	assert.Equal(t, result.Text, "done", "%+v", result)
}

// TestStoppedAtTheIntent: a stop takes effect either before or after the intent; before it,
// nothing is written or run.
func TestStoppedAtTheIntent(t *testing.T) {
	s := plain()
	s.Effect = aai.Changes
	w := newWorld(s)
	g, b := w.gateway(), &brakes{}
	g.Stops, g.Journal = b, stopsFirst{w, b}
	_, err := g.Do(t.Context(), s.call())
	wantStopped(t, err, aai.NotDelivered)
	if w.count(string(aai.Intent)) != 0 || w.count("run") != 0 || w.count(string(aai.Outcome)) != 1 {
		t.Error(w.story())
	}
	b.set(func(b *brakes) { b.all = false })
	g.Journal = w
	_, err = g.Do(t.Context(), s.call())
	assert.Check(t, err, "the journal is doubted because of a stop: %v", err)
	if w.count(string(aai.Received)) != 0 {
		t.Errorf("the journal is tried because of a stop: %s", w.story())
	}
}

// stopsFirst is a journal where the stop comes just before an intent.
type stopsFirst struct {
	*world
	brakes *brakes
}

func (j stopsFirst) Record(ctx context.Context, e *aai.Entry) error {
	if e.Kind == aai.Intent {
		j.brakes.set(func(b *brakes) { b.all = true })
	}
	return j.world.Record(ctx, e)
}

// TestStoppedWhileItWaits: a queued call, and one with an open question, end at once.
func TestStoppedWhileItWaits(t *testing.T) {
	s := plain()
	s.Run, s.Effect = obeys, aai.Changes
	w := newWorld(s)
	w.app.PID, w.app.Tools[0].Limits.Timeout = 4242, time.Hour
	g, b := w.gateway(), &brakes{}
	g.Stops = b
	calls := make(chan error, 2)
	for _, id := range []string{"first", "second"} {
		call := s.call()
		call.ID = id
		go func() { _, err := g.Do(t.Context(), call); calls <- err }()
		until(t, id, func() bool {
			return slices.ContainsFunc(g.Active(), func(u gateway.ActiveCall) bool {
				return u.Call == id && (u.Stage == gateway.StageActing && w.count("run") == 1 || u.Stage == gateway.StageQueueing)
			})
		})
	}
	b.set(func(b *brakes) { b.one = "second" })
	g.CancelStopped()
	wantStopped(t, <-calls, aai.NotDelivered)
	under := g.Active()
	assert.Assert(t, is.Len(under, 1))
	assert.Equal(t, under[0].Call, "first")
	b.set(func(b *brakes) { b.all = true })
	g.CancelStopped()
	wantStopped(t, <-calls, aai.DeliveryUnknown)
}

// patient is a dialog that shows its question until the caller leaves.
type patient struct{ shown, closed chan struct{} }

func (p patient) Ask(ctx context.Context, _ aai.Question) (aai.Answer, error) {
	close(p.shown)
	<-ctx.Done()
	close(p.closed)
	return aai.Answer{}, ctx.Err()
}

func TestStoppedWhileThePersonIsAsked(t *testing.T) {
	s := plain()
	s.Gates = []string{asks}
	w := newWorld(s)
	g, b, d := w.gateway(), &brakes{}, patient{make(chan struct{}), make(chan struct{})}
	g.Stops, g.Dialog = b, d
	done := make(chan error, 1)
	go func() { _, err := g.Do(t.Context(), s.call()); done <- err }()
	<-d.shown
	under := g.Active()
	assert.Assert(t, is.Len(under, 1))
	assert.Equal(t, under[0].Stage, gateway.StageAsking)
	b.set(func(b *brakes) { b.who = s.call().Caller.Identity })
	if s.call().Caller.Identity == "" {
		b.set(func(b *brakes) { b.all = true })
	}
	g.CancelStopped()
	wantStopped(t, <-done, aai.NotDelivered)
	<-d.closed
}

// TestStoppedWithin: stopping a call stops its nested calls and no others; an Action of many
// steps ends between two.
func TestStoppedWithin(t *testing.T) {
	w := newWorld(plain())
	g, b := w.gateway(), &brakes{}
	g.Stops = b
	inside, strokes := make(chan error, 1), make(chan error, 2)
	outer := *w.app.Tools[0]
	outer.Name, outer.Assess = "outer", aai.Always(aai.Assessment{OnlyMakesCalls: true})
	outer.Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		strokes <- actionctx.CheckStopped(ctx)
		b.set(func(b *brakes) { b.one = "outer" })
		_, err := g.Do(context.WithoutCancel(ctx), &aai.Call{App: w.app.ID, Tool: "work"})
		inside <- err
		strokes <- actionctx.CheckStopped(ctx)
		return nil, aai.AsError(err)
	}
	w.app.Tools = append(w.app.Tools, &outer)
	call := plain().call()
	call.ID, call.Tool = "outer", "outer"
	_, err := g.Do(t.Context(), call)
	e, is := errors.AsType[*aai.Error](err)
	if !is || e.Code != aai.PermissionDenied {
		t.Errorf("the outer call ended with %v", err)
	}
	wantStopped(t, <-inside, aai.NotDelivered)
	if err := <-strokes; err != nil {
		t.Errorf("before the stop: %v", err)
	}
	wantStopped(t, <-strokes, aai.NotDelivered)
	if _, err := g.Do(t.Context(), plain().call()); err != nil {
		t.Errorf("a call beside it: %v", err)
	}
	if err := actionctx.CheckStopped(context.Background()); err != nil {
		t.Errorf("outside of a call: %v", err)
	}
}

// mutationRecorder is an observer that notes the number of recorded outcomes at each mutation.
type mutationRecorder struct {
	w     *world
	told  []*gateway.Mutation
	after []int
	ctx   context.Context
	fails bool
}

func (d *mutationRecorder) ObserveMutation(ctx context.Context, deed *gateway.Mutation) {
	d.told, d.after, d.ctx = append(d.told, deed), append(d.after, d.w.count(string(aai.Outcome))), ctx
	if d.fails {
		panic("the log is broken")
	}
}

// doing makes one call of the tool and returns the observed mutations.
func doing(t *testing.T, change func(*aai.Tool), run aai.Action) *mutationRecorder {
	t.Helper()
	w := newWorld(plain())
	heard := &mutationRecorder{w: w}
	g := w.gateway()
	g.MutationObserver = heard
	tool := w.app.Tools[0]
	tool.Run = run
	change(tool)
	ctx, stop := context.WithCancel(context.WithValue(t.Context(), told{}, "kept"))
	defer stop()
	_, _ = g.Do(ctx, plain().call())
	return heard
}

type told struct{}

func TestMutationsAreReported(t *testing.T) {
	back := &aai.Undo{Description: "as before"}
	hit := aai.TargetElement{Role: "button", Name: "Save", AllText: "Save all"}
	heard := doing(t, func(tool *aai.Tool) { tool.Effect = aai.Changes }, func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		if err := gateway.ReportTargetElement(ctx, hit); err != nil {
			return nil, err
		}
		return &aai.Result{Undo: back}, nil
	})
	assert.Assert(t, is.Len(heard.told, 1), heard.after)
	assert.Equal(t, heard.after[0], 1, heard.after)
	d := heard.told[0]
	assert.Equal(t, d.Undo, back, "%+v", d)
	assert.Equal(t, d.App, "org.example.App", "%+v", d)
	assert.Equal(t, d.Tool, "work", "%+v", d)
	assert.Equal(t, d.Target, d.App, "%+v", d)
	assert.Assert(t, d.Call != "", "%+v", d)
	assert.Assert(t, !d.Time.IsZero(), "%+v", d)
	assert.Assert(t, d.Code == "", "%+v", d)
	assert.Equal(t, d.Element, (aai.TargetElement{Role: "button", Name: "Save"}), "%+v", d)
	assert.Equal(t, d.Caller, plain().call().Caller, "%+v", d)
	assert.Check(t, is.Equal(heard.ctx.Value(told{}), "kept"))
	assert.Check(t, heard.ctx.Err())
}

func TestWhatMayHaveHappenedIsTold(t *testing.T) {
	without := func(*aai.Tool) {}
	for name, c := range map[string]struct {
		change func(*aai.Tool)
		run    aai.Action
		want   []aai.Code
	}{
		"a read":           {func(tool *aai.Tool) { tool.Effect = aai.Reads }, func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }, nil},
		"only makes calls": {func(tool *aai.Tool) { tool.Assess = aai.Always(aai.Assessment{OnlyMakesCalls: true}) }, func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }, nil},
		"refused": {func(tool *aai.Tool) {
			tool.Params.Check = func(any) (any, error) { return nil, aai.Errorf(aai.InvalidParams, "no") }
		}, func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }, nil},
		"not delivered": {without, func(context.Context, *aai.Call) (*aai.Result, error) {
			return nil, &aai.Error{Code: aai.AppNotRunning, Delivery: aai.NotDelivered}
		}, nil},
		"delivered": {without, func(context.Context, *aai.Call) (*aai.Result, error) {
			return &aai.Result{Undo: &aai.Undo{}}, &aai.Error{Code: aai.AppNotRunning, Delivery: aai.Delivered}
		}, []aai.Code{aai.AppNotRunning}},
		"failed":        {without, func(context.Context, *aai.Call) (*aai.Result, error) { return nil, errors.New("broken") }, []aai.Code{aai.AutomationFailed}},
		"panicked":      {without, func(context.Context, *aai.Call) (*aai.Result, error) { panic("broken") }, []aai.Code{aai.Internal}},
		"nothing to do": {without, func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{NoOp: true}, nil }, nil},
		"well":          {without, func(context.Context, *aai.Call) (*aai.Result, error) { return nil, nil }, []aai.Code{""}},
	} {
		t.Run(name, func(t *testing.T) {
			heard := doing(t, c.change, c.run)
			assert.Assert(t, is.Len(heard.told, len(c.want)))
			for i, d := range heard.told {
				assert.Check(t, is.Equal(d.Code, c.want[i]), "%+v", d)
				assert.Check(t, d.Undo == nil, "%+v", d)
			}
		})
	}
}

// TestAnActThatHangsIsTold: a mutation with an Action that does not end is reported once.
func TestAnActThatHangsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := doing(t, func(*aai.Tool) {}, func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			<-ctx.Done()
			<-t.Context().Done() // late
			return &aai.Result{Undo: &aai.Undo{}}, nil
		})
		assert.Assert(t, is.Len(heard.told, 1))
		assert.Equal(t, heard.told[0].Code, aai.Timeout)
	})
}

func TestALogThatPanicsTakesNothingWithIt(t *testing.T) {
	w := newWorld(plain())
	g := w.gateway()
	g.MutationObserver = &mutationRecorder{w: w, fails: true}
	_, err := g.Do(t.Context(), plain().call())
	assert.Check(t, err)
}

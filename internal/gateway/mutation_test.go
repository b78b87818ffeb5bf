package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

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
	if len(heard.told) != 1 || heard.after[0] != 1 {
		t.Fatalf("told %v, with %v outcomes on record", heard.told, heard.after)
	}
	d := heard.told[0]
	if d.Undo != back || d.App != "org.example.App" || d.Tool != "work" || d.Target != d.App || d.Call == "" || d.Time.IsZero() || d.Code != "" ||
		d.Element != (aai.TargetElement{Role: "button", Name: "Save"}) || d.Caller != plain().call().Caller {
		t.Errorf("%+v", d)
	}
	if heard.ctx.Value(told{}) != "kept" || heard.ctx.Err() != nil {
		t.Error("another context")
	}
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
			if len(heard.told) != len(c.want) {
				t.Fatalf("told %v", heard.told)
			}
			for i, d := range heard.told {
				if d.Code != c.want[i] || d.Undo != nil {
					t.Errorf("%+v", d)
				}
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
		if len(heard.told) != 1 || heard.told[0].Code != aai.Timeout {
			t.Errorf("told %v", heard.told)
		}
	})
}

func TestALogThatPanicsTakesNothingWithIt(t *testing.T) {
	w := newWorld(plain())
	g := w.gateway()
	g.MutationObserver = &mutationRecorder{w: w, fails: true}
	if _, err := g.Do(t.Context(), plain().call()); err != nil {
		t.Error(err)
	}
}

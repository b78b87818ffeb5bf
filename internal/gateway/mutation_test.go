package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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

package gateway_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// windows returns a gateway with an app that operates the windows of others.
func windows(effect aai.Effect, targets func(context.Context, *aai.Call, string) (*aai.App, error)) (*gateway.Gateway, *seer, *world) {
	s := plain()
	s.Effect, s.Target = effect, "any"
	w := newWorld(s)
	w.app.Operator = fakeoperator.Operator{Find: targets}
	g, see := w.gateway(), &seer{}
	g.Gates = []aai.Gate{see}
	return g, see, w
}

func TestAnAppFindsItsOwnTargets(t *testing.T) {
	editor := &aai.App{ID: "desktop/editor", Digest: "of the editor", PID: 7}
	find := func(_ context.Context, call *aai.Call, name string) (*aai.App, error) {
		assert.Check(t, is.Equal(name, "Editor"), "%+v", call)
		assert.Check(t, is.Equal(call.Tool, "work"), "%+v", call)
		return editor, nil
	}
	for effect, permission := range map[aai.Effect]string{
		aai.Reads: aai.PermissionSee, aai.Changes: aai.PermissionAct, aai.Destroys: aai.PermissionAct,
	} {
		g, see, w := windows(effect, find)
		call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}}
		_, err := g.Do(t.Context(), call)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(see.saw.Call.Target, editor), effect)
		assert.Check(t, is.Equal(see.saw.Permission(), permission), effect)
		assert.Check(t, is.Equal(see.saw.Digest(), "of the editor"), effect)
		kind := aai.Intent
		if effect == aai.Reads {
			kind = aai.Outcome
		}
		e := w.entryOf(t, kind)
		assert.Check(t, is.Equal(e.Target, "desktop/editor"), "%+v", e)
		assert.Check(t, is.Equal(e.Digest, "of the editor"), "%+v", e)
	}
}

// TestATargetWithoutAProcessIsToBeStarted: starting it needs a separate permission.
func TestATargetWithoutAProcessIsToBeStarted(t *testing.T) {
	for _, effect := range []aai.Effect{aai.Reads, aai.Changes, aai.Destroys} {
		g, see, _ := windows(effect, func(context.Context, *aai.Call, string) (*aai.App, error) {
			return &aai.App{ID: "desktop/editor", Digest: "of the editor"}, nil
		})
		call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}}
		_, err := g.Do(t.Context(), call)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(see.saw.Permission(), aai.PermissionStart), effect)
	}
}

func TestWithoutATargetItIsTheWholeScreen(t *testing.T) {
	g, see, w := windows(aai.Reads, func(context.Context, *aai.Call, string) (*aai.App, error) {
		t.Error("asked for a target that nobody named")
		return nil, nil
	})
	_, err := g.Do(t.Context(), &aai.Call{App: "org.example.App", Tool: "work"})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(see.saw.Call.Target, w.app))
}

func TestATargetThatIsNotFoundIsRefused(t *testing.T) {
	question := aai.Question{ID: "app", Title: "Which?"}
	for name, c := range map[string]struct {
		app  *aai.App
		err  error
		want aai.Code
	}{
		"nothing and no error": {nil, nil, aai.AppNotFound},
		"an error":             {nil, aai.Errorf(aai.AppNotRunning, "it ended"), aai.AppNotRunning},
		"a question":           {nil, &aai.Error{Code: aai.AmbiguousTarget, Questions: []aai.Question{question}}, aai.AmbiguousTarget},
	} {
		t.Run(name, func(t *testing.T) {
			g, see, _ := windows(aai.Reads, func(context.Context, *aai.Call, string) (*aai.App, error) { return c.app, c.err })
			call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}}
			_, err := g.Do(t.Context(), call)
			e := wantCode(t, err, c.want)
			assert.Check(t, see.saw == nil, "a gate was asked about a call without a target")
			assert.Check(t, c.want != aai.AmbiguousTarget || len(e.Questions) == 1, "the question was lost")
		})
	}
}

func TestTheActionKnowsItsTarget(t *testing.T) {
	editor := &aai.App{ID: "desktop/editor"}
	g, _, w := windows(aai.Reads, func(context.Context, *aai.Call, string) (*aai.App, error) { return editor, nil })
	var got *aai.App
	w.app.Tools[0].Run = func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		got = call.Target
		return &aai.Result{}, nil
	}
	forged := &aai.App{ID: "desktop/mail"}
	call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}, Target: forged}
	_, err := g.Do(t.Context(), call)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, editor))
	assert.Check(t, is.Equal(call.Target, forged))
}

func TestPermissionOfADeclaredTool(t *testing.T) {
	s := plain()
	w := newWorld(s)
	g, see := w.gateway(), &seer{}
	g.Gates = []aai.Gate{see}
	_, err := g.Do(t.Context(), s.call())
	assert.NilError(t, err)
	assert.Check(t, is.Equal(see.saw.Permission(), "work"))
	assert.Check(t, is.Equal(see.saw.Digest(), "d1"))
}

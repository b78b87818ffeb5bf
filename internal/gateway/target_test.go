package gateway_test

import (
	"context"
	"testing"

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
		if name != "Editor" || call.Tool != "work" {
			t.Errorf("asked for %q by %+v", name, call)
		}
		return editor, nil
	}
	for effect, permission := range map[aai.Effect]string{
		aai.Reads: aai.PermissionSee, aai.Changes: aai.PermissionAct, aai.Destroys: aai.PermissionAct,
	} {
		g, see, w := windows(effect, find)
		call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}}
		if _, err := g.Do(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if see.saw.Call.Target != editor || see.saw.Permission() != permission || see.saw.Digest() != "of the editor" {
			t.Errorf("%s: the gate saw target %v, permission %s, digest %s", effect, see.saw.Call.Target, see.saw.Permission(), see.saw.Digest())
		}
		kind := aai.Intent
		if effect == aai.Reads {
			kind = aai.Outcome
		}
		if e := w.entryOf(t, kind); e.Target != "desktop/editor" || e.Digest != "of the editor" {
			t.Errorf("on record: %+v", e)
		}
	}
}

// TestATargetWithoutAProcessIsToBeStarted: starting it needs a separate permission.
func TestATargetWithoutAProcessIsToBeStarted(t *testing.T) {
	for _, effect := range []aai.Effect{aai.Reads, aai.Changes, aai.Destroys} {
		g, see, _ := windows(effect, func(context.Context, *aai.Call, string) (*aai.App, error) {
			return &aai.App{ID: "desktop/editor", Digest: "of the editor"}, nil
		})
		call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}}
		if _, err := g.Do(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if got := see.saw.Permission(); got != aai.PermissionStart {
			t.Errorf("%s: the permission is %s", effect, got)
		}
	}
}

func TestWithoutATargetItIsTheWholeScreen(t *testing.T) {
	g, see, w := windows(aai.Reads, func(context.Context, *aai.Call, string) (*aai.App, error) {
		t.Error("asked for a target that nobody named")
		return nil, nil
	})
	if _, err := g.Do(t.Context(), &aai.Call{App: "org.example.App", Tool: "work"}); err != nil {
		t.Fatal(err)
	}
	if see.saw.Call.Target != w.app {
		t.Errorf("the target is %v", see.saw.Call.Target)
	}
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
			if see.saw != nil {
				t.Error("a gate was asked about a call without a target")
			}
			if c.want == aai.AmbiguousTarget && len(e.Questions) != 1 {
				t.Error("the question was lost")
			}
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
	if _, err := g.Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if got != editor || call.Target != forged {
		t.Errorf("the action got %v, and the caller's call says %v", got, call.Target)
	}
}

func TestPermissionOfADeclaredTool(t *testing.T) {
	s := plain()
	w := newWorld(s)
	g, see := w.gateway(), &seer{}
	g.Gates = []aai.Gate{see}
	if _, err := g.Do(t.Context(), s.call()); err != nil {
		t.Fatal(err)
	}
	if see.saw.Permission() != "work" || see.saw.Digest() != "d1" {
		t.Errorf("permission %q, digest %q", see.saw.Permission(), see.saw.Digest())
	}
}

package gateway_test

import (
	"context"
	"strings"
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

// A destructiveGate asks about elements with text about deletion, and notes the elements it
// judged.
type destructiveGate struct{ judged []string }

func (l *destructiveGate) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	hit := r.ResolveTarget(ctx)
	l.judged = append(l.judged, hit.AllText)
	r.Destructive = strings.Contains(hit.AllText, "Delete")
	if _, answered := r.Call.Answers["loss"]; !r.Destructive || r.AdmittedPermission == r.Permission() || answered {
		return nil, nil
	}
	return []aai.Question{{ID: "loss", Title: hit.String(), Channels: []aai.Channel{aai.DesktopDialog}}}, nil
}

// newTargetGateway returns a gateway with a gate that sees one element and an Action that acts on
// another.
func newTargetGateway(seen, hit aai.TargetElement) (g *gateway.Gateway, w *world, gate *destructiveGate, acted *bool) {
	acted = new(bool)
	g, w = inLanes(func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		if err := gateway.ReportTargetElement(ctx, hit); err != nil {
			return nil, err
		}
		*acted = true
		return &aai.Result{}, nil
	}, program("a", nil))
	w.app.Operator = fakeoperator.Operator{
		Find:    w.app.Operator.FindTarget,
		Resolve: func(context.Context, *aai.Call) aai.TargetElement { return seen },
	}
	gate = &destructiveGate{}
	g.Gates = []aai.Gate{gate}
	return g, w, gate, acted
}

func button(name string) aai.TargetElement {
	return aai.TargetElement{Role: "button", Name: name, Window: "Notes", AllText: name}
}

// TestWhatIsHitIsJudgedAgain: an element that differs from the judged one is judged before the
// action, and no person is asked.
func TestWhatIsHitIsJudgedAgain(t *testing.T) {
	for _, c := range []struct {
		seen, hit aai.TargetElement
		acts      bool
	}{
		{button("Save"), button("Save"), true},
		{button("Save"), button("Save as"), true},
		{aai.TargetElement{}, button("Save"), true},
		{button("Save"), button("Delete"), false},
		{aai.TargetElement{}, button("Delete"), false},
	} {
		g, w, gate, acted := newTargetGateway(c.seen, c.hit)
		_, err := g.Do(t.Context(), on("a"))
		e := aai.AsError(err)
		assert.Check(t, is.Equal((e == nil), c.acts), "%s %s %v", c.seen, c.hit, err)
		assert.Check(t, is.Equal(*acted, c.acts), "%s %s %v", c.seen, c.hit, err)
		assert.Check(t, e == nil || e.Code == aai.ConsentRequired && e.Delivery == aai.NotDelivered && strings.Contains(e.Message, c.hit.String()) && len(e.Questions) <= 0 && e.Needs != nil && e.Needs.Tool == aai.PermissionDestroy, "%+v", e)
		again := c.seen != c.hit
		assert.Check(t, is.Equal((len(gate.judged) == 2), again), "%q", gate.judged)
		assert.Check(t, is.Equal(gate.judged[len(gate.judged)-1], c.hit.AllText), "%q", gate.judged)
		intent, outcome := w.entryOf(t, aai.Intent).Element, w.entryOf(t, aai.Outcome).Element
		kept := func(h aai.TargetElement) aai.TargetElement { h.AllText = ""; return h }
		assert.Check(t, is.Equal(intent, kept(c.seen)))
		assert.Check(t, is.Equal(outcome, kept(c.hit)))
	}
}

// TestAYesIsToWhatWasNamed: consent to delete one element does not cover another.
func TestAYesIsToWhatWasNamed(t *testing.T) {
	for hit, acts := range map[aai.TargetElement]bool{button("Delete draft"): true, button("Delete account"): false} {
		g, _, _, acted := newTargetGateway(button("Delete draft"), hit)
		call := on("a")
		call.Answers = map[string]aai.Answer{"loss": {Choice: "once"}}
		_, err := g.Do(t.Context(), call)
		assert.Check(t, is.Equal((err == nil), acts), "%s %v", hit, err)
		assert.Check(t, is.Equal(*acted, acts), "%s %v", hit, err)
	}
}

// An actor is a gate that asks about all actions, before destruction is judged.
type actor struct{}

func (actor) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Call.Answers["act"].Choice == "once" {
		return nil, nil
	}
	return []aai.Question{{ID: "act", Channels: []aai.Channel{aai.DesktopDialog}}}, nil
}

// TestAYesToAnything: consent to an unknown element covers the actual one, but no destruction;
// consent to a known element covers no other.
func TestAYesToAnything(t *testing.T) {
	for _, c := range []struct {
		seen, hit aai.TargetElement
		acts      bool
	}{
		{aai.TargetElement{}, button("Save"), true},
		{aai.TargetElement{AllText: "Save"}, button("Save"), true},
		{aai.TargetElement{}, button("Delete"), false},
		{button("Save"), button("Send"), false},
		{aai.TargetElement{Role: "button", Name: "OK", AllText: "OK 1 of 2"}, aai.TargetElement{Role: "button", Name: "OK", AllText: "OK 2 of 2"}, true},
		{aai.TargetElement{Role: "button", Name: "OK", AllText: "OK"}, aai.TargetElement{Role: "button", Name: "OK", AllText: "OK Delete"}, false},
	} {
		g, _, gate, acted := newTargetGateway(c.seen, c.hit)
		g.Gates = []aai.Gate{actor{}, gate}
		call := on("a")
		call.Answers = map[string]aai.Answer{"act": {Choice: "once"}}
		_, err := g.Do(t.Context(), call)
		assert.Check(t, is.Equal((err == nil), c.acts), "%s %s %v", c.seen, c.hit, err)
		assert.Check(t, is.Equal(*acted, c.acts), "%s %s %v", c.seen, c.hit, err)
	}
}

// TestNamesOfThingsStay: values set in windows are never recorded, and names of elements that
// contain a short one by chance stay complete.
func TestNamesOfThingsStay(t *testing.T) {
	for value, want := range map[string]string{
		"form": `button "Name of form 1" in "Sign-up form"`, "1": `button "Name of form 1" in "Sign-up form"`,
		"0815": `button "Name of form 1" in "Sign-up form for [secret]"`,
		"Go":   `button "[secret]" in "Sign-up form"`, "Sign-up": `button "Name of form 1" in "[secret] form"`, "Name of form 1": `button "[secret]" in "Sign-up form"`,
	} {
		hit := button("Name of form 1")
		switch hit.Window = "Sign-up form"; value {
		case "0815":
			hit.Window += " for 0815"
		case "Go":
			hit.Name = value
		}
		g, w, _, _ := newTargetGateway(aai.TargetElement{}, hit)
		w.app.Tools[0].Privacy.Secret = []string{"password"}
		call := on("a")
		call.Args["password"] = value
		_, err := g.Do(t.Context(), call)
		assert.NilError(t, err)
		got := w.entryOf(t, aai.Outcome).Element.String()
		assert.Check(t, is.Equal(got, want), "%q was set: on record is %s, want %s", value, got, want)
	}
}

// TestShortSecretsOfOtherApps: only values set in windows can be too short to be secret; other
// apps' secrets are redacted within any name.
func TestShortSecretsOfOtherApps(t *testing.T) {
	w := newWorld(plain())
	w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		return &aai.Result{}, gateway.ReportTargetElement(ctx, button("Reformat"))
	}
	call := w.call()
	call.Args = map[string]any{"password": "form"}
	_, err := w.gateway().Do(t.Context(), call)
	assert.NilError(t, err)
	got := w.entryOf(t, aai.Outcome).Element
	assert.Check(t, is.Equal(got.Name, "Re[secret]at"), "on record is %v", got)
}

// TestOnRecordWithoutSecrets: the target element may repeat arguments.
func TestOnRecordWithoutSecrets(t *testing.T) {
	g, w, _, _ := newTargetGateway(aai.TargetElement{}, button("Say "+secretValue))
	w.app.Tools[0].Privacy.Secret = []string{"password"}
	call := on("a")
	call.Args["password"] = secretValue
	_, err := g.Do(t.Context(), call)
	assert.NilError(t, err)
	got := w.entryOf(t, aai.Outcome).Element
	assert.Assert(t, !strings.Contains(got.Name, secretValue), "on record is %v", got)
	assert.Assert(t, strings.HasPrefix(got.Name, "Say "), "on record is %v", got)
}

// dryRunGate is a gate that admits one app, asks about another, keeps something for
// each call, and refuses the rest.
type dryRunGate struct{ kept, released int }

func (s *dryRunGate) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if !r.HasReservation(s) {
		s.kept++
		r.Reserve(s, func() { s.released++ })
	}
	switch r.Call.Target.ID {
	case "desktop/mail":
		return []aai.Question{{ID: "q", Title: "?"}}, nil
	case "desktop/vault":
		return nil, aai.Errorf(aai.PermissionDenied, "no")
	}
	return nil, nil
}

// TestCanSee: an Action learns the gates' decision about another app; no person is asked, and
// nothing is reserved.
func TestCanSee(t *testing.T) {
	g, _, w := windows(aai.Reads, func(context.Context, *aai.Call, string) (*aai.App, error) {
		return &aai.App{ID: "desktop/editor", PID: 7}, nil
	})
	gate := &dryRunGate{}
	g.Gates = []aai.Gate{gate}
	sees := map[string]bool{}
	for _, tool := range w.app.Tools {
		tool.Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			for _, id := range []string{"desktop/notes", "desktop/mail", "desktop/vault"} {
				sees[id] = gateway.CanSee(ctx, &aai.App{ID: id, PID: 8})
			}
			return &aai.Result{}, nil
		}
	}
	call := &aai.Call{App: "org.example.App", Tool: "work", Args: map[string]any{"app": "Editor"}, Answers: map[string]aai.Answer{"q": {Choice: "always"}}}
	_, err := g.Do(t.Context(), call)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(sees, 3))
	assert.Assert(t, sees["desktop/notes"], sees)
	assert.Assert(t, !sees["desktop/mail"], sees)
	assert.Assert(t, !sees["desktop/vault"], sees)
	assert.Check(t, is.Equal(gate.kept, 1))
	assert.Check(t, is.Equal(gate.released, 1))
	assert.Check(t, !gateway.CanSee(t.Context(), &aai.App{ID: "desktop/notes"}), "who makes no call sees")
}

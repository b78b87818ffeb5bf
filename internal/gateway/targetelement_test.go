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

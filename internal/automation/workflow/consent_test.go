package workflow_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

func copying() []any {
	return []any{
		step("get", documentObject{"name": "a"}),
		step("set", documentObject{"name": "b", "value": "{{step_1.value}}"}),
		step("set", documentObject{"name": "{{item}}", "value": "x"}, "for_each", []any{"c", "d"}),
	}
}

// The user answers once, before any step, about all steps; unknown values are shown as
// placeholders.
func TestAskedOnceAboutAll(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = "apple"
	w.before = func(q aai.Question) {
		assert.Check(t, is.Len(w.calls, 0), "asked after %v", w.calls)
	}
	_, err := w.does(t, copying()...)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(w.asked, 1), w.kept)
	assert.Equal(t, w.kept["b"], "apple", w.kept)
	assert.Equal(t, w.kept["d"], "x", w.kept)
	for _, part := range []string{"Call 1 of 3", "Call 3 of 3", `"‹value of step 1›"`, `‹each of [\"c\",\"d\"]›`} {
		assert.Check(t, is.Contains(strings.ReplaceAll(w.asked[0].Text, "\n↳ ", ""), part), w.asked[0].Text)
	}
}

// A refusal covers all steps.
func TestNo(t *testing.T) {
	w := newWorld(t)
	w.answer = "deny"
	_, err := w.does(t, copying()...)
	if e := aai.AsError(err); e == nil || e.Code != aai.PermissionDenied || !strings.Contains(e.Message, "nothing was run") || len(w.calls) > 0 || len(w.asked) != 1 {
		t.Errorf("%v, ran %v, asked %d", err, w.calls, len(w.asked))
	}
}

// A door that asks the question itself repeats the workflow with the answer, which applies to
// every call.
func TestAnsweredByTheClient(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = "apple"
	w.Dialog = nil
	w.Gates[3] = policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(t.TempDir() + "/c.json"), Elicitation: []string{agent().Identity}})
	call := &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName, Args: documentObject{"steps": copying()}}
	_, err := w.Do(t.Context(), call)
	e := aai.AsError(err)
	if e == nil || e.Code != aai.ConsentRequired || len(e.Questions) != 1 || !e.Questions[0].AllowsChannel(aai.Client) || len(w.calls) > 0 {
		t.Fatalf("%+v, ran %v", e, w.calls)
	}
	assert.Assert(t, is.Contains(e.Message, "step 1 (get): "), "%+v", e.Needs)
	assert.Assert(t, e.Needs != nil, "%s, needs %+v", e.Message, e.Needs)
	assert.Equal(t, e.Needs.App, shelfID, "%+v", e.Needs)
	q := e.Questions[0]
	call.Answers = map[string]aai.Answer{q.ID: {Choice: "once", Seal: q.Seal, Channel: aai.Client}}
	if _, err := w.Do(t.Context(), call); err != nil || w.kept["b"] != "apple" {
		t.Errorf("%v, kept %v", err, w.kept)
	}
	_, err = w.Do(t.Context(), call)
	assert.Check(t, aai.AsError(err) != nil, "one answer was good for two workflows")
}

// desk is a desktop with one program. The target of its tool click is in the query.
func (w *world) desk() {
	editor := &aai.App{ID: "desktop/editor", Name: "Editor", Digest: "e", PID: 7}
	click := &aai.Tool{Name: "ax_click", Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{EffectInherent: true, ElementParams: []string{"query"}}), Target: "app", Run: func(_ context.Context, c *aai.Call) (*aai.Result, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, "click "+c.Args["query"].(string))
		return nil, nil
	}}
	click.Params.Check, click.Params.Order = func(v any) (any, error) { return v, nil }, []string{"app", "query"}
	w.apps = append(w.apps, &aai.App{
		ID: aai.DesktopApp, Tools: append([]*aai.Tool{click}, w.DesktopTools()...),
		Operator: fakeoperator.Operator{Find: func(_ context.Context, _ *aai.Call, name string) (*aai.App, error) {
			if name != "Editor" {
				return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", name)
			}
			return editor, nil
		},
			Resolve: func(_ context.Context, c *aai.Call) aai.TargetElement {
				name, _ := c.Args["query"].(string)
				return aai.TargetElement{Role: "button", Name: name, AllText: name}
			}},
	})
	w.Gates = append(w.Gates[:3:3], risk.NewDestructiveMarker([]string{"delete"}), w.Gates[3])
}

func (w *world) windows(t *testing.T, steps ...any) error {
	t.Helper()
	_, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: workflow.DesktopToolName, Args: documentObject{"steps": steps}})
	return err
}

// If a step needs more than was allowed, the workflow stops before it and does not ask.
func TestMoreThanWasAllowed(t *testing.T) {
	for value, stops := range map[string]bool{"Save": false, "Delete all": true} {
		w := newWorld(t)
		w.desk()
		w.kept["what"] = value
		_, err := w.does(t,
			step("set", documentObject{"name": "a", "value": 1}),
			step("get", documentObject{"name": "what"}),
			documentObject{"tool": "ax_click", "args": documentObject{"app": "Editor", "query": "Menu"}},
			documentObject{"tool": "ax_click", "on_fail": "rollback", "args": documentObject{"app": "Editor", "query": "{{step_2.value}}"}},
			step("set", documentObject{"name": "after", "value": 1}),
		)
		e := aai.AsError(err)
		if !stops {
			if err != nil || w.kept["after"] == nil {
				t.Errorf("%s: %v, ran %v", value, err, w.calls)
			}
			continue
		}
		assert.Assert(t, e != nil, "%s %+v", value, e)
		assert.Equal(t, e.Code, aai.ConsentRequired, "%s %+v", value, e)
		assert.Assert(t, is.Len(e.Questions, 0), "%s %+v", value, e)
		assert.Assert(t, e.Needs != nil, "%s %+v", value, e)
		assert.Equal(t, e.Needs.Tool, aai.PermissionDestroy, "%s %+v", value, e)
		assert.Assert(t, is.Contains(e.Message, "step 4 of 5 (ax_click)"), "%s %+v", value, e)
		assert.Assert(t, !strings.Contains(strings.Join(w.calls, ","), "click Delete"), "%s: ran %v, kept %v", value, w.calls, w.kept)
		assert.Assert(t, w.kept["a"] == nil, "%s: ran %v, kept %v", value, w.calls, w.kept)
		assert.Assert(t, w.kept["after"] == nil, "%s: ran %v, kept %v", value, w.calls, w.kept)
	}
}

// The app of a step must be known, and exist, before the first step.
func TestTheAppMustBeKnown(t *testing.T) {
	for name, c := range map[string]struct{ app, says string }{
		"from a step": {"{{step_1.text}}", "step 2, app: expected a fixed app"},
		"missing":     {"Nothing", `step 2 (ax_click): there is no app "Nothing"`},
	} {
		w := newWorld(t)
		w.desk()
		err := w.windows(t, documentObject{"tool": "ax_click", "app": "Editor", "args": documentObject{"query": "x"}}, documentObject{"tool": "ax_click", "app": c.app, "args": documentObject{"query": "x"}})
		if err == nil || !strings.Contains(err.Error(), c.says) || len(w.calls)+len(w.asked) > 0 {
			t.Errorf("%s: %v, ran %v", name, err, w.calls)
		}
	}
}

// Desktop steps name the program beside the tool or in the arguments.
func TestWindows(t *testing.T) {
	w := newWorld(t)
	w.desk()
	err := w.windows(t, documentObject{"tool": "ax_click", "app": "Editor", "args": documentObject{"query": "One"}}, documentObject{"tool": "ax_click", "args": documentObject{"app": "Editor", "query": "Two"}})
	if err != nil || strings.Join(w.calls, ",") != "click One,click Two" || len(w.asked) != 1 {
		t.Errorf("%v, ran %v, asked %d", err, w.calls, len(w.asked))
	}
	steps := []any{documentObject{"tool": "ax_click", "args": documentObject{"query": "Three"}}, documentObject{"tool": "ax_click", "app": "Nothing", "args": documentObject{"query": "Four"}}}
	_, err = w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: workflow.DesktopToolName, Args: documentObject{"app": "Editor", "steps": steps}})
	assert.Check(t, is.ErrorContains(err, `step 2 (ax_click): there is no app "Nothing"`))
	_, err = w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: workflow.DesktopToolName, Args: documentObject{"app": "Editor", "steps": steps[:1]}})
	if err != nil || w.calls[len(w.calls)-1] != "click Three" {
		t.Errorf("%v, ran %v", err, w.calls)
	}
}

// Steps may inherit the app of their workflow.
func TestTheAppOfAll(t *testing.T) {
	w := newWorld(t)
	one := documentObject{"tool": "list", "args": documentObject{}}
	_, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName, Args: documentObject{"app": shelfID, "steps": []any{one, one}}})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(w.calls, 2))
}

// The question shows that a call repeats, also if its arguments do not, and its values; a list
// that is too long to show is not asked about.
func TestManyTimesIsShown(t *testing.T) {
	w := newWorld(t)
	if _, err := w.does(t, step("burn", documentObject{"name": "a"}, "for_each", []any{"first", "second"})); err != nil {
		t.Fatal(err)
	}
	text := w.asked[0].Text
	assert.Assert(t, is.Contains(text, "for each value of:"))
	assert.Assert(t, is.Contains(text, "second"))
	var many []any
	for range 500 {
		many = append(many, "value")
	}
	_, err := w.does(t, step("burn", documentObject{"name": "a"}, "for_each", many))
	if e := aai.AsError(err); e == nil || e.Code != aai.ConsentRequired || len(w.calls) != 2 || len(w.asked) != 1 {
		t.Errorf("%v, ran %v, asked %d", err, w.calls, len(w.asked))
	}
}

// In the mode that confirms each irreversible call separately, one consent does not cover several calls.
func TestNotManyTimesInTheSafeMode(t *testing.T) {
	for tool, runs := range map[string]bool{"burn": false, "get": true} {
		w := newWorld(t)
		modes := &policy.ModeGate{Configured: policy.Safe}
		w.Gates[1], w.Gates[3] = modes, policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(t.TempDir() + "/c.json"), ModeGate: modes})
		_, err := w.does(t, step("list", documentObject{}), step(tool, documentObject{"name": "{{item}}"}, "for_each", []any{"x", "y"}))
		if e := aai.AsError(err); runs != (e == nil) || !runs && (e.Code != aai.ConsentRequired || len(w.calls)+len(w.asked) > 0) {
			t.Errorf("%s: %v, ran %v, asked %d", tool, err, w.calls, len(w.asked))
		}
	}
}

// Revoking consent during a workflow stops its further steps, whatever the answer at its
// beginning; an earlier revocation has no effect on it.
func TestRevokedDuringRun(t *testing.T) {
	for _, choice := range []string{"once", "session", "always"} {
		for _, revoked := range []bool{false, true} {
			w, folder := newWorld(t), t.TempDir()
			revocations, store := policy.NewRevocations(folder+"/revoked"), policy.NewFileStore(folder+"/consent.json")
			assert.NilError(t, revocations.Revoke())
			w.answer = choice
			w.Gates[3] = policy.NewConsent(policy.ConsentConfig{Store: store, Revocations: revocations})
			get := w.apps[1].Tool("get")
			run := get.Run
			get.Run = func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
				if call.Args["name"] == "second" && revoked {
					_, err := store.Remove(func(policy.Grant) bool { return true })
					assert.Check(t, err)
					assert.Check(t, revocations.Revoke())
				}
				return run(ctx, call)
			}
			_, err := w.does(t,
				step("set", documentObject{"name": "{{item}}", "value": 1}, "for_each", []any{"a", "b"}),
				step("get", documentObject{"name": "{{item}}"}, "for_each", []any{"first", "second"}),
				step("set", documentObject{"name": "{{item}}", "value": 1}, "for_each", []any{"c", "d"}))
			e := aai.AsError(err)
			if w.kept["b"] == nil || revoked != (e != nil && e.Code == aai.ConsentRequired) || revoked != (w.kept["c"] == nil) || revoked != (w.kept["d"] == nil) || len(w.asked) != 1 {
				t.Errorf("%s, revoked %v: %v, kept %v, asked %d", choice, revoked, err, w.kept, len(w.asked))
			}
		}
	}
}

// Secrets of a step's tool are in no journal entry, and the workflow's result is not kept; the
// caller gets everything but the secrets.
func TestSecretsOfSteps(t *testing.T) {
	for _, failing := range []bool{false, true} {
		w := newWorld(t)
		w.apps[1].Tool("set").Privacy.Secret = []string{"value"}
		steps := []any{
			step("set", documentObject{"name": "a", "value": "hunter2hunter2"}),
			documentObject{"parallel": []any{step("set", documentObject{"name": "b", "value": "hunter2hunter2"})}},
			step("set", documentObject{"name": "c", "value": "{{item}}"}, "for_each", []any{"hunter2hunter2"}),
			step("get", documentObject{"name": "lastly"}),
		}
		if failing {
			w.fails["get lastly"] = aai.Errorf(aai.ElementNotFound, "there is nothing called lastly")
		}
		_, err := w.does(t, steps...)
		assert.Check(t, !failing || strings.Contains(aai.AsError(err).Message, "nothing called lastly"), "the caller is told %v", err)
		assert.Check(t, failing || err == nil, "the caller is told %v", err)
		for _, e := range w.entries {
			b, err := json.Marshal(e)
			assert.NilError(t, err)
			answer := "null"
			if e.ResultValue != nil {
				b, _ := json.Marshal(e.ResultValue())
				answer = string(b)
			}
			assert.Assert(t, !strings.Contains(string(b), "hunter2"), "%s %s", b, answer)
			assert.Assert(t, e.Parent != "" || e.App != aai.BuiltinApp || !strings.Contains(answer, "hunter2"), "%s %s", b, answer)
		}
	}
}

// Nor are they in a check, or under an unknown member of a step.
func TestSecretsBesideTheArguments(t *testing.T) {
	checked := documentObject{"app": shelfID, "tool": "get", "args": documentObject{"name": "a"}, "equals": documentObject{"value": "hunter2hunter2"}}
	for name, one := range map[string]documentObject{
		"check":           step("set", documentObject{"name": "a", "value": 1}, "check", checked),
		"check of one":    {"parallel": []any{step("set", documentObject{"name": "a", "value": 1}, "check", checked)}},
		"misnamed":        {"app": shelfID, "tool": "set", "arguments": documentObject{"value": "hunter2hunter2"}},
		"misnamed of one": {"parallel": []any{documentObject{"app": shelfID, "tool": "set", "for_each": []any{"hunter2hunter2"}}}},
	} {
		w := newWorld(t)
		w.apps[1].Tool("set").Privacy.Secret = []string{"value"}
		_, err := w.does(t, one)
		e := aai.AsError(err)
		assert.Check(t, is.Equal(strings.HasPrefix(name, "misnamed"), (e != nil && strings.Contains(e.Message, "there is no such member"))), "%s %v", name, err)
		for _, e := range w.entries {
			b, err := json.Marshal(e)
			assert.NilError(t, err, "%s %s", name, b)
			assert.Assert(t, !strings.Contains(string(b), "hunter2"), "%s %s", name, b)
		}
	}
}

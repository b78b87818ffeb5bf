package workflow_test

import (
	"context"
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

// Consent to an act, even for once, covers its undo.
func TestTakingBackIsNotAskedAbout(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = "apple"
	w.fails["get nothing"] = aai.Errorf(aai.ElementNotFound, "there is nothing")
	_, err := w.does(t, step("set", documentObject{"name": "a", "value": "pear"}), step("get", documentObject{"name": "nothing"}, "on_fail", "rollback"))
	if err == nil || w.kept["a"] != "apple" || len(w.asked) != 1 {
		t.Errorf("%v, kept %v, asked %d", err, w.kept, len(w.asked))
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

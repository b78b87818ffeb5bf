package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

func TestStepsFollowEachOther(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = "apple"
	result, err := w.does(t,
		step("get", documentObject{"name": "a"}, "name", "first"),
		step("set", documentObject{"name": "b", "value": "{{step_1.value}}"}),
		step("set", documentObject{"name": "c", "value": "an {{first.value}}!"}),
		step("get", documentObject{"name": "c"}),
	)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(w.kept["b"], "apple"), w.kept)
	assert.Check(t, is.Equal(w.kept["c"], "an apple!"), w.kept)
	want := "test: 4 of 4 steps done"
	assert.Assert(t, strings.HasPrefix(result.Text, want), result.Text)
	assert.Assert(t, is.Contains(result.Text, "an apple!"))
}

func TestWhatWasDoneIsTakenBack(t *testing.T) {
	w := newWorld(t)
	w.kept["a"], w.kept["b"] = "old", "old"
	w.fails["get nothing"] = aai.Errorf(aai.ElementNotFound, "there is nothing")
	_, err := w.does(t,
		step("set", documentObject{"name": "a", "value": "new"}),
		step("set", documentObject{"name": "b", "value": "new"}),
		step("burn", documentObject{"name": "z"}),
		step("get", documentObject{"name": "nothing"}, "on_fail", "rollback"),
		step("set", documentObject{"name": "c", "value": "never"}),
	)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Code, aai.ElementNotFound, "%+v", e)
	assert.Assert(t, !e.RetrySafe(), "%+v", e)
	for _, part := range []string{"step 4 of 5 (get)", "there is nothing", "not undone: step 3 (burn)", "rolled back: 2 acts"} {
		assert.Check(t, is.Contains(e.Message, part), "%q does not say %q", e.Message, part)
	}
	assert.Check(t, is.Equal(w.kept["a"], "old"), w.kept)
	assert.Check(t, is.Equal(w.kept["b"], "old"), w.kept)
	assert.Check(t, w.kept["c"] == nil, "kept %v", w.kept)
	assert.Check(t, is.Len(w.asked, 1), "the consent covers the undo")
	if a, b := slices.Index(w.calls, "get a"), slices.Index(w.calls, "get b"); b > a {
		t.Errorf("not the newest first: %v", w.calls)
	}
}

func TestForEach(t *testing.T) {
	w := newWorld(t)
	w.kept["a"], w.kept["b"], w.kept["c"] = "1", "2", "3"
	result, err := w.does(t,
		step("list", documentObject{}),
		step("get", documentObject{"name": "{{item}}"}, "for_each", "{{step_1.names}}", "name", "all"),
		step("set", documentObject{"name": "copy", "value": "{{all.2.value}}{{all.0.value}}"}),
		step("get", documentObject{"name": "copy"}),
	)
	if err != nil || w.kept["copy"] != "31" {
		t.Fatalf("%v, kept %v", err, w.kept)
	}
	last := result.Data.(map[string]any)["last"]
	assert.Check(t, is.Equal(last.(map[string]any)["value"], "31"), last)
}

// A failing value ends the step, unless on_fail is skip; then the others continue.
func TestForEachThatFails(t *testing.T) {
	for onFail, want := range map[string][]string{"abort": {"get a", "get b"}, "skip": {"get a", "get b", "get c", "set after"}} {
		w := newWorld(t)
		w.fails["get b"] = aai.Errorf(aai.ElementNotFound, "no b")
		_, err := w.does(t,
			step("get", documentObject{"name": "{{item.n}}"}, "for_each", []any{documentObject{"n": "a"}, documentObject{"n": "b"}, documentObject{"n": "c"}}, "on_fail", onFail),
			step("set", documentObject{"name": "after", "value": "{{step_1.1.error.code}}"}),
		)
		assert.Check(t, slices.Equal(w.calls, want), "%s: ran %v, expected %v", onFail, w.calls, want)
		if onFail == "abort" && (err == nil || !strings.Contains(err.Error(), "value 2 of 3: no b")) || onFail == "skip" && (err != nil || w.kept["after"] != "ELEMENT_NOT_FOUND") {
			t.Errorf("%s: %v, kept %v", onFail, err, w.kept)
		}
	}
}

// A list that is too long, or not a list, starts nothing.
func TestForEachOfNoList(t *testing.T) {
	for _, value := range []any{"text", make([]any, 1001)} {
		w := newWorld(t)
		w.kept["v"] = value
		_, err := w.does(t, step("get", documentObject{"name": "v"}), step("get", documentObject{"name": "x"}, "for_each", "{{step_1.value}}"))
		assert.Assert(t, is.ErrorContains(err, "expected a list of at most 1000 values"))
		assert.Assert(t, is.Len(w.calls, 1))
	}
}

// Calls of a group run concurrently, and their results are in the group's order.
func TestParallel(t *testing.T) {
	w := newWorld(t)
	var group []any
	for i := range 8 {
		group = append(group, step("meet", documentObject{"name": strconv.Itoa(i)}, "name", "n"+strconv.Itoa(i)))
	}
	w.meeting(8)
	_, err := w.does(t, documentObject{"parallel": group}, step("set", documentObject{"name": "a", "value": []any{"{{step_1.3.name}}", "{{n5.name}}"}}))
	assert.NilError(t, err)
	want := []any{"3", "5"}
	assert.Check(t, reflect.DeepEqual(w.kept["a"], want), "kept %v, expected %v", w.kept["a"], want)
}

// A failing call lets the others end, and then fails the step, unless on_fail is skip.
func TestParallelThatFails(t *testing.T) {
	for onFail, completes := range map[string]bool{"abort": false, "skip": true} {
		w := newWorld(t)
		w.fails["get b"] = aai.Errorf(aai.ElementNotFound, "no b")
		_, err := w.does(t,
			documentObject{"on_fail": "rollback", "parallel": []any{
				step("set", documentObject{"name": "a", "value": 1}), step("get", documentObject{"name": "b"}, "on_fail", onFail), step("set", documentObject{"name": "c", "value": 1}),
			}},
			step("get", documentObject{"name": "after"}),
		)
		assert.Check(t, is.Equal((err == nil), completes), "%s %v", onFail, err)
		assert.Check(t, completes || strings.Contains(err.Error(), "step 1 of 2 (3 calls side by side): step 1.2 (get): no b"), "%s %v", onFail, err)
		if left := w.kept["a"] != nil || w.kept["c"] != nil; left != completes {
			t.Errorf("%s: kept %v", onFail, w.kept)
		}
	}
}

func TestWhen(t *testing.T) {
	for test, holds := range map[string]bool{
		`equals "x y"`: true, `equals "x"`: false, `contains "x"`: true, `contains "z"`: false, `exists true`: true, `exists false`: false,
	} {
		kind, value, _ := strings.Cut(test, " ")
		when := documentObject{"value": "{{step_1.value}}", kind: parse(value)}
		checkWhen(t, test, "x y", when, holds)
	}
	for name, c := range map[string]struct {
		kept  any
		when  documentObject
		holds bool
	}{
		"numbers":             {3, documentObject{"equals": 3.0}, true},
		"objects":             {documentObject{"a": []any{1}}, documentObject{"equals": documentObject{"a": []any{1.0}}}, true},
		"an item":             {[]any{"a", 2}, documentObject{"contains": 2}, true},
		"no item":             {[]any{"a", 2}, documentObject{"contains": 3}, false},
		"a member":            {documentObject{"a": nil}, documentObject{"contains": "a"}, true},
		"nothing is null":     {nil, documentObject{"equals": nil}, true},
		"null does not exist": {nil, documentObject{"exists": true}, false},
	} {
		c.when["value"] = "{{step_1.value}}"
		checkWhen(t, name, c.kept, c.when, c.holds)
	}
	checkWhen(t, "not there", "x", documentObject{"value": "{{step_1.other}}", "exists": false}, true)
	checkWhen(t, "not there", "x", documentObject{"value": "{{step_1.other}}", "equals": nil}, false)
}

func parse(word string) any {
	if s, err := strconv.Unquote(word); err == nil {
		return s
	}
	return word == "true"
}

func checkWhen(t *testing.T, name string, kept any, when documentObject, holds bool) {
	t.Helper()
	w := newWorld(t)
	w.kept["v"] = kept
	result, err := w.does(t, step("get", documentObject{"name": "v"}), step("set", documentObject{"name": "ran", "value": true}, "when", when), step("list", documentObject{}))
	assert.NilError(t, err, name)
	assert.Check(t, is.Equal(w.kept["ran"] == true, holds), name)
	assert.Check(t, strings.Contains(result.Text, "2 set: not run") != holds, "%s %s", name, result.Text)
}

// Only calls that were certainly not delivered are retried, up to the given number.
func TestRetry(t *testing.T) {
	missing := aai.Errorf(aai.ElementNotFound, "not yet")
	unknown := &aai.Error{Code: aai.Timeout, Message: "no answer", Delivery: aai.DeliveryUnknown}
	refused := &aai.Error{Code: aai.AutomationFailed, Message: "busy", Delivery: aai.NotDelivered}
	for name, c := range map[string]struct {
		tool   string
		fail   *aai.Error
		retry  int
		times  int
		passes bool
	}{
		"a read":                {"get", missing, 2, 2, true},
		"a read, not again":     {"get", missing, 0, 1, false},
		"an act, not delivered": {"set", refused, 1, 2, true},
		"an act, perhaps":       {"set", unknown, 3, 1, false},
		"wrong":                 {"get", aai.Errorf(aai.InvalidParams, "wrong"), 3, 1, false},
	} {
		w := newWorld(t)
		w.fails[c.tool+" a"] = c.fail
		args := documentObject{"name": "a"}
		if c.tool == "set" {
			args["value"] = 1
		}
		_, err := w.does(t, step(c.tool, args, "retry", c.retry))
		assert.Check(t, is.Equal((err == nil), c.passes), "%s %v", name, err)
		assert.Check(t, is.Len(w.calls, c.times), "%s %v", name, err)
	}
}

// Skipped failures are reported, also for a completed step.
func TestSkippedFailuresAreReported(t *testing.T) {
	for name, one := range map[string]documentObject{
		"of each":      step("get", documentObject{"name": "{{item}}"}, "for_each", []any{"a", "b", "c"}, "on_fail", "skip"),
		"side by side": {"parallel": []any{step("get", documentObject{"name": "a"}), step("get", documentObject{"name": "b"}, "on_fail", "skip"), step("get", documentObject{"name": "c"}, "on_fail", "skip")}},
	} {
		w := newWorld(t)
		for _, of := range []string{"b", "c"} {
			w.fails["get "+of] = aai.Errorf(aai.ElementNotFound, "there is none")
		}
		result, err := w.does(t, one, step("get", documentObject{"name": "a"}))
		assert.NilError(t, err, "%s %+v", name, result)
		assert.Assert(t, is.Contains(result.Text, "2 calls failed: "), "%s %+v", name, result)
		assert.Assert(t, is.Contains(result.Text, "there is none"), "%s %+v", name, result)
	}
}

// An undo in a program applies to that program only: its process id may belong to another one by
// then.
func TestAnUndoIsForItsProgram(t *testing.T) {
	w := newWorld(t)
	w.desk()
	desk := w.apps[len(w.apps)-1]
	now := &aai.App{ID: "desktop/editor", Name: "Editor", PID: 7}
	desk.Operator = fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return now, nil }}
	args := map[string]any{"app": "7", "query": "x"}
	desk.Tool("ax_click").Run = func(context.Context, *aai.Call) (*aai.Result, error) {
		w.calls = append(w.calls, now.ID)
		step := aai.Step{App: aai.DesktopApp, Tool: "ax_click", Args: args}
		return &aai.Result{Undo: &aai.Undo{Step: step, StateStep: &step}}, nil
	}
	result, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: "ax_click", Args: args})
	assert.NilError(t, err)
	now = &aai.App{ID: "desktop/other", Name: "Other", PID: 7}
	for _, step := range []aai.Step{result.Undo.Step, *result.Undo.StateStep} {
		_, err := w.Do(t.Context(), step.Call(agent()))
		assert.Assert(t, aai.AsError(err) != nil, "it was done to another program: %v", err)
		assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered, err)
		assert.Assert(t, is.Len(w.calls, 1), err)
	}
	now = &aai.App{ID: "desktop/editor", Name: "Editor", PID: 7}
	_, err = w.Do(t.Context(), result.Undo.Step.Call(agent()))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(w.calls, 2))
}

// The description of a stored workflow lists its steps, without possible secrets of their tools.
func TestWhatAWorkflowRuns(t *testing.T) {
	steps := []any{
		documentObject{"app": "calc", "tool": "ax_set_value", "args": documentObject{"query": "role:text", "value": "hunter2"}},
		documentObject{"app": "calc", "tool": "ax_set_value", "args": documentObject{"query": "no {{params.n}}", "value": "pw {{params.expr}}"}},
		documentObject{"tool": "ax_find", "args": documentObject{"app": "{{params.of}}", "query": "OK", "nth": json.Number("2")}},
	}
	for i := range 12 {
		steps = append(steps, documentObject{"tool": "ax_find", "args": documentObject{"app": "x", "query": fmt.Sprint("q", i)}})
	}
	params := documentObject{"type": "object", "properties": documentObject{"expr": documentObject{"type": "string"}, "n": documentObject{"type": "string"}, "of": documentObject{"type": "string"}}}
	d, err := workflow.ParseDocument(documentObject{"name": "n", "params": params, "steps": steps}, true)
	assert.NilError(t, err)
	tool := (workflow.Config{}).Tool("n", d)
	assert.Assert(t, tool.Privacy.ShowSecrets, "who is asked is shown: %t; not on record: %v", tool.Privacy.ShowSecrets, tool.Privacy.Secret)
	assert.Assert(t, is.Len(tool.Privacy.Secret, 3), "%t", tool.Privacy.ShowSecrets)
	runs := workflow.Config{}.Tool("n", d).Implementation.Summary
	for _, want := range []string{
		`1. calc ax_set_value query="role:text" value=…;`, `2. calc ax_set_value query=no {{params.n}} value=…{{params.expr}};`,
		`3. {{params.of}} ax_find nth=2 query="OK";`, `query="q8"; and 3 more`,
	} {
		assert.Check(t, is.Contains(runs, want))
	}
	assert.Assert(t, !strings.Contains(runs, "hunter2"), runs)
	assert.Assert(t, !strings.Contains(runs, "pw"), runs)
	shelf := documentObject{"app": "org.example.Shelf", "tool": "set", "args": documentObject{"name": "a", "n": json.Number("3")}}
	d, err = workflow.ParseDocument(documentObject{"name": "n", "steps": []any{shelf}}, false)
	assert.NilError(t, err)
	assert.Check(t, is.Equal((workflow.Config{}).Tool("n", d).Implementation.Summary, "1. org.example.Shelf set n=… name=…"))
}

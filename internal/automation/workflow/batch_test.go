package workflow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/policy"
)

func (w *world) batch(t *testing.T, calls ...any) (*aai.Result, error) {
	t.Helper()
	return w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BatchToolName, Args: documentObject{"calls": calls}})
}

// Each call has its result or its error, in order, and the summary counts the failures.
func TestBatch(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = "apple"
	w.fails["get b"] = aai.Errorf(aai.ElementNotFound, "there is no b")
	result, err := w.batch(t, step("get", documentObject{"name": "a"}), step("get", documentObject{"name": "b"}), step("gett", documentObject{}), step("get", documentObject{}),
		documentObject{"app": "org.example.None", "tool": "x"}, step("set", documentObject{"name": "c", "value": "{{step_1.value}}"}))
	assert.NilError(t, err)
	for i, part := range []string{"2 of 6 calls done, 4 failed", "1 org.example.Shelf get: apple", "2 org.example.Shelf get: ELEMENT_NOT_FOUND: there is no b",
		"3 org.example.Shelf gett: TOOL_NOT_FOUND", "4 org.example.Shelf get: INVALID_PARAMS: name: missing", "5 org.example.None x: APP_NOT_FOUND"} {
		lines := strings.Split(result.Text, "\n")
		assert.Check(t, strings.HasPrefix(lines[i], part), "line %d is %q, expected %q", i, lines[i], part)
	}
	assert.Check(t, is.Equal(w.kept["c"], "{{step_1.value}}"), w.kept)
	assert.Check(t, is.Len(w.asked, 1), w.kept)
}

// A batch is an error only if all calls fail.
func TestABatchOfWhichAllFail(t *testing.T) {
	w := newWorld(t)
	w.fails["set a"] = &aai.Error{Code: aai.Timeout, Message: "no answer", Delivery: aai.DeliveryUnknown}
	_, err := w.batch(t, step("gett", documentObject{}), step("set", documentObject{"name": "a", "value": 1}))
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Code, aai.ToolNotFound, "%+v", e)
	assert.Assert(t, !e.RetrySafe(), "%+v", e)
	assert.Assert(t, strings.HasPrefix(e.Message, "0 of 2 calls done, 2 failed\n"), "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "\n2 org.example.Shelf set: TIMEOUT"), "%+v", e)
}

// A refusal of a batch is not repeated for each call.
func TestNoToABatch(t *testing.T) {
	w := newWorld(t)
	w.answer = "deny"
	_, err := w.batch(t, step("get", documentObject{"name": "a"}), step("get", documentObject{"name": "b"}), step("set", documentObject{"name": "c", "value": 1}))
	if e := aai.AsError(err); e == nil || e.Code != aai.PermissionDenied || len(w.calls) > 0 || len(w.asked) != 1 {
		t.Errorf("%v, ran %v, asked %d", err, w.calls, len(w.asked))
	}
}

// A hundred calls run concurrently in their batch's slot, and wait for the caller's rate limit.
func TestABatchIsNotRefusedForItsSize(t *testing.T) {
	w := newWorld(t)
	w.answer = "always"
	w.Gates[0] = policy.NewLimits(map[policy.Kind]policy.Limit{policy.KindDeclared: {PerSecond: 60, PerMinute: 6000, Concurrent: 1}})
	w.meeting(16)
	var calls []any
	for i := range 100 {
		calls = append(calls, step("meet", documentObject{"name": fmt.Sprint(i)}))
	}
	result, err := w.batch(t, calls...)
	assert.NilError(t, err, result)
	assert.Assert(t, strings.HasPrefix(result.Text, "100 of 100 calls done\n"), result)
	lines := strings.Split(result.Text, "\n")
	assert.Check(t, strings.HasSuffix(lines[58], `{"name":"57"}`), "%q", lines[58])
}

// Nor is a workflow: its steps count when they run.
func TestAWorkflowIsNotRefusedForItsSize(t *testing.T) {
	w := newWorld(t)
	w.answer = "always"
	w.Gates[0] = policy.NewLimits(map[policy.Kind]policy.Limit{policy.KindDeclared: {PerSecond: 30, PerMinute: 6000, Concurrent: 1}})
	_, err := w.does(t, steps(40, step("list", documentObject{}))...)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(w.calls, 40))
}

// A batch's result names the untrusted sources of its calls.
func TestForeignWords(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = "apple"
	get := w.apps[1].Tool("get")
	get.Run = foreign(get.Run)
	one, err := w.batch(t, step("get", documentObject{"name": "a"}), step("list", documentObject{}), step("get", documentObject{"name": "a"}))
	two, err2 := w.does(t, step("get", documentObject{"name": "a"}), step("list", documentObject{}))
	assert.NilError(t, err)
	assert.NilError(t, err2)
	assert.Equal(t, one.UntrustedSource, "https://example.com")
	assert.Equal(t, two.UntrustedSource, one.UntrustedSource)
	assert.Check(t, is.Contains(w.calls, "list "))
}

// Each call of a batch passes the gates and is in the journal as the batch's child, whether
// admitted together or alone.
func TestABatchIsGatedAndRecorded(t *testing.T) {
	w := newWorld(t)
	w.answer = "always"
	calls := []any{step("set", documentObject{"name": "a", "value": 1})}
	for range 6 { // enough for separate admission
		calls = append(calls, step("gett", documentObject{}))
	}
	_, err := w.batch(t, calls...)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(w.asked, 1))
	outer, ran, parents := "", 0, map[string]string{} // calls by their first entry
	for _, e := range w.entries {
		if e.Parent != "" {
			parents[e.Call] = e.Parent
		}
		if e.Tool == workflow.BatchToolName && e.Kind == aai.Intent {
			outer = e.Call
		}
	}
	for _, e := range w.entries {
		if e.Tool == "set" && e.Kind == aai.Intent && parents[e.Call] == outer && strings.HasPrefix(e.Consent, "always") {
			ran++
		}
	}
	if outer == "" || ran != 1 {
		t.Errorf("%d of %d lines", ran, len(w.entries))
	}
}

// TestABatchOfLongResults checks that the answer holds results up to a limit, that the calls after it are
// not made, and that each call says which of both it is.
func TestABatchOfLongResults(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = strings.Repeat("x", 256<<10)
	var calls []any
	for range 100 {
		calls = append(calls, step("get", documentObject{"name": "a"}))
	}
	result, err := w.batch(t, calls...)
	assert.NilError(t, err)
	var answer struct {
		Results []struct {
			OK     bool
			Result json.RawMessage
			Text   string
			Error  *aai.Error
		}
	}
	data := jsonOf(t, result.Data)
	assert.NilError(t, json.Unmarshal([]byte(data), &answer))
	held, omitted, unmade := 0, 0, 0
	for _, r := range answer.Results {
		switch {
		case r.OK && r.Result != nil:
			held++
		case r.OK && strings.Contains(r.Text, "its result is omitted"):
			omitted++
		case !r.OK && r.Error.Code == aai.RateLimited && r.Error.RetrySafe():
			unmade++
		}
	}
	// The text and the data of each result are 512 KiB. Up to 16 calls run at a time.
	if held != 7 || held+omitted != len(w.calls) || omitted > 16 || unmade != 100-len(w.calls) {
		t.Errorf("%d held, %d omitted, %d not made; %d were made", held, omitted, unmade, len(w.calls))
	}
	if len(data) > 5<<20 || len(result.Text) > 5<<20 {
		t.Errorf("the answer has %d and %d bytes", len(data), len(result.Text))
	}
}

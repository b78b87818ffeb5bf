package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
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

// A report of twenty steps costs a model at most 400 tokens, in each form, for all values; full
// shows everything.
func TestWhatAReportCosts(t *testing.T) {
	long := strings.Repeat("something long that an app says ", 200)
	for name, c := range map[string]struct {
		fails int  // number of steps that fail and are skipped; -1: the last ends it
		burns bool // their acts are irreversible
		full  bool
	}{"done": {}, "skipped": {fails: 19}, "failed": {fails: -1}, "left behind": {fails: -1, burns: true}, "full": {full: true}} {
		w := newWorld(t)
		w.kept["a"] = long
		var all []any
		for i := range 20 {
			one := step("get", documentObject{"name": "a"})
			if c.burns {
				one = step("burn", documentObject{"name": "b"})
			}
			if i < c.fails {
				one = step("get", documentObject{"name": fmt.Sprint("x", i)}, "on_fail", "skip")
				w.fails[fmt.Sprint("get x", i)] = aai.Errorf(aai.ElementNotFound, "%s", long)
			}
			all = append(all, one)
		}
		if c.fails < 0 {
			all[19] = step("burn", documentObject{"name": "x"}, "on_fail", "rollback")
			w.fails["burn x"] = &aai.Error{Code: aai.AutomationFailed, Message: "no", Delivery: aai.Delivered}
		}
		result, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName, Args: documentObject{"steps": all, "full": c.full}})
		text, data := "", any(nil)
		if e := aai.AsError(err); e != nil {
			text, data = e.Message, e.Data
		} else {
			text, data = result.Text, result.Data
		}
		b, err := json.Marshal(data)
		assert.NilError(t, err)
		words, structured := tokencount.Count(t, text), tokencount.Count(t, string(b))
		t.Logf("%s: %d tokens of text, %d of data", name, words, structured)
		assert.Check(t, (words <= 400 && structured <= 400) != c.full, "%s %s %s", name, text, b)
		has := strings.Count(string(b), long)
		assert.Check(t, !c.full || has == 40, "%d of 40 texts", has)
	}
}

// The text contains the step values: the last one in short, with full each.
func TestReportShowsStepValues(t *testing.T) {
	for _, full := range []bool{false, true} {
		w := newWorld(t)
		w.kept["a"], w.kept["b"] = "apple", "pear "+strings.Repeat("and more ", 200)
		steps := []any{step("get", documentObject{"name": "a"}), step("get", documentObject{"name": "b"})}
		result, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName, Args: documentObject{"steps": steps, "full": full}})
		assert.NilError(t, err)
		lines := strings.Split(result.Text, "\n")
		last := lines[len(lines)-1]
		if !strings.Contains(last, "returned: pear and more") || len(last) > 250 || strings.Contains(result.Text, "apple") != full {
			t.Errorf("full %v: %s", full, result.Text)
		}
	}
}

// The tools' texts for models are short, and not truncated in guides.
func TestWhatAModelReads(t *testing.T) {
	for _, tool := range append(workflow.Config{}.BuiltinTools(), workflow.Config{}.DesktopTools()...) {
		seen := tool.Name + tool.Description + string(tool.Params.Source)
		n := tokencount.Count(t, seen)
		assert.Check(t, n <= 220, "%s: %d tokens, %d bytes of description", tool.Name, n, len(tool.Description))
		assert.Check(t, len(tool.Description) <= 300, "%s: %d tokens, %d bytes of description", tool.Name, n, len(tool.Description))
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		assert.NilError(t, json.Unmarshal(tool.Params.Source, &schema))
		for name, p := range schema.Properties {
			assert.Check(t, len(p.Description) <= 200, "%s of %s has %d bytes", name, tool.Name, len(p.Description))
		}
	}
}

// A cancelled workflow begins no further step; if the current step says so, its acts are undone
// even after the caller has left.
func TestCancelled(t *testing.T) {
	for onFail, want := range map[string]any{"rollback": "old", "abort": "new", "skip": "new"} {
		w := newWorld(t)
		w.answer = "session"
		w.kept["a"] = "old"
		w.meeting(2) // only one of two comes
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := w.Do(ctx, &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName, Args: documentObject{"steps": []any{
				step("set", documentObject{"name": "a", "value": "new"}), step("meet", documentObject{"name": "x"}, "on_fail", onFail), step("set", documentObject{"name": "b", "value": 1}),
			}}})
			ended <- err
		}()
		w.eventually(t, "the second step runs", func() bool { return w.missing == 1 })
		cancel()
		assert.Check(t, (<-ended) != nil, "%s: it ended well", onFail)
		w.eventually(t, onFail, func() bool { return w.kept["a"] == want })
		w.eventually(t, "its end", func() bool { return w.over("meet") })
		w.mu.Lock()
		assert.Check(t, w.kept["b"] == nil, "%s: a later step ran", onFail)
		w.mu.Unlock()
	}
}

// A workflow that times out reports that itself, with its rollback.
func TestOutOfTime(t *testing.T) {
	w := newWorld(t)
	w.answer = "session"
	tool := w.apps[0].Tool(workflow.BuiltinToolName)
	tool.Limits.Timeout = time.Minute + 200*time.Millisecond // including a minute for the rollback
	_, err := w.does(t,
		step("set", documentObject{"name": "a", "value": "new"}, "wait_after_ms", 60_000),
		step("set", documentObject{"name": "b", "value": 1}, "on_fail", "rollback"),
	)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.Timeout, err)
	assert.Assert(t, is.Contains(e.Message, "the workflow's time was over at step"), err)
	assert.Check(t, !slices.Contains(w.calls, "set b"), "ran %v", w.calls)
}

// eventually waits until the condition is true.
func (w *world) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for {
		w.mu.Lock()
		so := is()
		w.mu.Unlock()
		if so {
			return
		}
		if aai.Sleep(t.Context(), time.Millisecond) != nil {
			t.Fatal(what)
		}
	}
}

// over reports whether a call of the tool has its last entry. The caller holds the lock.
func (w *world) over(tool string) bool {
	return slices.ContainsFunc(w.entries, func(e *aai.Entry) bool { return e.Tool == tool && e.Kind == aai.Outcome })
}

package workflow_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
)

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

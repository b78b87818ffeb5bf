package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
)

// recordingStore records its calls, and fails on demand.
type recordingStore struct {
	lines   []string
	records []workflow.Record
	run     *workflow.Run
	full    string // line at which it fails
}

func (n *recordingStore) line(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	n.lines = append(n.lines, line)
	if line == n.full {
		return errors.New("no space left on device")
	}
	return nil
}

func (n *recordingStore) Begin(_ context.Context, r *workflow.Run) error {
	n.run = r
	return n.line("begin")
}

func (n *recordingStore) Step(_ context.Context, _ string, r *workflow.Record) error {
	if r.State != workflow.Begun {
		n.records = append(n.records, *r)
	}
	if r.Part > 0 {
		return n.line("%d.%d %s", r.Step, r.Part, r.State)
	}
	return n.line("%d %s", r.Step, r.State)
}

func (n *recordingStore) UndoAct(_ context.Context, _ string, b *workflow.UndoRecord) error {
	return n.line("back %d %s", b.Act, b.Status)
}

func (n *recordingStore) End(_ context.Context, _ string, state workflow.State) error {
	return n.line("end %s", state)
}

func runRecorded(t *testing.T, full string) (*world, *recordingStore) {
	w, n := newWorld(t), &recordingStore{full: full}
	w.Store = n
	w.apps[0].Tools = w.BuiltinTools()
	return w, n
}

func fourSteps() []any {
	return []any{
		step("set", documentObject{"name": "a", "value": 1}, "name", "first"),
		step("get", documentObject{"name": "a"}, "when", documentObject{"value": "{{first.text}}", "equals": "never"}),
		step("get", documentObject{"name": "missing"}, "on_fail", "skip"),
		step("set", documentObject{"name": "b", "value": "{{step_3.error.code}}"}, "on_fail", "rollback"),
	}
}

// The store records each step before and after it, and the end.
func TestStoreReceivesProgress(t *testing.T) {
	w, n := runRecorded(t, "")
	w.fails["get missing"] = aai.Errorf(aai.ElementNotFound, "there is none")
	_, err := w.does(t, fourSteps()...)
	assert.NilError(t, err)
	want := []string{"begin", "1 begun", "1 done", "2 begun", "2 passed", "3 begun", "3 failed", "4 begun", "4 done", "end done"}
	assert.Check(t, slices.Equal(n.lines, want), "told %v, expected %v", n.lines, want)
	assert.Assert(t, n.run.ID != "", "%+v", n.run)
	assert.Equal(t, n.run.Caller, agent(), "%+v", n.run)
	assert.Equal(t, n.run.Document.Name, "test", "%+v", n.run)
	assert.Assert(t, n.run.Document.Source["steps"] != nil, "%+v", n.run)
	assert.Equal(t, n.run.App, aai.BuiltinApp, "%+v", n.run)
	if acts := n.records[0].Acts; len(acts) != 1 || acts[0].Undo == nil || len(n.records[1].Acts) != 0 {
		t.Errorf("%+v", n.records)
	}
}

// A step that cannot be recorded does not run.
func TestWhatTheStoreCannotKeep(t *testing.T) {
	for full, ran := range map[string]int{"begin": 0, "1 begun": 0, "1 done": 1, "3 begun": 1, "3 failed": 1, "4 begun": 2, "4 done": 3} {
		w, n := runRecorded(t, full)
		w.fails["get missing"] = aai.Errorf(aai.ElementNotFound, "there is none")
		_, err := w.does(t, fourSteps()...)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v", full, err)
		assert.Equal(t, e.Code, aai.RecordFailed, "%s %v", full, err)
		assert.Check(t, len(slices.DeleteFunc(w.calls, func(c string) bool { return strings.HasPrefix(c, "get a") })) >= ran, "%s: ran %v", full, w.calls)
		if full == "begin" && len(w.calls) > 0 || full == "4 done" && w.kept["b"] != nil {
			t.Errorf("%s: ran %v, kept %v", full, w.calls, w.kept)
		}
		if full == "4 begun" && (n.lines[len(n.lines)-1] != "end rolled_back" || w.kept["a"] != nil) {
			t.Errorf("%v, kept %v", n.lines, w.kept)
		}
	}
}

// Another process resumes at a step, with the values and acts of the earlier ones.
func TestGoingOn(t *testing.T) {
	w, n := runRecorded(t, "")
	w.fails["get missing"] = aai.Errorf(aai.ElementNotFound, "there is none")
	if _, err := w.does(t, fourSteps()...); err != nil {
		t.Fatal(err)
	}
	later, again := runRecorded(t, "")
	later.kept["a"] = 1
	later.fails["set b"] = aai.Errorf(aai.ElementNotFound, "no b")
	d, err := workflow.ParseDocument(n.run.Document.Source, false)
	assert.NilError(t, err)
	call := &aai.Call{ID: "c2", Caller: agent(), App: aai.BuiltinApp, Tool: workflow.BuiltinToolName}
	_, err = later.Execute(t.Context(), call, d, workflow.ResumePoint{Step: 4, Before: n.records[:3]})
	if err == nil || !strings.Contains(err.Error(), "step 4 of 4") || !strings.Contains(err.Error(), "1 act undone") || !strings.Contains(err.Error(), "not undone") { // from the stored state
		t.Error(err)
	}
	want := []string{"set b", "get a", "set a"}
	assert.Assert(t, slices.Equal(later.calls, want), "ran %v, expected %v; kept %v", later.calls, want, later.kept)
	assert.Assert(t, later.kept["a"] == nil, "ran %v, expected %v; kept %v", later.calls, want, later.kept)
	want = []string{"begin", "4 begun", "4 failed", "back 1 unsure", "back 1 undone", "end partly_rolled_back"}
	assert.Check(t, slices.Equal(again.lines, want), "told %v, expected %v", again.lines, want)
}

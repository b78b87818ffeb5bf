package workflow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/automation/workflow"
)

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

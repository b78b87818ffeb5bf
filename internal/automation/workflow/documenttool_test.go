package workflow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	if tool := (workflow.Config{}).Tool("n", d); !tool.Privacy.ShowSecrets || len(tool.Privacy.Secret) != 3 {
		t.Errorf("who is asked is shown: %t; not on record: %v", tool.Privacy.ShowSecrets, tool.Privacy.Secret)
	}
	runs := workflow.Config{}.Tool("n", d).Implementation.Summary
	for _, want := range []string{
		`1. calc ax_set_value query="role:text" value=…;`, `2. calc ax_set_value query=no {{params.n}} value=…{{params.expr}};`,
		`3. {{params.of}} ax_find nth=2 query="OK";`, `query="q8"; and 3 more`,
	} {
		if !strings.Contains(runs, want) {
			t.Errorf("%s is not in: %s", want, runs)
		}
	}
	if strings.Contains(runs, "hunter2") || strings.Contains(runs, "pw") {
		t.Error(runs)
	}
	shelf := documentObject{"app": "org.example.Shelf", "tool": "set", "args": documentObject{"name": "a", "n": json.Number("3")}}
	if d, err = workflow.ParseDocument(documentObject{"name": "n", "steps": []any{shelf}}, false); err != nil {
		t.Fatal(err)
	}
	if runs := (workflow.Config{}).Tool("n", d).Implementation.Summary; runs != "1. org.example.Shelf set n=… name=…" {
		t.Error(runs)
	}
}

package workflow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

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

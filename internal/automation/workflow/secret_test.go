package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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

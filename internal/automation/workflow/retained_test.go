package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// A workflow keeps step values up to a limit, and warns if some were dropped.
func TestWhatStepsGaveIsBounded(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = strings.Repeat("x", 1<<20)
	items := make([]any, 40) // each is stored as the value and in the text
	for i := range items {
		items[i] = "a"
	}
	result, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: "workflow", Args: documentObject{"full": true, "steps": []any{
		step("get", documentObject{"name": "{{item}}"}, "for_each", items), step("list", documentObject{}),
	}}})
	assert.NilError(t, err)
	b, gone := jsonOf(t, result.Data), 0
	if gone = strings.Count(b, `"gone":`); gone != 40-31 || len(b) > 65<<20 || !strings.Contains(result.Warning, "64 MiB") {
		t.Errorf("%d are gone, %d bytes are left; %s", gone, len(b), result.Warning)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	assert.NilError(t, err)
	return string(b)
}

package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aai"
)

// A workflow keeps so much of what its steps gave, and says so where that was not all.
func TestWhatStepsGaveIsBounded(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = strings.Repeat("x", 1<<20)
	items := make([]any, 40) // each is there as the value, and in the text
	for i := range items {
		items[i] = "a"
	}
	result, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.OwnApp, Tool: "workflow", Args: object{"full": true, "steps": []any{
		step("get", object{"name": "{{item}}"}, "for_each", items), step("list", object{}),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	b, gone := jsonOf(t, result.Data), 0
	if gone = strings.Count(b, `"gone":`); gone != 40-31 || len(b) > 65<<20 || !strings.Contains(result.Warning, "64 MiB") {
		t.Errorf("%d are gone, %d bytes are left; %s", gone, len(b), result.Warning)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

package workflow_test

import (
	"runtime"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// Values repeated many times in a text fail their step before the text is built: a megabyte of
// source must not produce gigabytes.
func TestValuesThatMultiply(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, steps := range map[string][]any{
		"of a list for people": {step("set", documentObject{"name": "b", "value": strings.Repeat("{{item}}", 2000)}, "for_each", []any{long})},
		"of a step":            {step("get", documentObject{"name": "a"}), step("set", documentObject{"name": "b", "value": strings.Repeat("{{step_1.value}}", 2000)})},
		"of a step, as JSON":   {step("get", documentObject{"name": "a"}), step("set", documentObject{"name": "b", "value": strings.Repeat("{{step_1}}", 2000)})},
	} {
		w := newWorld(t)
		w.answer, w.kept["a"] = "session", long
		if _, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: shelfID, Tool: "set", Args: documentObject{"name": "c", "value": 1}}); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := w.does(t, steps...)
		runtime.ReadMemStats(&after)
		made := (after.TotalAlloc - before.TotalAlloc) >> 20
		assert.Check(t, made <= 60, "%s: %d MB were made", name, made)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %.300v", name, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%s %.300v", name, err)
		assert.Assert(t, w.kept["b"] == nil, "%s %.300v", name, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %.300v", name, err)
	}
}

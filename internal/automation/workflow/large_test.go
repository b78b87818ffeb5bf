package workflow_test

import (
	"runtime"
	"strings"
	"testing"

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
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 60 {
			t.Errorf("%s: %d MB were made", name, made)
		}
		if e := aai.AsError(err); e == nil || e.Code != aai.InvalidParams || w.kept["b"] != nil || e.Delivery != aai.NotDelivered {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

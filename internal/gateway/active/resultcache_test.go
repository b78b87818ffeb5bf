package active_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

// counting returns a tool that answers with the number of its runs.
func counting(during func()) *aai.Tool {
	looks := 0
	return &aai.Tool{Name: "look", Run: func(context.Context, *aai.Call) (*aai.Result, error) {
		looks++
		during()
		return &aai.Result{Text: strconv.Itoa(looks)}, nil
	}}
}

func look(t *testing.T, tool *aai.Tool, call aai.Call) string {
	t.Helper()
	if call.Target == nil {
		call.Target = &aai.App{ID: "desktop/a", PID: 7}
	}
	call.Tool = tool.Name
	result, err := tool.Run(t.Context(), &call)
	assert.NilError(t, err)
	text := result.Text
	result.Text = "changed by who got it"
	return text
}

func TestResultIsCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a active.ResultCache
		tool := counting(func() {})
		a.CacheTool(tool, 500*time.Millisecond)
		expect := func(what, want string, call aai.Call) {
			t.Helper()
			assert.Check(t, is.Equal(look(t, tool, call), want), what)
		}
		args := func(v any) aai.Call { return aai.Call{Args: map[string]any{"app": v}} }
		expect("the first", "1", args("a"))
		expect("at once", "1", args("a"))
		expect("other arguments", "2", args("b"))
		expect("another's", "3", aai.Call{Args: map[string]any{"app": "a"}, Caller: aai.Caller{Session: "s"}})
		expect("another process", "4", aai.Call{Args: map[string]any{"app": "a"}, Target: &aai.App{ID: "desktop/a", PID: 8}})
		time.Sleep(499 * time.Millisecond)
		expect("in time", "1", args("a"))
		time.Sleep(2 * time.Millisecond)
		expect("too late", "5", args("a"))
		a.Invalidate()
		expect("after an act", "6", args("a"))
		got := look(t, counting(func() {}), aai.Call{})
		assert.Check(t, is.Equal(got, "1"), "a tool of no age: %s", got)
		time.Sleep(time.Second) // nothing is left to wait for
	})
}

// TestCachedResultIsMeasured: the log of the call says that its result was cached.
func TestCachedResultIsMeasured(t *testing.T) {
	var a active.ResultCache
	tool := counting(func() {})
	a.CacheTool(tool, time.Hour)
	for n, want := range []any{nil, true} {
		var m gateway.Measurements
		call := aai.Call{Tool: tool.Name, Target: &aai.App{ID: "desktop/a", PID: 7}}
		_, err := tool.Run(gateway.WithMeasurements(t.Context(), &m), &call)
		assert.NilError(t, err)
		got := map[string]any{}
		if m.CopyTo(got); got["cache_hit"] != want {
			t.Errorf("call %d: cached is %v, want %v", n, got["cache_hit"], want)
		}
	}
}

// TestResultDuringAMutationIsNotCached: a result computed during an action may be outdated.
func TestResultDuringAMutationIsNotCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a active.ResultCache
		tool := counting(a.Invalidate)
		a.CacheTool(tool, time.Hour)
		for _, want := range []string{"1", "2"} {
			assert.Check(t, is.Equal(look(t, tool, aai.Call{}), want))
		}
		time.Sleep(time.Hour)
	})
}

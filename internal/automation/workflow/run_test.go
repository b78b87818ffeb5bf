package workflow_test

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestStepsFollowEachOther(t *testing.T) {
	w := newWorld(t)
	w.kept["a"] = "apple"
	result, err := w.does(t,
		step("get", documentObject{"name": "a"}, "name", "first"),
		step("set", documentObject{"name": "b", "value": "{{step_1.value}}"}),
		step("set", documentObject{"name": "c", "value": "an {{first.value}}!"}),
		step("get", documentObject{"name": "c"}),
	)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(w.kept["b"], "apple"), w.kept)
	assert.Check(t, is.Equal(w.kept["c"], "an apple!"), w.kept)
	want := "test: 4 of 4 steps done"
	assert.Assert(t, strings.HasPrefix(result.Text, want), result.Text)
	assert.Assert(t, is.Contains(result.Text, "an apple!"))
}

func TestWhatWasDoneIsTakenBack(t *testing.T) {
	w := newWorld(t)
	w.kept["a"], w.kept["b"] = "old", "old"
	w.fails["get nothing"] = aai.Errorf(aai.ElementNotFound, "there is nothing")
	_, err := w.does(t,
		step("set", documentObject{"name": "a", "value": "new"}),
		step("set", documentObject{"name": "b", "value": "new"}),
		step("burn", documentObject{"name": "z"}),
		step("get", documentObject{"name": "nothing"}, "on_fail", "rollback"),
		step("set", documentObject{"name": "c", "value": "never"}),
	)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Code, aai.ElementNotFound, "%+v", e)
	assert.Assert(t, !e.RetrySafe(), "%+v", e)
	for _, part := range []string{"step 4 of 5 (get)", "there is nothing", "not undone: step 3 (burn)", "rolled back: 2 acts"} {
		assert.Check(t, is.Contains(e.Message, part), "%q does not say %q", e.Message, part)
	}
	assert.Check(t, is.Equal(w.kept["a"], "old"), w.kept)
	assert.Check(t, is.Equal(w.kept["b"], "old"), w.kept)
	assert.Check(t, w.kept["c"] == nil, "kept %v", w.kept)
	if a, b := slices.Index(w.calls, "get a"), slices.Index(w.calls, "get b"); b > a {
		t.Errorf("not the newest first: %v", w.calls)
	}
}

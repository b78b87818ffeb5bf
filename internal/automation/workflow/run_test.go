package workflow_test

import (
	"slices"
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	if w.kept["b"] != "apple" || w.kept["c"] != "an apple!" {
		t.Errorf("kept %v", w.kept)
	}
	if want := "test: 4 of 4 steps done"; !strings.HasPrefix(result.Text, want) || !strings.Contains(result.Text, "an apple!") {
		t.Errorf("%s", result.Text)
	}
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
	if e == nil || e.Code != aai.ElementNotFound || e.RetrySafe() {
		t.Fatalf("%+v", e)
	}
	for _, part := range []string{"step 4 of 5 (get)", "there is nothing", "not undone: step 3 (burn)", "rolled back: 2 acts"} {
		if !strings.Contains(e.Message, part) {
			t.Errorf("%q does not say %q", e.Message, part)
		}
	}
	if w.kept["a"] != "old" || w.kept["b"] != "old" || w.kept["c"] != nil {
		t.Errorf("kept %v", w.kept)
	}
	if a, b := slices.Index(w.calls, "get a"), slices.Index(w.calls, "get b"); b > a {
		t.Errorf("not the newest first: %v", w.calls)
	}
}

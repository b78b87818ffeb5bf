package workflow_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// The question shows that a call repeats, also if its arguments do not, and its values; a list
// that is too long to show is not asked about.
func TestManyTimesIsShown(t *testing.T) {
	w := newWorld(t)
	if _, err := w.does(t, step("burn", documentObject{"name": "a"}, "for_each", []any{"first", "second"})); err != nil {
		t.Fatal(err)
	}
	text := w.asked[0].Text
	assert.Assert(t, is.Contains(text, "for each value of:"))
	assert.Assert(t, is.Contains(text, "second"))
	var many []any
	for range 500 {
		many = append(many, "value")
	}
	_, err := w.does(t, step("burn", documentObject{"name": "a"}, "for_each", many))
	if e := aai.AsError(err); e == nil || e.Code != aai.ConsentRequired || len(w.calls) != 2 || len(w.asked) != 1 {
		t.Errorf("%v, ran %v, asked %d", err, w.calls, len(w.asked))
	}
}

// In the mode that confirms each irreversible call separately, one consent does not cover several calls.
func TestNotManyTimesInTheSafeMode(t *testing.T) {
	for tool, runs := range map[string]bool{"burn": false, "get": true} {
		w := newWorld(t)
		modes := &policy.ModeGate{Configured: policy.Safe}
		w.Gates[1], w.Gates[3] = modes, policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(t.TempDir() + "/c.json"), ModeGate: modes})
		_, err := w.does(t, step("list", documentObject{}), step(tool, documentObject{"name": "{{item}}"}, "for_each", []any{"x", "y"}))
		if e := aai.AsError(err); runs != (e == nil) || !runs && (e.Code != aai.ConsentRequired || len(w.calls)+len(w.asked) > 0) {
			t.Errorf("%s: %v, ran %v, asked %d", tool, err, w.calls, len(w.asked))
		}
	}
}

package workflow_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// An undo in a program applies to that program only: its process id may belong to another one by
// then.
func TestAnUndoIsForItsProgram(t *testing.T) {
	w := newWorld(t)
	w.desk()
	desk := w.apps[len(w.apps)-1]
	now := &aai.App{ID: "desktop/editor", Name: "Editor", PID: 7}
	desk.Operator = fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return now, nil }}
	args := map[string]any{"app": "7", "query": "x"}
	desk.Tool("ax_click").Run = func(context.Context, *aai.Call) (*aai.Result, error) {
		w.calls = append(w.calls, now.ID)
		step := aai.Step{App: aai.DesktopApp, Tool: "ax_click", Args: args}
		return &aai.Result{Undo: &aai.Undo{Step: step, StateStep: &step}}, nil
	}
	result, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: "ax_click", Args: args})
	assert.NilError(t, err)
	now = &aai.App{ID: "desktop/other", Name: "Other", PID: 7}
	for _, step := range []aai.Step{result.Undo.Step, *result.Undo.StateStep} {
		_, err := w.Do(t.Context(), step.Call(agent()))
		assert.Assert(t, aai.AsError(err) != nil, "it was done to another program: %v", err)
		assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered, err)
		assert.Assert(t, is.Len(w.calls, 1), err)
	}
	now = &aai.App{ID: "desktop/editor", Name: "Editor", PID: 7}
	_, err = w.Do(t.Context(), result.Undo.Step.Call(agent()))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(w.calls, 2))
}

package script

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// TestSystemScript: a script in a language of the system is asked about each time, with its whole text, even where everything is
// preapproved, and never runs in the safe and the sandboxed mode. The journal does not keep its text.
func TestSystemScript(t *testing.T) {
	const text = `tell application "Notes" to delete note "hush"`
	w, ran := newWorld(t), []string{}
	w.system = SystemTool(func(_ context.Context, _ *aai.Call, language, script string) (*aai.Result, error) {
		ran = append(ran, language+" "+script)
		return &aai.Result{Text: "done"}, nil
	})
	w.open(allowed(aai.DesktopApp))
	call := &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Session: "s"}, App: aai.DesktopApp, Tool: DesktopToolName, Args: map[string]any{"language": "applescript", "script": text}}
	for range 2 {
		_, err := w.gateway.Do(t.Context(), call)
		questions := aai.AsError(err).Questions
		assert.Assert(t, is.Len(questions, 1), "%v", err)
		assert.Check(t, is.Contains(questions[0].Text, `delete note \"hush\"`))
		assert.Check(t, is.Len(ran, 0))
	}
	for _, mode := range []policy.Mode{policy.Safe, policy.Sandboxed} {
		w.gateway.Gates[0] = &policy.ModeGate{Configured: mode}
		_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: call.Caller, App: aai.DesktopApp, Tool: SystemToolName, Args: call.Args})
		assert.Check(t, is.Equal(aai.AsError(err).Code, aai.PermissionDenied), "%v", err)
	}
	w.gateway.Gates = []aai.Gate{&policy.ModeGate{}}
	got, err := w.gateway.Do(t.Context(), call)
	assert.NilError(t, err)
	assert.Equal(t, got.Text, "done")
	assert.DeepEqual(t, ran, []string{"applescript " + text})
	call.Args["args"] = map[string]any{"a": 1}
	_, err = w.gateway.Do(t.Context(), call)
	assert.Check(t, is.ErrorContains(err, "expected script without file and args"))
}

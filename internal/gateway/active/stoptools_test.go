package active_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

func asking(args map[string]any) *aai.Call { return &aai.Call{Caller: person().Caller, Args: args} }

// spoil makes the file invalid.
func spoil(t *testing.T, path string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(path, nil, 0o600))
}

// TestWhatIsToBeStartedWhereNobodyUnderstandsTheFile: an invalid file stops everything. A start
// of everything is possible; a start of one call is rejected with a hint.
func TestWhatIsToBeStartedWhereNobodyUnderstandsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	spoil(t, path)
	start := at(path).Tools()[1]
	assert.Check(t, start.Precheck(t.Context(), asking(nil)))
	e := aai.AsError(start.Precheck(t.Context(), asking(map[string]any{"call": "c1"})))
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Message, "that is not stopped; everything is", "%+v", e)
	assert.Equal(t, e.Hint, "To start that again: aai-gateway start", "%+v", e)
	result, err := start.Run(t.Context(), asking(nil))
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, !result.NoOp, "%+v", result)
	assert.Equal(t, fmt.Sprint(result.Data), "map[started:[everything] stopped:[]]", "%+v", result)
}

// TestWhatIsLeftWhereNobodyUnderstandsTheFile: the answer of a start lists the stops after it:
// everything, if another gateway left an invalid file meanwhile.
func TestWhatIsLeftWhereNobodyUnderstandsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	spoil(t, path)
	h := active.NewStopList(active.StopConfig{Path: path, OnChange: func() { spoil(t, path) }})
	result, err := h.Tools()[1].Run(t.Context(), asking(nil))
	assert.NilError(t, err, "%+v", result)
	assert.Equal(t, fmt.Sprint(result.Data), "map[started:[everything] stopped:[everything]]", "%+v", result)
}

// TestTheToolsWhereTheFileIsAFolder: the error names a file that can be neither read nor written,
// and the remedy.
func TestTheToolsWhereTheFileIsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	assert.NilError(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	for i, want := range []struct{ says, hint string }{
		{"it could not be stopped: ", "Stop everything, for which an empty file is enough: " + path},
		{"it could not be started again: ", "Remove the file " + path},
	} {
		result, err := at(path).Tools()[i].Run(t.Context(), asking(nil))
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%+v %+v", result, e)
		assert.Assert(t, result == nil, "%+v %+v", result, e)
		assert.Equal(t, e.Code, aai.AutomationFailed, "%+v %+v", result, e)
		assert.Assert(t, strings.HasPrefix(e.Message, want.says), "%+v %+v", result, e)
		assert.Equal(t, e.Hint, want.hint, "%+v %+v", result, e)
	}
}

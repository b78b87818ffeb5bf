package active_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

func asking(args map[string]any) *aai.Call { return &aai.Call{Caller: person().Caller, Args: args} }

// spoil makes the file invalid.
func spoil(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsToBeStartedWhereNobodyUnderstandsTheFile: an invalid file stops everything. A start
// of everything is possible; a start of one call is rejected with a hint.
func TestWhatIsToBeStartedWhereNobodyUnderstandsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	spoil(t, path)
	start := at(path).Tools()[1]
	if err := start.Precheck(t.Context(), asking(nil)); err != nil {
		t.Error(err)
	}
	e := aai.AsError(start.Precheck(t.Context(), asking(map[string]any{"call": "c1"})))
	if e == nil || e.Message != "that is not stopped; everything is" || e.Hint != "To start that again: aai-gateway start" {
		t.Errorf("%+v", e)
	}
	result, err := start.Run(t.Context(), asking(nil))
	if err != nil || result.NoOp || fmt.Sprint(result.Data) != "map[started:[everything] stopped:[]]" {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestWhatIsLeftWhereNobodyUnderstandsTheFile: the answer of a start lists the stops after it:
// everything, if another gateway left an invalid file meanwhile.
func TestWhatIsLeftWhereNobodyUnderstandsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	spoil(t, path)
	h := active.NewStopList(active.StopConfig{Path: path, OnChange: func() { spoil(t, path) }})
	result, err := h.Tools()[1].Run(t.Context(), asking(nil))
	if err != nil || fmt.Sprint(result.Data) != "map[started:[everything] stopped:[everything]]" {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestTheToolsWhereTheFileIsAFolder: the error names a file that can be neither read nor written,
// and the remedy.
func TestTheToolsWhereTheFileIsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ says, hint string }{
		{"it could not be stopped: ", "Stop everything, for which an empty file is enough: " + path},
		{"it could not be started again: ", "Remove the file " + path},
	} {
		result, err := at(path).Tools()[i].Run(t.Context(), asking(nil))
		if e := aai.AsError(err); e == nil || result != nil || e.Code != aai.AutomationFailed || !strings.HasPrefix(e.Message, want.says) || e.Hint != want.hint {
			t.Errorf("%+v, %+v", result, e)
		}
	}
}

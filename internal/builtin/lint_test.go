package builtin_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/builtin"
)

func lintArgs(t *testing.T, args map[string]string) string {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLintReadsTheFileThatIsNamed(t *testing.T) {
	w := newWorld(t, map[string]string{"a": notes, "b": strings.Replace(notes, "add", "put", 1)})
	first, second := filepath.Join(w.folder, "a", "aai.json"), filepath.Join(w.folder, "b", "aai.json")
	report, ok := w.callBuiltin(t, builtin.Lint, lintArgs(t, map[string]string{"source": first})).Data.(*answer.LintReport)
	if !ok || report.App != "org.example.Notes" || report.HasSeverity(answer.SeverityError) || len(report.Findings) == 0 {
		t.Errorf("report %+v", report)
	}
	report, ok = w.callBuiltin(t, builtin.Lint, lintArgs(t, map[string]string{"source": second, "against": first})).Data.(*answer.LintReport)
	if !ok || !report.HasSeverity(answer.SeverityError) {
		t.Errorf("report %+v", report)
	}
	for source, want := range map[string]string{
		w.folder:                             w.folder + " is a folder; expected a regular file",
		filepath.Join(w.folder, "none.json"): filepath.Join(w.folder, "none.json") + " cannot be read",
	} {
		for _, args := range []map[string]string{{"source": source}, {"source": first, "against": source}} {
			_, err := w.do(t, person(), aai.BuiltinApp, builtin.Lint, lintArgs(t, args))
			if e := aai.AsError(err); e == nil || e.Code != aai.DescriptorInvalid || e.Delivery != aai.NotDelivered || !strings.HasPrefix(e.Message, want) {
				t.Errorf("%v: %v, want %s", args, err, want)
			}
		}
	}
}

// TestLintOfASite checks that only FetchPage downloads pages; without it there are none.
func TestLintOfASite(t *testing.T) {
	w := newWorld(t, nil)
	w.expectRefused(t, builtin.Lint, `{"source": "https://example.com"}`, aai.Error{
		Code: aai.AutomationNotSupported, Message: `this gateway cannot fetch "https://example.com"`, Hint: "Save the descriptor in a file, and name that.",
	})
	w.expectRefused(t, builtin.Lint, `{"source": "file:///etc/passwd"}`, aai.Error{
		Code: aai.InvalidParams, Message: `"file:///etc/passwd" is no web address; expected one such as https://example.com`,
	})
	var asked []string
	failure := aai.Errorf(aai.AppNotFound, "nothing is there")
	w.deps.FetchPage = func(_ context.Context, address string) ([]byte, error) {
		asked = append(asked, address)
		if strings.Contains(address, "none") {
			return nil, failure
		}
		return []byte(notes), nil
	}
	w.open()
	report, ok := w.callBuiltin(t, builtin.Lint, `{"source": "https://example.com", "against": "https://example.com/old/aai.json?v=1"}`).Data.(*answer.LintReport)
	if !ok || report.App != "example.com/org.example.Notes" || report.Comparison == nil && !report.HasSeverity(answer.SeverityError) {
		t.Errorf("report %+v", report)
	}
	if diff := cmp.Diff([]string{"https://example.com/.well-known/aai.json", "https://example.com/old/aai.json?v=1"}, asked); diff != "" {
		t.Error(diff)
	}
	w.expectRefused(t, builtin.Lint, `{"source": "https://none.example"}`, *failure)
}

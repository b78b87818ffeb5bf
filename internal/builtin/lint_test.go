package builtin_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/builtin"
)

func lintArgs(t *testing.T, args map[string]string) string {
	t.Helper()
	b, err := json.Marshal(args)
	assert.NilError(t, err)
	return string(b)
}

func TestLintReadsTheFileThatIsNamed(t *testing.T) {
	w := newWorld(t, map[string]string{"a": notes, "b": strings.Replace(notes, "add", "put", 1)})
	first, second := filepath.Join(w.folder, "a", "aai.json"), filepath.Join(w.folder, "b", "aai.json")
	report, ok := w.callBuiltin(t, builtin.Lint, lintArgs(t, map[string]string{"source": first})).Data.(*answer.LintReport)
	assert.Assert(t, ok, "report %+v", report)
	assert.Equal(t, report.App, "org.example.Notes", "%+v", report)
	assert.Assert(t, !report.HasSeverity(answer.SeverityError), "report %+v", report)
	assert.Assert(t, len(report.Findings) != 0, "report %+v", report)
	report, ok = w.callBuiltin(t, builtin.Lint, lintArgs(t, map[string]string{"source": second, "against": first})).Data.(*answer.LintReport)
	assert.Assert(t, ok, "report %+v", report)
	assert.Assert(t, report.HasSeverity(answer.SeverityError), "report %+v", report)
	for source, want := range map[string]string{
		w.folder:                             w.folder + " is a folder; expected a regular file",
		filepath.Join(w.folder, "none.json"): filepath.Join(w.folder, "none.json") + " cannot be read",
	} {
		for _, args := range []map[string]string{{"source": source}, {"source": first, "against": source}} {
			_, err := w.do(t, person(), aai.BuiltinApp, builtin.Lint, lintArgs(t, args))
			e := aai.AsError(err)
			assert.Assert(t, e != nil, "%v %v %s", args, err, want)
			assert.Equal(t, e.Code, aai.DescriptorInvalid, "%v %v %s", args, err, want)
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%v %v %s", args, err, want)
			assert.Assert(t, strings.HasPrefix(e.Message, want), "%v %v %s", args, err, want)
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
	assert.Assert(t, ok, "report %+v", report)
	assert.Equal(t, report.App, "example.com/org.example.Notes", "%+v", report)
	assert.Assert(t, report.Comparison != nil || report.HasSeverity(answer.SeverityError), "report %+v", report)
	assert.Check(t, is.DeepEqual([]string{"https://example.com/.well-known/aai.json", "https://example.com/old/aai.json?v=1"}, asked))
	w.expectRefused(t, builtin.Lint, `{"source": "https://none.example"}`, *failure)
}

package builtin_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/builtin"
)

// resultJournal is a journal with kept results, as in the program.
type resultJournal struct {
	aai.Journal
	keptResults *kept.ResultStore
}

func (k resultJournal) Record(ctx context.Context, e *aai.Entry) error {
	e, keep := k.keptResults.PrepareEntry(ctx, e)
	if err := k.Journal.Record(ctx, e); err != nil {
		return err
	}
	keep()
	return nil
}

// TestKeptResultsAreReturnedAndForgotten checks that a trace includes the kept result without
// secrets, but not a replaced one, and none after it is forgotten.
func TestKeptResultsAreReturnedAndForgotten(t *testing.T) {
	w := newWorld(t, apps())
	folder := filepath.Join(t.TempDir(), "answers")
	w.deps.KeptResults = kept.NewResultStore(kept.ResultConfig{Folder: folder, Apps: []string{"org.example.Notes"}, MaxAge: time.Hour})
	w.open()
	w.gateway.Journal = resultJournal{w.deps.Journal, w.deps.KeptResults}
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
	call := &aai.Call{ID: "c1", Caller: agent(), App: "memo", Tool: "add", Args: args(t, `{"title": "milk", "password": "hunter2"}`)}
	if _, err := w.gateway.Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	told := func() (found struct {
		Answer *struct{ Text string }
		Lost   string `json:"answer_lost"`
	}) {
		t.Helper()
		decodeInto(t, w.callBuiltin(t, builtin.Story, `{"call": "c1"}`).Data, &found)
		return found
	}
	got := told()
	assert.Assert(t, got.Answer != nil, "%+v", got)
	assert.Equal(t, got.Answer.Text, "done", "%+v", got)
	assert.Equal(t, got.Lost, "", "%+v", got)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 1))
	b, err := os.ReadFile(files[0])
	assert.NilError(t, err, b)
	assert.Assert(t, !bytes.Contains(b, []byte("hunter2")), b)
	other := kept.NewResultStore(kept.ResultConfig{Folder: folder, Apps: []string{"*"}, MaxAge: time.Hour})
	_, put := other.PrepareEntry(t.Context(), &aai.Entry{Kind: aai.Outcome, Call: "c1", App: "x", Time: time.Now(), ResultValue: func() any { return "forged" }})
	put()
	got = told()
	assert.Assert(t, got.Answer == nil, "what was forged: %+v", got)
	assert.Assert(t, got.Lost != "", "what was forged: %+v", got)
	_, err = w.do(t, person(), aai.BuiltinApp, builtin.ForgetResults, `{"call": "c1", "all": true}`)
	assert.Check(t, err != nil, "one and all are forgotten")
	assert.Check(t, w.callBuiltin(t, builtin.ForgetResults, `{"all": true}`).Text != "", "nothing is said of it")
	got = told()
	assert.Assert(t, got.Answer == nil, "what was forgotten: %+v", got)
	assert.Equal(t, got.Lost, "", "%+v", got)
	v, err := w.deps.Journal.Verify(t.Context())
	assert.NilError(t, err, v)
	assert.Assert(t, v.Verdict == "ok", v)
}

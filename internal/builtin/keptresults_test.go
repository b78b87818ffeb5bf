package builtin_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	if got := told(); got.Answer == nil || got.Answer.Text != "done" || got.Lost != "" {
		t.Errorf("%+v", got)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil || bytes.Contains(b, []byte("hunter2")) {
		t.Errorf("%s, %v", b, err)
	}
	other := kept.NewResultStore(kept.ResultConfig{Folder: folder, Apps: []string{"*"}, MaxAge: time.Hour})
	_, put := other.PrepareEntry(t.Context(), &aai.Entry{Kind: aai.Outcome, Call: "c1", App: "x", Time: time.Now(), ResultValue: func() any { return "forged" }})
	put()
	if got := told(); got.Answer != nil || got.Lost == "" {
		t.Errorf("what was forged: %+v", got)
	}
	if _, err := w.do(t, person(), aai.BuiltinApp, builtin.ForgetResults, `{"call": "c1", "all": true}`); err == nil {
		t.Error("one and all are forgotten")
	}
	if result := w.callBuiltin(t, builtin.ForgetResults, `{"all": true}`); result.Text == "" {
		t.Error("nothing is said of it")
	}
	if got := told(); got.Answer != nil || got.Lost != "" {
		t.Errorf("what was forgotten: %+v", got)
	}
	if v, err := w.deps.Journal.Verify(t.Context()); err != nil || v.Verdict != "ok" {
		t.Errorf("%v, %v", v, err)
	}
}

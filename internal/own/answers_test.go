package own_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aai"
	"aai/internal/answers"
	"aai/internal/own"
)

// keeping is a journal beside which answers are kept, as the program has it.
type keeping struct {
	aai.Journal
	answers *answers.Keeper
}

func (k keeping) Record(ctx context.Context, e *aai.Entry) error {
	e, keep := k.answers.Take(ctx, e)
	if err := k.Journal.Record(ctx, e); err != nil {
		return err
	}
	keep()
	return nil
}

// What a call answered is told with its story while it is kept, without what was a secret of
// the call; not if somebody has put another in its place; and no more once it is forgotten.
func TestAnswersAreToldAndForgotten(t *testing.T) {
	w := newWorld(t, apps())
	folder := filepath.Join(t.TempDir(), "answers")
	w.sources.Answers = answers.New(answers.Config{Folder: folder, Apps: []string{"org.example.Notes"}, Age: time.Hour})
	w.open()
	w.gateway.Journal = keeping{w.sources.Journal, w.sources.Answers}
	w.own(t, own.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
	call := &aai.Call{ID: "c1", Caller: agent(), App: "memo", Tool: "add", Args: args(t, `{"title": "milk", "password": "hunter2"}`)}
	if _, err := w.gateway.Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	told := func() (found struct {
		Answer *struct{ Text string }
		Lost   string `json:"answer_lost"`
	}) {
		t.Helper()
		remarshal(t, w.own(t, own.Story, `{"call": "c1"}`).Data, &found)
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
	other := answers.New(answers.Config{Folder: folder, Apps: []string{"*"}, Age: time.Hour})
	_, put := other.Take(t.Context(), &aai.Entry{Kind: aai.Outcome, Call: "c1", App: "x", Time: time.Now(), Answer: func() any { return "forged" }})
	put()
	if got := told(); got.Answer != nil || got.Lost == "" {
		t.Errorf("what was forged: %+v", got)
	}
	if _, err := w.do(t, person(), aai.OwnApp, own.ForgetAnswers, `{"call": "c1", "all": true}`); err == nil {
		t.Error("one and all are forgotten")
	}
	if result := w.own(t, own.ForgetAnswers, `{"all": true}`); result.Text == "" {
		t.Error("nothing is said of it")
	}
	if got := told(); got.Answer != nil || got.Lost != "" {
		t.Errorf("what was forgotten: %+v", got)
	}
	if v, err := w.sources.Journal.Verify(t.Context()); err != nil || v.Verdict != "ok" {
		t.Errorf("%v, %v", v, err)
	}
}

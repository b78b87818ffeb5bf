package policy

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"aai"
)

func TestDestructiveCaptions(t *testing.T) {
	c := NewConfirm(NewModes(Normal, filepath.Join(t.TempDir(), "m")), append(DestructiveWords(), "Launch"))
	for caption, want := range map[string]bool{
		"Delete": true, "delete all data": true, "Permanently Delete…": true, "title:Delete": true, "//button[@name='Delete']": true,
		"删除": true, "确认删除所有文件": true, "Alles löschen": true, "Удалить": true, "完全に削除する": true, "Pay now": true, "launch": true,
		"": false, "Save": false, "Undelete": false, "Deleted items": false, "Payment details": false, "Sender": false, "保存": false,
		"role:button": false, "Forma": false, "e12": false,
	} {
		if got := c.destructive(caption); (got != "") != want {
			t.Errorf("%q: found %q", caption, got)
		}
	}
	if c := NewConfirm(nil, nil); c.destructive("Delete") != "" {
		t.Error("no words, and one is found")
	}
}

// TestConfirm: a click on "Delete" is asked about each time, whatever was allowed,
// and its answer is good for that click alone.
func TestConfirm(t *testing.T) {
	at := newClock()
	c := NewConfirm(NewModes(Normal, filepath.Join(t.TempDir(), "m")), DestructiveWords())
	c.now = at.now
	caption := "Delete"
	screen := &aai.App{ID: aai.DesktopApp, Words: func(context.Context, *aai.Call) string { return caption }}
	click := func(answers map[string]aai.Answer, query string) ([]aai.Question, error) {
		r := toolOf(screen, aai.Tool{Name: "ax_click"})
		r.Call.Args, r.Call.Answers = map[string]any{"query": query}, answers
		return c.Check(t.Context(), r)
	}
	asked := func(query string) aai.Question {
		t.Helper()
		questions, err := click(nil, query)
		if err != nil || len(questions) != 1 || questions[0].Choices[0].ID != choiceDeny {
			t.Fatalf("%v %v", questions, err)
		}
		return questions[0]
	}
	answer := func(q aai.Question, choice string, by aai.Channel) map[string]aai.Answer {
		return map[string]aai.Answer{q.ID: {Choice: choice, Seal: q.Seal, Channel: by}}
	}
	q := asked("a")
	for name, wrong := range map[string]struct {
		answers map[string]aai.Answer
		query   string
		code    aai.Code
	}{
		"a no":                {answer(asked("a"), choiceDeny, aai.Native), "a", aai.PermissionDenied},
		"no choice at all":    {answer(asked("a"), "", aai.Native), "a", aai.PermissionDenied},
		"another choice":      {answer(asked("a"), choiceAlways, aai.Native), "a", aai.PermissionDenied},
		"for another call":    {answer(asked("b"), choiceOnce, aai.Native), "a", aai.ConsentRequired},
		"another's seal":      {map[string]aai.Answer{confirmID: {Choice: choiceOnce, Seal: "x", Channel: aai.Native}}, "a", aai.ConsentRequired},
		"by nobody's channel": {answer(asked("a"), choiceOnce, "elsewhere"), "a", aai.ConsentRequired},
	} {
		if _, err := click(wrong.answers, wrong.query); err == nil || aai.AsError(err).Code != wrong.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if questions, err := click(answer(q, choiceOnce, aai.Native), "a"); err != nil || len(questions) > 0 {
		t.Errorf("the right answer: %v %v", questions, err)
	}
	if _, err := click(answer(q, choiceOnce, aai.Native), "a"); err == nil {
		t.Error("the same answer again")
	}
	late := asked("a")
	at.advance(time.Hour)
	if _, err := click(answer(late, choiceOnce, aai.Native), "a"); err == nil {
		t.Error("an answer an hour later")
	}
	if caption = "Save"; func() bool { q, err := click(nil, "a"); return len(q) > 0 || err != nil }() {
		t.Error("a harmless click is asked about")
	}
}

// TestSafeModeAsksEachTime: declared tools that may destroy, and no others.
func TestSafeModeAsksEachTime(t *testing.T) {
	modes := NewModes(Safe, filepath.Join(t.TempDir(), "m"))
	c := NewConfirm(modes, nil)
	screen := &aai.App{ID: aai.DesktopApp, Words: func(context.Context, *aai.Call) string { return "Delete" }}
	for name, test := range map[string]struct {
		r    *aai.Request
		asks bool
	}{
		"destroys": {toolOf(&aai.App{ID: notes}, aai.Tool{}), true},
		"changes":  {toolOf(&aai.App{ID: notes}, aai.Tool{Effect: aai.Changes}), false},
		"reads":    {toolOf(&aai.App{ID: notes}, aai.Tool{Effect: aai.Reads}), false},
		"own":      {toolOf(&aai.App{ID: aai.OwnApp}, aai.Tool{}), false},
		"a click":  {toolOf(screen, aai.Tool{}), false}, // captions are switched off
	} {
		if q, err := c.Check(t.Context(), test.r); err != nil || (len(q) > 0) != test.asks {
			t.Errorf("%s: %v %v", name, q, err)
		}
	}
}

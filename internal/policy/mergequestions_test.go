package policy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// chooser is a dialog that records its questions.
type chooser struct {
	choice string
	asked  []aai.Question
}

func (c *chooser) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	c.asked = append(c.asked, q)
	return aai.Answer{Choice: c.choice, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// TestCallsAreAskedAboutTogether checks that calls admitted together are one question,
// which shows all of them and offers the common choices.
func TestCallsAreAskedAboutTogether(t *testing.T) {
	w := newWorld(t)
	dialog := &chooser{choice: choiceOnce}
	w.Dialog = dialog
	wipe := call(notes, "wipe")
	wipe.Args["text"] = "everything"
	a, err := w.Admit(t.Context(), call(notes, "add"), wipe, call(notes, "add"))
	if err != nil || len(dialog.asked) != 1 || len(w.ran) != 0 {
		t.Fatalf("%v, %d questions, ran %v", err, len(dialog.asked), w.ran)
	}
	defer a.Release()
	q := dialog.asked[0]
	want := `Asked by: /usr/bin/claude
│ which calls itself "claude-ai"
In: org.example.Notes
│ which calls itself "Notes"
Call 1 of 3: It would, as the app says: make changes that can be undone
│ with "add", which says: "Adds a note."
│ text: "milk"
Call 2 of 3: It would: send, delete or permanently change things
│ with "wipe", which says: "Deletes all notes."
│ text: "everything"
Call 3 of 3: It would, as the app says: make changes that can be undone
│ with "add", which says: "Adds a note."
│ text: "milk"`
	var choices []string
	for _, c := range q.Choices {
		choices = append(choices, c.ID)
	}
	if q.Title != `Allow "claude" all of these 3 calls?` || q.Text != want || strings.Join(choices, " ") != "deny once session always" {
		t.Errorf("%s\n%s\n%v", q.Title, q.Text, choices)
	}
	if strings.Count(q.Details, "The app's id: org.example.Notes") != 1 {
		t.Error(q.Details)
	}
	for i := range 3 {
		if _, err := a.Run(t.Context(), i); err != nil {
			t.Error(err)
		}
	}
	if w.ran[notes+":add"] != 2 || w.ran[notes+":wipe"] != 1 || strings.Join(w.records.intents(), "|") != "once (native)|once (native)|once (native)" {
		t.Errorf("ran %v, on record %q", w.ran, w.records.intents())
	}
	w.Dialog = nil
	w.expect(t, w.Gateway, call(notes, "add"), "CONSENT_REQUIRED?") // once was once
}

// TestANoIsToAllOfThem checks that a refusal applies to all calls, and that an earlier
// refusal asks nothing.
func TestANoIsToAllOfThem(t *testing.T) {
	w := newWorld(t)
	dialog := &chooser{choice: choiceDeny}
	w.Dialog = dialog
	if _, err := w.Admit(t.Context(), call(notes, "add"), call(notes, "wipe")); code(err) != "PERMISSION_DENIED" || len(dialog.asked) != 1 {
		t.Errorf("%v, %d questions", err, len(dialog.asked))
	}
	if err := w.store.Add(Grant{Caller: agent().String(), Identity: agent().Identity, App: notes, Tool: "wipe", Digest: "d1", Decision: Deny}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Admit(t.Context(), call(notes, "add"), call(notes, "wipe")); code(err) != "CONSENT_REQUIRED" || len(dialog.asked) != 1 {
		t.Errorf("%v, %d questions", err, len(dialog.asked))
	}
	if len(w.ran) != 0 || len(w.records.intents()) != 0 {
		t.Errorf("ran %v", w.ran)
	}
}

// TestOneAnswerForSeveralCalls checks that the answer to a merged question is valid for
// each of its calls, once.
func TestOneAnswerForSeveralCalls(t *testing.T) {
	w := newWorld(t)
	calls := func(answers map[string]aai.Answer, tools ...string) []*aai.Call {
		var all []*aai.Call
		for _, tool := range tools {
			c := call(notes, tool)
			c.Answers = answers
			all = append(all, c)
		}
		return all
	}
	_, err := w.Admit(t.Context(), calls(nil, "add", "wipe")...)
	e := aai.AsError(err)
	if code(err) != "CONSENT_REQUIRED?" || len(e.Questions) != 1 {
		t.Fatal(err)
	}
	answers := map[string]aai.Answer{questionID: {Choice: choiceOnce, Seal: e.Questions[0].Seal, Channel: aai.Terminal}}
	if _, err := w.Admit(t.Context(), calls(answers, "add", "list")...); code(err) != "CONSENT_REQUIRED" {
		t.Errorf("with a call that was not shown: %v", err) // and the answer to the other is spent
	}
	_, err = w.Admit(t.Context(), calls(nil, "add", "wipe")...)
	answers[questionID] = aai.Answer{Choice: choiceOnce, Seal: aai.AsError(err).Questions[0].Seal, Channel: aai.Terminal}
	a, err := w.Admit(t.Context(), calls(answers, "wipe", "add")...)
	if err != nil {
		t.Fatal(err)
	}
	a.Release()
	if _, err := w.Admit(t.Context(), calls(answers, "wipe", "add")...); code(err) != "CONSENT_REQUIRED" {
		t.Errorf("a second time: %v", err)
	}
}

// TestChangesOfTheGatewayAreNotJoined checks that each change of the gateway has its own question.
func TestChangesOfTheGatewayAreNotJoined(t *testing.T) {
	w := newWorld(t)
	w.person.way = aai.DesktopDialog
	dialog := &chooser{choice: choiceYes}
	w.Dialog = dialog
	a, err := w.Admit(t.Context(), call(aai.BuiltinApp, "consent_grant"), call(aai.BuiltinApp, "consent_grant"))
	if err != nil || len(dialog.asked) != 2 {
		t.Fatalf("%v, %d questions", err, len(dialog.asked))
	}
	a.Release()
}

// TestJoinOnlyWhatIsAlike checks that different callers or channels are not merged.
func TestJoinOnlyWhatIsAlike(t *testing.T) {
	d := newDesk()
	ask := func(caller aai.Caller, channels ...aai.Channel) aai.PendingQuestion {
		r := asking(notesApp("d1"), "add")
		r.Call.Caller = caller
		q := d.question(t, r)
		q.Channels = channels
		return aai.PendingQuestion{Request: r, Question: q}
	}
	other := agent()
	other.Identity = "/usr/bin/other"
	for _, c := range []struct {
		second aai.PendingQuestion
		want   []aai.Channel
	}{
		{ask(agent(), aai.DesktopDialog, aai.Terminal), []aai.Channel{aai.DesktopDialog}},
		{ask(agent(), aai.DesktopDialog, aai.Client), []aai.Channel{aai.DesktopDialog, aai.Client}},
		{ask(agent(), aai.Terminal), nil},
		{ask(other, aai.DesktopDialog), nil},
	} {
		q, joined := d.MergeQuestions([]aai.PendingQuestion{ask(agent(), aai.Client, aai.DesktopDialog), c.second})
		if joined != (c.want != nil) || joined && !slices.Equal(q.Channels, c.want) {
			t.Errorf("%v, %v", joined, q.Channels)
		}
	}
}

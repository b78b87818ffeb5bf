package policy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	assert.NilError(t, err)
	assert.Assert(t, is.Len(dialog.asked, 1))
	assert.Assert(t, is.Len(w.ran, 0))
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
	assert.Check(t, is.Equal(q.Title, `Allow "claude" all of these 3 calls?`), choices)
	assert.Check(t, is.Equal(q.Text, want), choices)
	assert.Check(t, is.Equal(strings.Join(choices, " "), "deny once session always"), choices)
	assert.Check(t, is.Equal(strings.Count(q.Details, "The app's id: org.example.Notes"), 1), q.Details)
	for i := range 3 {
		_, err := a.Run(t.Context(), i)
		assert.Check(t, err)
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
	_, err := w.Admit(t.Context(), call(notes, "add"), call(notes, "wipe"))
	assert.Check(t, is.Equal(code(err), "PERMISSION_DENIED"), err)
	assert.Check(t, is.Len(dialog.asked, 1), err)
	assert.NilError(t, w.store.Add(Grant{Caller: agent().String(), Identity: agent().Identity, App: notes, Tool: "wipe", Digest: "d1", Decision: Deny}))
	_, err = w.Admit(t.Context(), call(notes, "add"), call(notes, "wipe"))
	assert.Check(t, is.Equal(code(err), "CONSENT_REQUIRED"), err)
	assert.Check(t, is.Len(dialog.asked, 1), err)
	assert.Assert(t, is.Len(w.ran, 0))
	assert.Assert(t, is.Len(w.records.intents(), 0))
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
	assert.Equal(t, code(err), "CONSENT_REQUIRED?", err)
	assert.Assert(t, is.Len(e.Questions, 1), err)
	answers := map[string]aai.Answer{questionID: {Choice: choiceOnce, Seal: e.Questions[0].Seal, Channel: aai.Terminal}}
	if _, err := w.Admit(t.Context(), calls(answers, "add", "list")...); code(err) != "CONSENT_REQUIRED" {
		t.Errorf("with a call that was not shown: %v", err) // and the answer to the other is spent
	}
	_, err = w.Admit(t.Context(), calls(nil, "add", "wipe")...)
	answers[questionID] = aai.Answer{Choice: choiceOnce, Seal: aai.AsError(err).Questions[0].Seal, Channel: aai.Terminal}
	a, err := w.Admit(t.Context(), calls(answers, "wipe", "add")...)
	assert.NilError(t, err)
	a.Release()
	_, err = w.Admit(t.Context(), calls(answers, "wipe", "add")...)
	assert.Check(t, is.Equal(code(err), "CONSENT_REQUIRED"), "a second time: %v", err)
}

// TestChangesOfTheGatewayAreNotJoined checks that each change of the gateway has its own question.
func TestChangesOfTheGatewayAreNotJoined(t *testing.T) {
	w := newWorld(t)
	w.person.way = aai.DesktopDialog
	dialog := &chooser{choice: choiceYes}
	w.Dialog = dialog
	a, err := w.Admit(t.Context(), call(aai.BuiltinApp, "consent_grant"), call(aai.BuiltinApp, "consent_grant"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(dialog.asked, 2))
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
		assert.Check(t, is.Equal(joined, (c.want != nil)), q.Channels)
		assert.Check(t, !joined || slices.Equal(q.Channels, c.want), "%v %v", joined, q.Channels)
	}
}

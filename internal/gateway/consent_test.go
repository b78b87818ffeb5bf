package gateway_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func questionIDs(e *aai.Error) []string {
	var ids []string
	for _, q := range e.Questions {
		ids = append(ids, q.ID)
	}
	return ids
}

func TestQuestionsAreReturnedInOneRound(t *testing.T) {
	s := plain()
	s.Gates = []string{asks, works, asksClient, asks}
	o := play(t.Context(), s)
	e := wantCode(t, o.err, aai.ConsentRequired)
	got := questionIDs(e)
	assert.Check(t, slices.Equal(got, []string{"q0", "q2", "q3"}), "questions %q", got)
	assert.Check(t, e.Hint != "", "%+v", e)
	assert.Check(t, e.RetrySafe(), "%+v", e)
	if got := o.entryOf(t, aai.Outcome).Code; got != aai.ConsentRequired {
		t.Errorf("on record is %q", got)
	}
	s.Answers = "yes"
	assert.Check(t, play(t.Context(), s).err)
	s.Answers = "no"
	_ = wantCode(t, play(t.Context(), s).err, aai.PermissionDenied)
}

func TestRefusalBeatsQuestions(t *testing.T) {
	s := plain()
	s.Gates, s.Dialog = []string{asks, refuses, asks}, works
	o := play(t.Context(), s)
	_ = wantCode(t, o.err, aai.PermissionDenied)
	assert.Check(t, is.Equal(o.count("ask"), 0), "a person was asked about a call that was refused anyway")
}

func TestNativeDialog(t *testing.T) {
	for _, c := range []struct {
		dialog string
		gates  []string
		code   aai.Code
		asked  int
	}{
		{works, []string{asks, asks}, "", 2},
		{refuses, []string{asks}, aai.PermissionDenied, 1},
		{refuses, []string{asks, asks, asks}, aai.PermissionDenied, 1}, // a no is one to all of it
		{fails, []string{asks}, aai.ConsentRequired, 1},
		{panics, []string{asks}, aai.Internal, 1},
		{absent, []string{asks}, aai.ConsentRequired, 0},
		{works, []string{insists}, aai.ConsentRequired, 1},
		{works, []string{asksClient}, aai.ConsentRequired, 0},
		{works, []string{asksClient, asks}, aai.ConsentRequired, 0},
		{works, []string{works}, "", 0},
	} {
		t.Run(c.dialog, func(t *testing.T) {
			s := plain()
			s.Dialog, s.Gates = c.dialog, c.gates
			o := play(t.Context(), s)
			_ = wantCode(t, o.err, c.code)
			n := o.count("ask")
			assert.Check(t, is.Equal(n, c.asked), "gates %q: %d dialogs, want %d", c.gates, n, c.asked)
			ran := o.count("run") == 1
			assert.Check(t, is.Equal(ran, (c.code == "")), "gates %q: ran %v", c.gates, ran)
		})
	}
}

// TestDialogKeepsBroughtAnswers: one gate has its answer from the caller, the other gets one in a
// dialog. Both must reach the gates, and the caller's own map must not change.
func TestDialogKeepsBroughtAnswers(t *testing.T) {
	s := plain()
	s.Dialog, s.Gates = works, []string{asks, asks}
	w := newWorld(s)
	call := s.call()
	call.Answers = map[string]aai.Answer{"q0": {Choice: "yes", Seal: "seal of q0"}}
	_, err := w.gateway().Do(t.Context(), call)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(w.count("ask"), 1))
	assert.Check(t, is.Len(call.Answers, 1))
	got := w.entryOf(t, aai.Intent).Consent
	assert.Check(t, is.Equal(got, "by q1"), "consent on record is %q", got)
}

func TestAnswerToAnotherQuestionAdmitsNothing(t *testing.T) {
	s := plain()
	s.Gates = []string{asks}
	w := newWorld(s)
	call := s.call()
	call.Answers = map[string]aai.Answer{"q1": {Choice: "yes", Seal: "seal of q1"}}
	_, err := w.gateway().Do(t.Context(), call)
	_ = wantCode(t, err, aai.ConsentRequired)
}

func TestMayAsk(t *testing.T) {
	q := aai.Question{Channels: []aai.Channel{aai.DesktopDialog, aai.Terminal}}
	for channel, want := range map[aai.Channel]bool{aai.DesktopDialog: true, aai.Terminal: true, aai.Client: false, "": false} {
		assert.Check(t, is.Equal(q.AllowsChannel(channel), want), "%q", channel)
	}
	assert.Check(t, !(aai.Question{}).AllowsChannel(aai.DesktopDialog), "a question without channels may be asked")
}

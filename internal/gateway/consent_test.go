package gateway_test

import (
	"slices"
	"testing"

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
	if got := questionIDs(e); !slices.Equal(got, []string{"q0", "q2", "q3"}) {
		t.Errorf("questions %q", got)
	}
	if e.Hint == "" || !e.RetrySafe() {
		t.Errorf("%+v", e)
	}
	if got := o.entryOf(t, aai.Outcome).Code; got != aai.ConsentRequired {
		t.Errorf("on record is %q", got)
	}
	s.Answers = "yes"
	if o := play(t.Context(), s); o.err != nil {
		t.Errorf("with answers: %v", o.err)
	}
	s.Answers = "no"
	_ = wantCode(t, play(t.Context(), s).err, aai.PermissionDenied)
}

func TestRefusalBeatsQuestions(t *testing.T) {
	s := plain()
	s.Gates, s.Dialog = []string{asks, refuses, asks}, works
	o := play(t.Context(), s)
	_ = wantCode(t, o.err, aai.PermissionDenied)
	if o.count("ask") != 0 {
		t.Error("a person was asked about a call that was refused anyway")
	}
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
			if n := o.count("ask"); n != c.asked {
				t.Errorf("gates %q: %d dialogs, want %d", c.gates, n, c.asked)
			}
			if ran := o.count("run") == 1; ran != (c.code == "") {
				t.Errorf("gates %q: ran %v", c.gates, ran)
			}
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
	if _, err := w.gateway().Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if w.count("ask") != 1 || len(call.Answers) != 1 {
		t.Errorf("%d dialogs; the caller's answers are now %v", w.count("ask"), call.Answers)
	}
	if got := w.entryOf(t, aai.Intent).Consent; got != "by q1" {
		t.Errorf("consent on record is %q", got)
	}
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
		if got := q.AllowsChannel(channel); got != want {
			t.Errorf("MayAsk(%q) = %v", channel, got)
		}
	}
	if (aai.Question{}).AllowsChannel(aai.DesktopDialog) {
		t.Error("a question without channels may be asked")
	}
}

package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
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

func TestMayAsk(t *testing.T) {
	q := aai.Question{Channels: []aai.Channel{aai.DesktopDialog, aai.Terminal}}
	for channel, want := range map[aai.Channel]bool{aai.DesktopDialog: true, aai.Terminal: true, aai.Client: false, "": false} {
		assert.Check(t, is.Equal(q.AllowsChannel(channel), want), "%q", channel)
	}
	assert.Check(t, !(aai.Question{}).AllowsChannel(aai.DesktopDialog), "a question without channels may be asked")
}

// TestPrecheckBeforeQuestions: a call that would fail is rejected before a person is asked, but
// only for callers that the gates do not refuse.
func TestPrecheckBeforeQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		gate string
		vain bool
		code aai.Code
		asks int
	}{
		"asked for nothing":   {asks, true, aai.ElementNotFound, 0},
		"asked for something": {asks, false, "", 1},
		"by a client":         {asksClient, true, aai.ElementNotFound, 0},
		"refused":             {refuses, true, aai.PermissionDenied, 0},
		"admitted":            {works, true, "", 0}, // the Action returns the error
	} {
		t.Run(name, func(t *testing.T) {
			s := plain()
			s.Gates, s.Dialog = []string{c.gate}, works
			w := newWorld(s)
			looked := 0
			w.app.Tools[0].Precheck = func(context.Context, *aai.Call) error {
				if looked++; c.vain {
					return aai.Errorf(aai.ElementNotFound, "there is no such button")
				}
				return nil
			}
			_, err := w.gateway().Do(t.Context(), s.call())
			if codeOf(err) != c.code || w.count("ask") != c.asks {
				t.Errorf("%v, and %d were asked: %s", err, w.count("ask"), w.story())
			}
			assert.Check(t, c.gate != refuses || looked <= 0, "a caller who was refused got it looked at")
		})
	}
}

// TestPrecheckOfBuiltinAppIsForThePerson: a precheck that would reveal decisions about others
// runs only for the person; other prechecks run at every door.
func TestPrecheckOfBuiltinAppIsForThePerson(t *testing.T) {
	for door, tells := range map[string]bool{aai.DoorMCP: false, aai.DoorCLI: true, aai.DoorWeb: true} {
		for _, open := range []bool{false, true} {
			s := plain()
			s.Gates, s.Dialog = []string{asks}, works
			w := newWorld(s)
			w.app.ID = aai.BuiltinApp
			w.app.Tools[0].Precheck = func(context.Context, *aai.Call) error { return aai.Errorf(aai.ElementNotFound, "nothing of that") }
			w.app.Tools[0].Assess = aai.Always(aai.Assessment{PrecheckPublic: open})
			call := s.call()
			call.App, call.Caller.Door = aai.BuiltinApp, door
			var want aai.Code
			asked := 1
			if tells || open {
				want, asked = aai.ElementNotFound, 0
			}
			_, err := w.gateway().Do(t.Context(), call)
			assert.Check(t, is.Equal(codeOf(err), want), "%s %v %v", door, open, err)
			assert.Check(t, is.Equal(w.count("ask"), asked), "%s %v %v", door, open, err)
		}
	}
}

// TestPrecheckNeedsVisibility: a caller that may not see a program gets no precheck of its
// windows.
func TestPrecheckNeedsVisibility(t *testing.T) {
	for _, seen := range []bool{true, false} {
		s := plain()
		s.Target, s.Args, s.Dialog = "app", map[string]any{"app": "org.example.Other"}, refuses
		w := newWorld(s)
		w.other.PID = 7
		w.app.Operator = fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return w.other, nil }}
		w.app.Tools[0].Effect = aai.Destroys
		w.app.Tools[0].Precheck = func(context.Context, *aai.Call) error {
			return aai.Errorf(aai.ElementNotFound, "there is no such button")
		}
		g := w.gateway()
		g.Gates = []aai.Gate{visibilityGate{w, seen}}
		want := aai.PermissionDenied
		if seen {
			want = aai.ElementNotFound
		}
		_, err := g.Do(t.Context(), s.call())
		assert.Check(t, is.Equal(codeOf(err), want), "%v %v", seen, err)
	}
}

// TestTheFirstRefusalNamesBothSteps: before any way to authenticate exists, a refusal names both
// steps.
func TestTheFirstRefusalNamesBothSteps(t *testing.T) {
	for channel, both := range map[aai.Channel]bool{aai.Terminal: true, aai.DesktopDialog: false, aai.Passphrase: false} {
		s := plain()
		w := newWorld(s)
		g := w.gateway()
		g.Dialog, g.Gates = nil, []aai.Gate{channelGate(channel)}
		call := s.call()
		call.Caller.Identity = "/usr/bin/agent"
		_, err := g.Do(t.Context(), call)
		e := wantCode(t, err, aai.ConsentRequired)
		first, then := strings.Index(e.Hint, "aai-gateway consent passphrase"), strings.Index(e.Hint, "aai-gateway consent grant org.example.App work")
		if then < 0 || (first >= 0) != both || first > then {
			t.Errorf("asked by %s: %s", channel, e.Hint)
		}
	}
}

// Where each call is confirmed for itself a refusal names no grant, which would not help.
func TestARefusalNamesOnlyWhatHelps(t *testing.T) {
	for _, each := range []bool{false, true} {
		w := newWorld(plain())
		g := w.gateway()
		g.Dialog, g.Gates = nil, []aai.Gate{alwaysAskGate(each)}
		call := plain().call()
		call.Caller.Identity = "/usr/bin/agent"
		_, err := g.Do(t.Context(), call)
		e := wantCode(t, err, aai.ConsentRequired)
		assert.Check(t, strings.Contains(e.Hint, "consent grant") != each, "each %v: %s", each, e.Hint)
		assert.Check(t, is.Equal(strings.Contains(e.Hint, "aai-gateway mode normal"), each), e.Hint)
	}
}

// alwaysAskGate asks, of each call or not.
type alwaysAskGate bool

func (g alwaysAskGate) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return []aai.Question{{ID: "q", AlwaysAsk: bool(g), Channels: []aai.Channel{aai.DesktopDialog}, Choices: []aai.Choice{{ID: "no"}, {ID: "yes"}}}}, nil
}

// channelGate asks in one way.
type channelGate aai.Channel

func (g channelGate) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return []aai.Question{{ID: "q", Channels: []aai.Channel{aai.Channel(g)}, Choices: []aai.Choice{{ID: "no"}, {ID: "yes"}}}}, nil
}

// visibilityGate admits reads of visible apps, and asks about the rest.
type visibilityGate struct {
	*world
	seen bool
}

func (g visibilityGate) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Permission() == aai.PermissionSee && g.seen {
		return nil, nil
	}
	return gate{g.world, 0, asks}.Check(ctx, r)
}

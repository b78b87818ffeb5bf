package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// nilError is the mistake that Go makes easy: a nil *Error in an error.
func nilError() error {
	var e *aai.Error
	return e
}

// TestNilErrorIsNoAdmission: a gate that makes the mistake admits nothing, and
// does not spare the call the gates behind it.
func TestNilErrorIsNoAdmission(t *testing.T) {
	w := newWorld(plain())
	g := w.gateway()
	g.Gates = []aai.Gate{gateFunc(func(*aai.Request) ([]aai.Question, error) { return nil, nilError() }), gate{w, 0, refuses}}
	_, err := g.Do(t.Context(), plain().call())
	assert.Check(t, is.Equal(w.count("run"), 0), "the Action ran")
	_ = wantCode(t, err, aai.Internal)
}

type gateFunc func(*aai.Request) ([]aai.Question, error)

func (f gateFunc) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	return f(r)
}

// TestNilErrorOfAnAction must not end in neither a result nor an error.
func TestNilErrorOfAnAction(t *testing.T) {
	for name, err := range map[string]error{"bare": nilError(), "wrapped": fmt.Errorf("x: %w", nilError())} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(plain())
			w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) { return nil, err }
			result, err := w.gateway().Do(t.Context(), plain().call())
			assert.NilError(t, oneEnding(observation{world: w, result: result, err: err}))
			assert.Check(t, !wantCode(t, err, aai.Internal).RetrySafe(), "safe to retry, although the Action ran")
		})
	}
}

// TestErrorWithoutCodeIsNoSuccess: in the journal the empty code means success.
func TestErrorWithoutCodeIsNoSuccess(t *testing.T) {
	w := newWorld(plain())
	w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
		return nil, &aai.Error{Message: "forgot the code"}
	}
	_, err := w.gateway().Do(t.Context(), plain().call())
	got := w.entryOf(t, aai.Outcome)
	assert.Check(t, got.Code != "", "on record is %q, Do returned %v", got.Code, err)
	assert.Check(t, is.Equal(got.Code, codeOf(err)), err)
	call := plain().call()
	call.RequestError = &aai.Error{Message: "forgot the code"}
	w = newWorld(plain())
	_, err = w.gateway().Do(t.Context(), call)
	got = w.entryOf(t, aai.Outcome)
	assert.Check(t, got.Code != "", "fault: on record is %q, Do returned %v", got.Code, err)
	assert.Check(t, is.Equal(got.Code, codeOf(err)), err)
}

// TestUnrecordedFailureDoesNotSayThatNothingRan.
func TestUnrecordedFailureDoesNotSayThatNothingRan(t *testing.T) {
	for _, way := range []string{fails, panics, exits, works} {
		s := plain()
		s.Run, s.Journal, s.FailAt = way, fails, 1
		o := play(t.Context(), s)
		e := wantCode(t, o.err, aai.RecordFailed)
		assert.Assert(t, !e.RetrySafe(), "%s: %q, delivery %q, although the Action ran", way, e.Message, e.Delivery)
		assert.Assert(t, !strings.Contains(e.Message, "nothing was run"), "%s: %q, delivery %q, although the Action ran", way, e.Message, e.Delivery)
	}
	// Nothing ran, so it may say so.
	s := plain()
	s.Gates, s.Journal, s.FailAt = []string{refuses}, fails, 0
	e := wantCode(t, play(t.Context(), s).err, aai.RecordFailed)
	assert.Check(t, e.RetrySafe(), "%+v", e)
}

// TestEndedActionIsNotSafeToRetry: it may have done anything before it ended.
func TestEndedActionIsNotSafeToRetry(t *testing.T) {
	s := plain()
	s.Run = exits
	e := wantCode(t, play(t.Context(), s).err, aai.Internal)
	assert.Check(t, !e.RetrySafe(), "delivery %q", e.Delivery)
}

// TestNoQuestionForARefusedCall: if one question cannot be asked in a dialog, no other is asked
// there, since its answer would be thrown away.
func TestNoQuestionForARefusedCall(t *testing.T) {
	s := plain()
	s.Gates, s.Dialog = []string{asks, asksClient}, works
	o := play(t.Context(), s)
	e := wantCode(t, o.err, aai.ConsentRequired)
	n := o.count("ask")
	assert.Check(t, is.Equal(n, 0), "%d dialogs in vain", n)
	got := questionIDs(e)
	assert.Check(t, slices.Equal(got, []string{"q0", "q1"}), "questions %q", got)
}

// TestHintIsSafeInAShell: people paste it, and the caller chose its name.
func TestHintIsSafeInAShell(t *testing.T) {
	s := plain()
	s.Gates = []string{asks}
	w := newWorld(s)
	call := s.call()
	call.Caller.Name = "$(touch /tmp/x)`id`'; id; '"
	call.Caller.Identity = "/$(id) 'x"
	_, err := w.gateway().Do(t.Context(), call)
	e := wantCode(t, err, aai.ConsentRequired)
	want := `--caller 'test:$(touch /tmp/x)` + "`id`" + `'\''; id; '\''' --identity '/$(id) '\''x'`
	assert.Check(t, strings.HasSuffix(e.Hint, want), "hint %s, want at its end %s", e.Hint, want)
}

// TestErrorsOfAppsKeepNoSecretOnRecord: an app may repeat its arguments.
func TestErrorsOfAppsKeepNoSecretOnRecord(t *testing.T) {
	for _, secret := range []any{secretValue, map[string]any{"of": []any{secretValue}}} {
		s := plain()
		s.Args = map[string]any{"password": secret}
		w := newWorld(s)
		w.app.Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
			return nil, errors.New("the server says: bad password " + secretValue)
		}
		_, err := w.gateway().Do(t.Context(), s.call())
		_ = wantCode(t, err, aai.AutomationFailed)
		got := w.entryOf(t, aai.Outcome).Message
		assert.Assert(t, !strings.Contains(got, secretValue), "on record is %q", got)
		assert.Assert(t, is.Contains(got, "[secret]"))
	}
}

// TestChecksKeepNoSecretOnRecord: nor may the check of the arguments.
func TestChecksKeepNoSecretOnRecord(t *testing.T) {
	s := plain()
	s.Args = map[string]any{"password": secretValue}
	w := newWorld(s)
	w.app.Tools[0].Params.Check = func(any) (any, error) {
		return nil, aai.Errorf(aai.InvalidParams, "password: expected a number, got %q", secretValue)
	}
	_, err := w.gateway().Do(t.Context(), s.call())
	_ = wantCode(t, err, aai.InvalidParams)
	got := w.entryOf(t, aai.Outcome).Message
	assert.Check(t, !strings.Contains(got, secretValue), "on record is %q", got)
}

// TestCallersDeadlineIsNotTheTools: the message names the time that passed.
func TestCallersDeadlineIsNotTheTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plain()
		s.Run = ignores
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		e := wantCode(t, play(ctx, s).err, aai.Timeout)
		assert.Check(t, !strings.Contains(e.Message, "within 800ms"), "20 ms were given, and it says: %s", e.Message)
	})
}

// TestCancelledBeforeRunsNothing: a call cancelled before its run has no effect.
func TestCancelledBeforeRunsNothing(t *testing.T) {
	s := plain()
	s.Cancel = before
	o := play(t.Context(), s)
	e := aai.AsError(o.err)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, e.RetrySafe(), "%+v", e)
	assert.Check(t, is.Equal(o.count("run"), 0), "the Action ran although the caller had gone")
}

// TestCleanIsNoLongerThanAsked, the "…" counted.
func TestCleanIsNoLongerThanAsked(t *testing.T) {
	for _, s := range []string{strings.Repeat("x", 61), strings.Repeat("日", 30), "xx" + strings.Repeat("📅", 20), strings.Repeat("x ", 50)} {
		for _, got := range []string{aai.CleanLabel(s, 60), aai.CleanText(s, 60)} {
			assert.Assert(t, len(got) <= 60, "%d bytes: %q", len(got), got)
			assert.Assert(t, strings.HasSuffix(got, "…"), "%d bytes: %q", len(got), got)
			assert.Assert(t, utf8.ValidString(got), "%d bytes: %q", len(got), got)
		}
	}
	for in, want := range map[string]string{
		"a" + strings.Repeat(" ", 100) + "b": "a b",                   // fits once the spaces are one
		strings.Repeat("x", 10) + "\u200b":   strings.Repeat("x", 10), // nothing visible was cut
	} {
		assert.Check(t, is.Equal(aai.CleanLabel(in, 10), want), "%q", in)
	}
}

// TestInvisibleIsDropped: default ignorable characters outside the format class are dropped.
func TestInvisibleIsDropped(t *testing.T) {
	for _, r := range []rune{0xE0000, 0xE0002, 0xE0080, 0xE01F0, 0x034F, 0x115F, 0x3164, 0xFFA0, 0x2065, 0x17B4} {
		assert.Check(t, is.Equal(aai.CleanLabel("a"+string(r)+"b", 60), "ab"), "%U", r)
	}
}

// TestSecretsInWrongArguments: secrets in invalid arguments are recognized too.
func TestSecretsInWrongArguments(t *testing.T) {
	w := newWorld(plain())
	w.app.Tools[0].Params.Check = func(v any) (any, error) {
		return nil, aai.Errorf(aai.InvalidParams, "password: expected a number, got %q", fmt.Sprint(v.(map[string]any)["password"]))
	}
	_, err := w.gateway().Do(t.Context(), &aai.Call{
		Caller: aai.Caller{Door: "test"}, App: "org.example.App", Tool: "work", Raw: json.RawMessage(`{"password":"hunter2hunter2"}`),
	})
	assert.Check(t, !strings.Contains(err.Error(), "hunter2hunter2"), "told: %v", err)
	e := w.entryOf(t, aai.Outcome)
	assert.Check(t, !strings.Contains(e.Message, "hunter2hunter2"), "on record: %s", e.Message)
}

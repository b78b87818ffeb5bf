package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

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

// TestNothingIsReadWhileTheJournalFails: one read may have run when it turns out that
// nothing can be recorded; the next ones do not, until it can.
func TestNothingIsReadWhileTheJournalFails(t *testing.T) {
	s := plain()
	s.Effect, s.Journal, s.FailAt = aai.Reads, fails, 0
	w := newWorld(s)
	g := w.gateway()
	for i, want := range []aai.Code{aai.RecordFailed, aai.RecordFailed, "", ""} {
		if i == 1 {
			w.FailAt = w.records // the line in front of the second
		}
		_, err := g.Do(t.Context(), s.call())
		assert.Check(t, is.Equal(codeOf(err), want), "%d %v", i, err)
	}
	want := "find false, gate true, run false, outcome false, " + // and it is withheld
		"received false, outcome true, " + // which may only have been counted
		"received true, find false, gate true, run false, outcome true, find false, gate true, run false, outcome true"
	assert.Check(t, is.Equal(w.story(), want))
}

// readyJournal reports beforehand whether it can be written.
type readyJournal struct {
	*world
	err   error
	asked int
}

func (j *readyJournal) Ready(context.Context) error {
	j.asked++
	return j.err
}

// TestAJournalThatIsNotReady: no call is resolved or run until it is ready; Ready is called once,
// and again after a failed write.
func TestAJournalThatIsNotReady(t *testing.T) {
	s := plain()
	s.Effect, s.Journal, s.FailAt = aai.Reads, fails, 3
	w := newWorld(s)
	g, j := w.gateway(), &readyJournal{world: w, err: errors.New("no such folder")}
	g.Journal = j
	_, err := g.Do(t.Context(), s.call())
	if e := wantCode(t, err, aai.RecordFailed); !e.RetrySafe() || w.count("find") != 0 {
		t.Errorf("%+v: %s", e, w.story())
	}
	j.err = nil
	for i, want := range []aai.Code{"", "", aai.RecordFailed, ""} {
		_, err := g.Do(t.Context(), s.call())
		assert.Check(t, is.Equal(codeOf(err), want), "%d %v", i, err)
	}
	assert.Check(t, is.Equal(j.asked, 3), "it was asked %d times", j.asked)
}

// TestReadingWithoutARecord: if nothing can be recorded, a person at the command line can still
// read the gateway's own state, with a warning and its reason. All other calls are refused.
func TestReadingWithoutARecord(t *testing.T) {
	full := &fs.PathError{Op: "open", Path: "/home/me/audit.jsonl", Err: syscall.ENOSPC}
	for name, c := range map[string]struct {
		app, door  string
		effect     aai.Effect
		unrecorded bool
		runs       bool
	}{
		"a person looks":           {aai.BuiltinApp, aai.DoorCLI, aai.Reads, true, true},
		"an agent looks":           {aai.BuiltinApp, "mcp", aai.Reads, true, false},
		"a tool that says nothing": {aai.BuiltinApp, aai.DoorCLI, aai.Reads, false, false},
		"a tool that changes":      {aai.BuiltinApp, aai.DoorCLI, aai.Changes, true, true},
		"another app that says so": {"org.example.App", aai.DoorCLI, aai.Reads, true, false},
		"a window":                 {aai.DesktopApp, aai.DoorCLI, aai.Reads, true, false},
	} {
		for _, when := range []string{"before", "after"} { // the journal fails
			s := plain()
			s.Effect = c.effect
			w := newWorld(s)
			w.app.ID, w.app.Tools[0].Assess = c.app, aai.Always(aai.Assessment{AllowUnaudited: c.unrecorded})
			g, j := w.gateway(), &readyJournal{world: w}
			g.Journal = j
			if when == "before" {
				j.err = full
			}
			call := s.call()
			call.App, call.Caller.Door = c.app, c.door
			g.Journal = failing{j, full}
			result, err := g.Do(t.Context(), call)
			if !c.runs {
				e := wantCode(t, err, aai.RecordFailed)
				if result != nil || when == "before" && w.count("run") != 0 || !strings.Contains(e.Hint, "disk is full") || !strings.Contains(e.Hint, "/home/me/audit.jsonl") {
					t.Errorf("%s, %s: %+v, %s", name, when, e, w.story())
				}
				continue
			}
			assert.NilError(t, err, "%s %s %+v", name, when, result)
			assert.Assert(t, is.Contains(result.Warning, "could not be recorded"), "%s %s %+v", name, when, result)
			assert.Assert(t, is.Contains(result.Warning, "/home/me/audit.jsonl"), "%s %s %+v", name, when, result)
		}
	}
}

// failing is a journal that keeps nothing.
type failing struct {
	*readyJournal
	err error
}

func (f failing) Record(context.Context, *aai.Entry) error { return f.err }

// TestPanicsCostTheirCallOnly: each part of the way panics once.
func TestPanicsCostTheirCallOnly(t *testing.T) {
	for part, breakIt := range map[string]func(*scenario){
		"catalog": func(s *scenario) { s.Catalog = panics },
		"params":  func(s *scenario) { s.Params = panics },
		"gate":    func(s *scenario) { s.Gates = []string{panics} },
		"dialog":  func(s *scenario) { s.Gates, s.Dialog = []string{asks}, panics },
		"action":  func(s *scenario) { s.Run = panics },
		"returns": func(s *scenario) { s.Returns = panics },
	} {
		t.Run(part, func(t *testing.T) {
			s := plain()
			breakIt(&s)
			o := play(t.Context(), s)
			e := wantCode(t, o.err, aai.Internal)
			assert.Check(t, e.Hint != "", "%+v", e)
			assert.Check(t, !strings.Contains(e.Message, "panics"), "%+v", e)
			assert.Assert(t, is.ErrorContains(e.Err, "panics"))
			assert.Assert(t, is.ErrorContains(e.Err, "world_test.go"))
			got := o.entryOf(t, aai.Outcome).Code
			assert.Check(t, is.Equal(got, aai.Internal), "on record is %q", got)
		})
	}
}

// TestLateAnswerCounts: an Action that ends within the grace period reports its own delivery.
func TestLateAnswerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plain()
		w := newWorld(s)
		w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			<-ctx.Done()
			e := aai.Errorf(aai.Timeout, "nothing was sent")
			e.Delivery = aai.NotDelivered
			return nil, e
		}
		_, err := w.gateway().Do(t.Context(), s.call())
		e := wantCode(t, err, aai.Timeout)
		assert.Check(t, is.Equal(e.Message, "nothing was sent"), "%+v", e)
		assert.Check(t, e.RetrySafe(), "%+v", e)
	})
}

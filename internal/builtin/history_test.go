package builtin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// historyEntry is a call in the history.
type historyEntry struct {
	Time                                                            time.Time
	Call, Caller, App, Tool, Effect, Consent, Result, Message, Door string
	Args                                                            map[string]any
	MS                                                              float64
}

func (w *world) history(t *testing.T, filter string) []historyEntry {
	t.Helper()
	var calls []historyEntry
	decodeInto(t, w.callBuiltin(t, builtin.History, filter).Data, &calls)
	return calls
}

func TestHistoryTellsWhatHappened(t *testing.T) {
	w := newWorld(t, apps())
	before := time.Now().Add(-time.Second)
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
	_, err := w.do(t, agent(), "memo", "add", `{"title": "milk", "password": "hunter2"}`)
	assert.NilError(t, err)
	_, err = w.do(t, agent(), "memo", "list", `{}`)
	assert.Assert(t, err != nil, "what was not granted is open")
	calls := w.history(t, `{}`)
	assert.Assert(t, is.Len(calls, 3), "3 calls are on record before this one, the history has %d: %+v", len(calls), calls)
	refused, added, granted := calls[0], calls[1], calls[2]
	assert.Check(t, is.Equal(refused.Result, string(aai.ConsentRequired)), "%+v", refused)
	assert.Check(t, refused.Message != "", "the refused call: %+v", refused)
	assert.Check(t, is.Equal(refused.Effect, ""), "%+v", refused)
	assert.Check(t, is.Equal(refused.Tool, "list"), "%+v", refused)
	assert.Equal(t, added.App, "org.example.Notes", "%+v", added)
	assert.Equal(t, added.Result, "ok", "%+v", added)
	assert.Equal(t, added.Effect, "changes", "%+v", added)
	assert.Equal(t, added.Caller, "claude", "%+v", added)
	assert.Assert(t, strings.HasPrefix(added.Consent, "always since "), "the call that ran: %+v", added)
	assert.Assert(t, !added.Time.Before(before), "the call that ran: %+v", added)
	password, _ := added.Args["password"].(map[string]any)
	assert.Check(t, is.Equal(added.Args["title"], "milk"), added.Args)
	assert.Check(t, is.Equal(password["redacted"], true), added.Args)
	assert.Check(t, is.Equal(password["len"], 7.0), added.Args)
	assert.Check(t, is.Equal(granted.App, aai.BuiltinApp), "%+v", granted)
	assert.Check(t, is.Equal(granted.Tool, builtin.Grant), "%+v", granted)
	assert.Check(t, is.Equal(granted.Consent, "confirmed (native)"), "%+v", granted)
	assert.Check(t, is.Equal(granted.Effect, "changes"), "%+v", granted)
	b, err := os.ReadFile(w.journal)
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(string(b), "hunter2"), "the password is in the journal, or: %v", err)
}

func TestHistoryFilters(t *testing.T) {
	w := newWorld(t, apps())
	for range 3 {
		w.callBuiltin(t, builtin.Apps, "")
	}
	if _, err := w.do(t, agent(), "org.example.Notes", "add", `{"title": "milk"}`); err == nil {
		t.Fatal("nobody allowed that")
	}
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for filter, want := range map[string]int{
		`{"tool": "apps"}`:                                   3,
		`{"tool": "apps", "limit": 2}`:                       2,
		`{"tool": "apps", "limit": 2.0}`:                     2,
		`{"tool": "apps", "limit": 2e0}`:                     2,
		`{"app": "org.example.Notes"}`:                       1,
		`{"app": "org.example.Notes", "tool": "list"}`:       0,
		`{"result": "consent_required"}`:                     1,
		`{"result": "ok", "tool": "apps"}`:                   3,
		`{"caller": "claude"}`:                               1,
		`{"caller": "MCP:"}`:                                 1,
		`{"since": "` + future + `"}`:                        0,
		`{"since": "2020-01-01T00:00:00Z", "tool": "apps"}`:  3,
		`{"since": "2020-01-01T00:00:00+02:00", "limit": 1}`: 1,
	} {
		assert.Check(t, is.Len(w.history(t, filter), want), "%s %d", filter, want)
	}
	// Go callers pass Go numbers instead of JSON numbers.
	result, err := w.gateway.Do(t.Context(), &aai.Call{Caller: person(), App: aai.BuiltinApp, Tool: builtin.History, Args: map[string]any{"tool": "apps", "limit": 1}})
	assert.NilError(t, err)
	calls := jsonOf(t, result.Data).([]any)
	assert.Check(t, is.Len(calls, 1), "with the limit 1 as an int there are %d calls", len(calls))
}

func TestHistoryIsShortUnlessAskedFor(t *testing.T) {
	w := newWorld(t, nil)
	for range 60 {
		w.callBuiltin(t, builtin.Apps, "")
	}
	calls := w.history(t, `{}`)
	assert.Check(t, is.Len(calls, 50), "%d calls without a limit, want 50", len(calls))
	calls = w.history(t, `{"limit": 10000, "tool": "apps"}`)
	assert.Check(t, is.Len(calls, 60), "%d calls, want all 60", len(calls))
}

func TestHistorySinceMustBeATime(t *testing.T) {
	w := newWorld(t, nil)
	for _, since := range []string{"yesterday", "7d", "2026-01-01", "2026-01-01T00:00:00"} {
		e := w.refuses(t, aai.InvalidParams, person(), aai.BuiltinApp, builtin.History, fmt.Sprintf(`{"since": %q}`, since))
		assert.Assert(t, strings.HasPrefix(e.Message, "since: "), "%+v", e)
	}
}

func TestHistoryThatCannotBeReadIsSaid(t *testing.T) {
	w := newWorld(t, nil)
	real := w.deps.Journal
	w.deps.Journal = audit.New(t.TempDir())
	w.open()
	w.gateway.Journal = real // the call itself is recorded
	e := w.refuses(t, aai.AutomationFailed, person(), aai.BuiltinApp, builtin.History, `{}`)
	assert.Assert(t, strings.HasPrefix(e.Message, "the history cannot be read: "), "%+v", e)
}

// TestHistoryNamesWhatWasActedOn checks the fields of the target, from the call to the row,
// without secrets of the call.
func TestHistoryNamesWhatWasActedOn(t *testing.T) {
	w := newWorld(t, nil)
	desktop := windows()
	desktop.Tool("press").Privacy.Secret = []string{"key"}
	desktop.Tool("press").Params = schema.MustParse(`{"type": "object", "properties": {"app": {"type": "string"}, "key": {"type": "string"}}}`)
	desktop.Tool("press").Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		return &aai.Result{}, gateway.ReportTargetElement(ctx, aai.TargetElement{Role: "button", Name: "Send hunter2", ID: "send-btn", Window: "Mail\n", UnknownEffect: true, AllText: "Send"})
	}
	w.otherApps = []*aai.App{desktop}
	w.open()
	w.callBuiltin(t, builtin.Grant, `{"app": "desktop/editor", "tool": "act", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
	_, err := w.do(t, agent(), "desktop", "press", `{"app": "editor", "key": "hunter2"}`)
	assert.NilError(t, err)
	var rows []struct{ On map[string]any }
	decodeInto(t, w.callBuiltin(t, builtin.History, `{"app": "desktop/editor", "tool": "press"}`).Data, &rows)
	want := fmt.Sprint(map[string]any{"role": "button", "name": "Send [secret]", "id": "send-btn", "window": "Mail", "effect_unknown": true})
	assert.Assert(t, is.Len(rows, 1))
	assert.Equal(t, fmt.Sprint(rows[0].On), want)
}

// TestStoryAndTotals checks the trace of a call and the daily totals, as the dashboard and the
// terminal show them.
func TestStoryAndTotals(t *testing.T) {
	w := newWorld(t, apps())
	w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
	call := &aai.Call{ID: "c1", Caller: agent(), App: "memo", Tool: "add", Args: args(t, `{"title": "buy oat milk", "password": "hunter2"}`)}
	_, err := w.gateway.Do(t.Context(), call)
	assert.NilError(t, err)
	var told struct {
		Call  historyEntry
		Steps []struct{ Kind, Consent, Result, Delivery string }
	}
	decodeInto(t, w.callBuiltin(t, builtin.Story, `{"call": "c1"}`).Data, &told)
	assert.Equal(t, told.Call.Args["title"], "buy oat milk", "%+v", told)
	assert.Assert(t, is.Len(told.Steps, 2), "%+v", told)
	assert.Equal(t, told.Steps[0].Kind, "intent", "%+v", told)
	assert.Assert(t, strings.HasPrefix(told.Steps[0].Consent, "always since "), "%+v", told)
	assert.Equal(t, told.Steps[1].Result, "ok", "%+v", told)
	_ = w.refuses(t, aai.InvalidParams, person(), aai.BuiltinApp, builtin.Story, `{"call": "nobody"}`)
	w.callBuiltin(t, builtin.AuditExport, `{"text": "hunter2"}`)
	for text, want := range map[string]int{`oat mil`: 1, `milk oat`: 1, `oat-milk`: 1, `milk-oat`: 0, `hunter2`: 0, `MEMO add`: 0, `notes add`: 1, `!`: 0} {
		assert.Check(t, is.Len(w.history(t, fmt.Sprintf(`{"text": %q, "tool": "add"}`, text)), want), "%q %d", text, want)
	}
	b, err := os.ReadFile(w.journal)
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(string(b), "hunter2"), "what was looked for is in the journal, or: %v", err)
	for _, by := range []string{"hour", "day"} {
		var counted struct {
			Calls, Failures int
			Rows            []struct {
				Start           time.Time
				Calls, Failures int
			}
		}
		decodeInto(t, w.callBuiltin(t, builtin.Totals, `{"app": "org.example.Notes", "by": "`+by+`"}`).Data, &counted)
		assert.Equal(t, counted.Calls, 1, "%s %+v", by, counted)
		assert.Equal(t, counted.Failures, 0, "%s %+v", by, counted)
		assert.Assert(t, is.Len(counted.Rows, 1), "%s %+v", by, counted)
		assert.Assert(t, time.Since(counted.Rows[0].Start) <= 25*time.Hour, "by %s: %+v", by, counted)
	}
}

func (w *world) verification(t *testing.T) answer.Verification {
	t.Helper()
	var v answer.Verification
	decodeInto(t, w.callBuiltin(t, builtin.AuditVerify, "").Data, &v)
	return v
}

func TestAuditVerify(t *testing.T) {
	w := newWorld(t, apps())
	w.callBuiltin(t, builtin.Apps, "")
	if v := w.verification(t); v.Verdict != answer.Intact || v.Records != 1 {
		t.Errorf("%+v", v) // one entry of the first call, none of this one yet
	}
	text, err := os.ReadFile(w.journal)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(w.journal, []byte(strings.Replace(string(text), "outcome", "OUTCOME", 1)), 0o600))
	v := w.verification(t)
	assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "%+v", v)
	assert.Check(t, v.Faults[0].Record == 1, "%+v", v)
	if text := w.callBuiltin(t, builtin.AuditVerify, "").Text; !strings.HasPrefix(text, "tampered at record 1: ") {
		t.Error(text)
	}
}

func TestAuditExport(t *testing.T) {
	w := newWorld(t, apps())
	w.callBuiltin(t, builtin.Apps, "")
	out := w.callBuiltin(t, builtin.AuditExport, `{"tool": "apps"}`).Text
	lines := strings.Count(out, "\n")
	assert.Check(t, is.Equal(lines, 2))
	assert.Check(t, is.Equal(strings.Count(out, `"verified":true`), 1))
	assert.Check(t, is.Contains(out, `{"verification":{"status":"ok"`))
	path := filepath.Join(t.TempDir(), "audit.json")
	args := `{"tool": "apps", "file": "` + path + `"}`
	w.callBuiltin(t, builtin.AuditExport, args)
	kept, err := os.ReadFile(path)
	assert.NilError(t, err, kept)
	assert.Equal(t, strings.Count(string(kept), `"verified":true`), 1, kept)
	for args, want := range map[string]string{
		args:                               "is there already",
		`{"file": "here.json"}`:            "absolute path",
		`{"file": "/nowhere/at/all.json"}`: "cannot be made",
		`{"until": "tomorrow"}`:            "until: ",
	} {
		e := w.refuses(t, aai.InvalidParams, person(), aai.BuiltinApp, builtin.AuditExport, args)
		assert.Assert(t, is.Contains(e.Message, want), "%+v", e)
	}
}

func TestAuditWithoutItsKey(t *testing.T) {
	w := newWorld(t, nil)
	w.callBuiltin(t, builtin.Apps, "")
	assert.NilError(t, os.Remove(w.journal+".key"))
	e := w.refuses(t, aai.AutomationFailed, person(), aai.BuiltinApp, builtin.AuditVerify, "")
	assert.Assert(t, e.Hint != "", "%+v", e)
}

// TestRefusedCallSaysItsTarget checks that a refused call records its target.
func TestRefusedCallSaysItsTarget(t *testing.T) {
	w := newWorld(t, nil)
	w.otherApps = []*aai.App{windows()}
	w.open()
	if _, err := w.do(t, agent(), aai.DesktopApp, "press", `{"app": "editor"}`); err == nil {
		t.Fatal("nobody allowed that")
	}
	text, err := os.ReadFile(w.journal)
	assert.NilError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := lines[len(lines)-1]
	assert.Assert(t, is.Contains(last, `"kind":"outcome"`))
	assert.Assert(t, is.Contains(last, `"target":"desktop/editor"`))
}

// TestHistoryOfOneCall checks the query of one call, with its kept result.
func TestHistoryOfOneCall(t *testing.T) {
	for _, full := range []bool{false, true} {
		w := newWorld(t, apps())
		w.deps.Journal = audit.NewFromConfig(audit.Config{Path: w.journal, KeepFull: full})
		w.open()
		w.callBuiltin(t, builtin.Grant, `{"app": "memo", "tool": "add", "caller": "mcp:claude", "identity": "/usr/bin/claude"}`)
		_, err := w.do(t, agent(), "memo", "add", `{"title": "milk", "password": "hunter2"}`)
		assert.NilError(t, err)
		var found []struct {
			Call   string
			Answer struct {
				Text string
				Data map[string]any
			}
		}
		decodeInto(t, w.callBuiltin(t, builtin.History, `{"tool": "add"}`).Data, &found)
		assert.Assert(t, is.Len(found, 1))
		decodeInto(t, w.callBuiltin(t, builtin.History, `{"call": "`+found[0].Call+`"}`).Data, &found)
		want := map[bool]string{true: "milk"}[full]
		got, _ := found[0].Answer.Data["title"].(string)
		assert.Assert(t, is.Len(found, 1), full)
		assert.Equal(t, got, want, full)
		b, err := os.ReadFile(w.journal)
		assert.NilError(t, err)
		assert.Assert(t, !strings.Contains(string(b), "hunter2"), "the password is in the journal, or: %v", err)
		assert.Check(t, w.deps.Journal.Close())
	}
}

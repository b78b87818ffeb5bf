package builtin_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
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
		_, err := w.do(t, person(), aai.BuiltinApp, builtin.History, fmt.Sprintf(`{"since": %q}`, since))
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "since %q: %v", since, err)
		assert.Equal(t, e.Code, aai.InvalidParams, "%q %v", since, err)
		assert.Assert(t, strings.HasPrefix(e.Message, "since: "), "since %q: %v", since, err)
	}
}

func TestHistoryThatCannotBeReadIsSaid(t *testing.T) {
	w := newWorld(t, nil)
	real := w.deps.Journal
	w.deps.Journal = audit.New(t.TempDir())
	w.open()
	w.gateway.Journal = real // the call itself is recorded
	_, err := w.do(t, person(), aai.BuiltinApp, builtin.History, `{}`)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "a history that is a folder: %v", err)
	assert.Equal(t, e.Code, aai.AutomationFailed, err)
	assert.Assert(t, strings.HasPrefix(e.Message, "the history cannot be read: "), "a history that is a folder: %v", err)
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
	_, err = w.do(t, person(), aai.BuiltinApp, builtin.Story, `{"call": "nobody"}`)
	assert.Check(t, is.Equal(aai.AsError(err).Code, aai.InvalidParams), err)
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

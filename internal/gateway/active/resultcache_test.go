package active_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

// counting returns a tool that answers with the number of its runs.
func counting(during func()) *aai.Tool {
	looks := 0
	return &aai.Tool{Name: "look", Run: func(context.Context, *aai.Call) (*aai.Result, error) {
		looks++
		during()
		return &aai.Result{Text: strconv.Itoa(looks)}, nil
	}}
}

func look(t *testing.T, tool *aai.Tool, call aai.Call) string {
	t.Helper()
	if call.Target == nil {
		call.Target = &aai.App{ID: "desktop/a", PID: 7}
	}
	call.Tool = tool.Name
	result, err := tool.Run(t.Context(), &call)
	assert.NilError(t, err)
	text := result.Text
	result.Text = "changed by who got it"
	return text
}

func TestResultIsCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a active.ResultCache
		tool := counting(func() {})
		a.CacheTool(tool, 500*time.Millisecond)
		expect := func(what, want string, call aai.Call) {
			t.Helper()
			assert.Check(t, is.Equal(look(t, tool, call), want), what)
		}
		args := func(v any) aai.Call { return aai.Call{Args: map[string]any{"app": v}} }
		expect("the first", "1", args("a"))
		expect("at once", "1", args("a"))
		expect("other arguments", "2", args("b"))
		expect("another's", "3", aai.Call{Args: map[string]any{"app": "a"}, Caller: aai.Caller{Session: "s"}})
		expect("another process", "4", aai.Call{Args: map[string]any{"app": "a"}, Target: &aai.App{ID: "desktop/a", PID: 8}})
		time.Sleep(499 * time.Millisecond)
		expect("in time", "1", args("a"))
		time.Sleep(2 * time.Millisecond)
		expect("too late", "5", args("a"))
		a.Invalidate()
		expect("after an act", "6", args("a"))
		got := look(t, counting(func() {}), aai.Call{})
		assert.Check(t, is.Equal(got, "1"), "a tool of no age: %s", got)
		time.Sleep(time.Second) // nothing is left to wait for
	})
}

// TestCachedResultIsMeasured: the log of the call says that its result was cached.
func TestCachedResultIsMeasured(t *testing.T) {
	var a active.ResultCache
	tool := counting(func() {})
	a.CacheTool(tool, time.Hour)
	for n, want := range []any{nil, true} {
		var m gateway.Measurements
		call := aai.Call{Tool: tool.Name, Target: &aai.App{ID: "desktop/a", PID: 7}}
		_, err := tool.Run(gateway.WithMeasurements(t.Context(), &m), &call)
		assert.NilError(t, err)
		got := map[string]any{}
		if m.CopyTo(got); got["cache_hit"] != want {
			t.Errorf("call %d: cached is %v, want %v", n, got["cache_hit"], want)
		}
	}
}

// TestResultDuringAMutationIsNotCached: a result computed during an action may be outdated.
func TestResultDuringAMutationIsNotCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a active.ResultCache
		tool := counting(a.Invalidate)
		a.CacheTool(tool, time.Hour)
		for _, want := range []string{"1", "2"} {
			assert.Check(t, is.Equal(look(t, tool, aai.Call{}), want))
		}
		time.Sleep(time.Hour)
	})
}

func asking(args map[string]any) *aai.Call { return &aai.Call{Caller: person().Caller, Args: args} }

// spoil makes the file invalid.
func spoil(t *testing.T, path string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(path, nil, 0o600))
}

// TestWhatIsToBeStartedWhereNobodyUnderstandsTheFile: an invalid file stops everything. A start
// of everything is possible; a start of one call is rejected with a hint.
func TestWhatIsToBeStartedWhereNobodyUnderstandsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	spoil(t, path)
	start := at(path).Tools()[1]
	assert.Check(t, start.Precheck(t.Context(), asking(nil)))
	e := aai.AsError(start.Precheck(t.Context(), asking(map[string]any{"call": "c1"})))
	assert.Assert(t, e != nil, "%+v", e)
	assert.Equal(t, e.Message, "that is not stopped; everything is", "%+v", e)
	assert.Equal(t, e.Hint, "To start that again: aai-gateway start", "%+v", e)
	result, err := start.Run(t.Context(), asking(nil))
	assert.NilError(t, err, "%+v", result)
	assert.Assert(t, !result.NoOp, "%+v", result)
	assert.Equal(t, fmt.Sprint(result.Data), "map[started:[everything] stopped:[]]", "%+v", result)
}

// TestWhatIsLeftWhereNobodyUnderstandsTheFile: the answer of a start lists the stops after it:
// everything, if another gateway left an invalid file meanwhile.
func TestWhatIsLeftWhereNobodyUnderstandsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	spoil(t, path)
	h := active.NewStopList(active.StopConfig{Path: path, OnChange: func() { spoil(t, path) }})
	result, err := h.Tools()[1].Run(t.Context(), asking(nil))
	assert.NilError(t, err, "%+v", result)
	assert.Equal(t, fmt.Sprint(result.Data), "map[started:[everything] stopped:[everything]]", "%+v", result)
}

// TestTheToolsWhereTheFileIsAFolder: the error names a file that can be neither read nor written,
// and the remedy.
func TestTheToolsWhereTheFileIsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped")
	assert.NilError(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	for i, want := range []struct{ says, hint string }{
		{"it could not be stopped: ", "Stop everything, for which an empty file is enough: " + path},
		{"it could not be started again: ", "Remove the file " + path},
	} {
		result, err := at(path).Tools()[i].Run(t.Context(), asking(nil))
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%+v %+v", result, e)
		assert.Assert(t, result == nil, "%+v %+v", result, e)
		assert.Equal(t, e.Code, aai.AutomationFailed, "%+v %+v", result, e)
		assert.Assert(t, strings.HasPrefix(e.Message, want.says), "%+v %+v", result, e)
		assert.Equal(t, e.Hint, want.hint, "%+v %+v", result, e)
	}
}

// TestLongNamesHideNothing: calls with long third-party names are listed or counted. A file above
// the limit would hide all of them.
func TestLongNamesHideNothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "running")
	var g activeCalls
	teller := active.NewPublisher(folder, g.Underway, slog.Default())
	defer teller.Close() //nolint:errcheck // the folder goes too
	var calls []gateway.ActiveCall
	for i := range 200 {
		c := call(fmt.Sprint("m", i), time.Minute)
		c.App, c.Target, c.Caller.Identity = strings.Repeat("\x00", 300), strings.Repeat("é\"", 200), "/"+strings.Repeat("\"", 4000)
		c.Element.Name, c.Message = strings.Repeat("\u2028", 400), strings.Repeat("\u2028", 400)
		calls = append(calls, c)
	}
	g.set(calls...)
	teller.StageChanged()
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		rows, more, err := active.ListActive(folder)
		assert.NilError(t, err)
		if len(rows) > 20 && len(rows)+more == len(calls) {
			return
		}
		assert.Assert(t, !time.Now().After(late), "%d calls are told and %d more, of %d", len(rows), more, len(calls))
	}
}

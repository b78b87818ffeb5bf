package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// secretArgument is an argument that must never be in a log.
const secretArgument = "open-sesame"

// callAll makes a call that succeeds and some that fail in different ways.
func callAll(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	for _, call := range []aai.Call{
		{ID: "c1", App: "aai", Tool: "history", Args: map[string]any{"app": secretArgument}},
		{ID: "c2", App: "aai", Tool: "guide", Args: map[string]any{"app": secretArgument}},
		{ID: "c3", App: "aai", Tool: "history", Args: map[string]any{"limit": secretArgument}},
		{ID: "c4", App: "aai", Tool: "apps", Args: map[string]any{secretArgument: 1}},
	} {
		call.Caller = aai.Caller{Door: aai.DoorCLI, Name: "terminal"}
		_, err := g.Do(t.Context(), &call)
		assert.Equal(t, (err == nil), (call.ID == "c1"), "%s %v", call.ID, err)
	}
}

// logged opens a gateway with a log file, makes the calls and returns the lines of the log.
func logged(t *testing.T, d *desk, level string) []map[string]any {
	t.Helper()
	path := filepath.Join(d.home, "log.jsonl")
	d.env["AAI_LOG_FILE"] = path
	var stderr bytes.Buffer
	gateway, closing := d.open(t, level, &stderr)
	callAll(t, gateway)
	assert.NilError(t, closing())
	if stderr.Len() > 0 {
		t.Errorf("the log went to standard error: %s", stderr.String())
	}
	info, err := os.Stat(path)
	assert.NilError(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the log's mode is %o", info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Check(t, !bytes.Contains(text, []byte(secretArgument)), "the log holds an argument:\n%s", text)
	return jsonLines(t, text)
}

func jsonLines(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var lines []map[string]any
	scanner := bufio.NewScanner(bytes.NewReader(text))
	for scanner.Scan() {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, scanner.Text())
		}
		lines = append(lines, line)
	}
	return lines
}

// summaries returns the lines without the times.
func summaries(lines []map[string]any) []string {
	var all []string
	for _, line := range lines {
		var words []string
		for _, key := range []string{"level", "msg", "call", "caller", "app", "tool", "code"} {
			if word, ok := line[key].(string); ok {
				words = append(words, word)
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

// TestTheLogOfCalls: the log says what failed, at debug also what was asked, and at warn nothing. The next process
// appends to it.
func TestTheLogOfCalls(t *testing.T) {
	failed := []string{
		"INFO call failed c2 cli:terminal aai guide APP_NOT_FOUND",
		"INFO call failed c3 cli:terminal aai history INVALID_PARAMS",
		"INFO call failed c4 cli:terminal aai apps INVALID_PARAMS",
	}
	d := newDesk(t)
	assert.Check(t, is.Len(logged(t, d, "warn"), 0))
	lines := logged(t, d, "info")
	assert.Check(t, is.DeepEqual(failed, summaries(lines)))
	for _, line := range lines {
		elapsed, _ := line["elapsed"].(float64)
		assert.Check(t, elapsed > 0, "the call took %v", line["elapsed"])
	}
	assert.Check(t, is.Len(logged(t, d, "info"), 2*len(lines)))
	calls := slices.DeleteFunc(summaries(logged(t, newDesk(t), "debug")), func(line string) bool { return !strings.Contains(line, " call ") })
	assert.Check(t, is.DeepEqual(slices.Insert(failed, 0, "DEBUG call done c1 cli:terminal aai history"), calls))
}

// A click of a browser that has navigated away is no failure; a call that an agent cancels is logged.
func TestACancelledClickIsNoFailure(t *testing.T) {
	for level, want := range map[string][]string{
		"info":  {"INFO call failed gone mcp:claude aai apps AUTOMATION_FAILED"},
		"debug": {"DEBUG call cancelled click web:page aai apps", "INFO call failed gone mcp:claude aai apps AUTOMATION_FAILED"},
	} {
		d := newDesk(t)
		path := filepath.Join(d.home, "log.jsonl")
		d.env["AAI_LOG_FILE"] = path
		gateway, closing := d.open(t, level, io.Discard)
		left, leave := context.WithCancel(t.Context())
		leave()
		for id, who := range map[string]aai.Caller{"click": {Door: aai.DoorWeb, Name: "page", Identity: aai.IdentityPage}, "gone": {Door: aai.DoorMCP, Name: "claude"}} {
			_, err := gateway.Do(left, &aai.Call{ID: id, Caller: who, App: aai.BuiltinApp, Tool: "apps"})
			assert.Check(t, err != nil, "who has left is answered")
		}
		assert.NilError(t, closing())
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		got := slices.DeleteFunc(summaries(jsonLines(t, text)), func(line string) bool {
			return !strings.Contains(line, "call failed") && !strings.Contains(line, "call cancelled")
		})
		slices.Sort(got)
		assert.Check(t, is.DeepEqual(want, got), "%s", level)
	}
}

// A user at a terminal reads results; an agent's client stores the log for later.
func TestTheLevelOfACommand(t *testing.T) {
	for _, c := range []struct {
		env, flag string
		lines     bool
	}{{"", "", false}, {"info", "", true}, {"", "info", true}, {"info", "error", false}} {
		d := newDesk(t)
		d.env["AAI_LOG_LEVEL"] = c.env
		var stderr bytes.Buffer
		gateway, closing := d.open(t, c.flag, &stderr)
		callAll(t, gateway)
		assert.NilError(t, closing())
		if (stderr.Len() > 0) != c.lines || strings.Contains(stderr.String(), secretArgument) {
			t.Errorf("with %+v standard error has: %s", c, stderr.String())
		}
	}
}

func TestALogThatCannotBeWritten(t *testing.T) {
	d := newDesk(t)
	file := d.file(t, "file", "")
	for path, want := range map[string]string{
		d.home:                            "logFile: " + d.home + " is no regular file; expected one",
		filepath.Join(file, "log"):        "logFile: the log cannot be written: ",
		filepath.Join(d.home, "no", "go"): "logFile: the log cannot be written: ",
	} {
		p := &program{getenv: d.getenv, hostAccess: d.grounds()}
		_, _, err := p.logger(&setup{Config: &config.Config{LogFile: path}})
		e := aai.AsError(err)
		assert.Assert(t, e != nil, err)
		assert.Equal(t, e.Code, aai.InvalidParams, err)
		assert.Assert(t, strings.HasPrefix(e.Message, want), err)
		assert.Assert(t, is.Contains(e.Message, path), err)
	}
}

// fullDisk is a journal that fails from the nth entry on.
type fullDisk struct{ left int }

func (f *fullDisk) Record(context.Context, *aai.Entry) error {
	if f.left--; f.left < 0 {
		return errors.New("no space left on device")
	}
	return nil
}

func TestTheLogSaysThatTheJournalFails(t *testing.T) {
	for room, want := range map[int][]string{
		0: {"ERROR the journal cannot be written c1"},
		1: {"DEBUG call received c1 mcp:x a t", "ERROR the journal cannot be written c1", "INFO call failed c1 mcp:x a t RECORD_FAILED"},
	} {
		log := &bytes.Buffer{}
		o := &operationLog{Journal: &fullDisk{left: room}, log: jsonLog(log)}
		err := o.Record(t.Context(), &aai.Entry{Kind: aai.Received, Call: "c1", Caller: aai.Caller{Door: aai.DoorMCP, Name: "x"}, App: "a", Tool: "t"})
		if err == nil {
			err = o.Record(t.Context(), &aai.Entry{Kind: aai.Outcome, Call: "c1", Code: aai.RecordFailed})
		}
		assert.Assert(t, err != nil, "the journal's failure became %v", err)
		assert.Equal(t, err.Error(), "no space left on device", err)
		assert.Check(t, is.DeepEqual(want, summaries(jsonLines(t, log.Bytes()))), "%d", room)
		o.open.Range(func(call, _ any) bool {
			t.Errorf("%v is remembered for ever", call)
			return true
		})
	}
}

// Cached results are invalidated by acts, and not by reads.
func TestMutationsAreReported(t *testing.T) {
	gateway, closing := newDesk(t).open(t, "", io.Discard)
	defer func() { _ = closing() }()
	journal, _ := gateway.Journal.(*operationLog)
	acts := 0
	journal.onMutation = func() { acts++ }
	caller := aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal}
	_, err := gateway.Do(t.Context(), &aai.Call{Caller: caller, App: aai.BuiltinApp, Tool: "apps"})
	assert.NilError(t, err)
	assert.Equal(t, acts, 0)
	_, err = gateway.Do(t.Context(), &aai.Call{Caller: caller, App: aai.BuiltinApp, Tool: "consent_revoke", Args: map[string]any{"app": "org.example.App"}})
	assert.Check(t, is.Equal(acts, 2), "after an act: told %d times, %v", acts, err)
}

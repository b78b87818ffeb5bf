package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func TestHistoryJoins(t *testing.T) {
	path := journalPath(t)
	record(t, open(t, path), wholeCall("c1")...)
	want := []answer.CallRecord{{
		Time: epoch().UTC(), Call: "c1", Parent: "c0", Door: "mcp", Caller: "Claude-AI", App: notes, Tool: "add",
		Effect: "changes", Consent: "once (client)", Args: []byte(`{"n":1e400,"text":"milk\n\u2028\u003c\u0026\u003e"}`),
		Result: "ok", Millis: 1.234,
	}}
	assert.Check(t, is.DeepEqual(want, past(t, path)))
}

// TestHistorySaysWhoCalled checks results and order: a call without an outcome is unknown,
// one without an intent was refused, concurrent calls do not mix, and the newest comes
// first. Callers are shown and found by identity and by name.
func TestHistorySaysWhoCalled(t *testing.T) {
	j := open(t, journalPath(t))
	entries := wholeCall("c1")
	for _, e := range entries {
		e.Caller = aai.Caller{Door: aai.DoorMCP, Name: "agent", Identity: "/usr/bin/python3 /opt/agent.py"}
	}
	record(t, j, entries...)
	for _, caller := range []string{"mcp:agent", "/opt/agent.py"} {
		found, err := j.History(t.Context(), Filter{Caller: caller})
		assert.NilError(t, err, "%q", caller)
		assert.Assert(t, is.Len(found, 1), "%q", caller)
		assert.Equal(t, found[0].Identity, "/usr/bin/python3 /opt/agent.py", "%q", caller)
	}
}

func TestHistoryOfEveryEnding(t *testing.T) {
	path := journalPath(t)
	record(t, open(t, path),
		received("running"), intent("running"),
		received("crashed"),
		received("refused"), received("failed"), intent("failed"),
		failure("refused", aai.ConsentRequired), failure("failed", aai.Timeout),
		received("ok"), intent("ok"), outcome("ok"),
	)
	var got []string
	for _, p := range past(t, path) {
		got = append(got, fmt.Sprintf("%s: %s %q %q %s", p.Call, p.Result, p.Message, p.Effect, p.App))
	}
	want := []string{
		`ok: ok "" "changes" org.example.Notes`,
		`failed: TIMEOUT "it said no" "changes" org.example.Notes`,
		`refused: CONSENT_REQUIRED "it said no" "" notes`,
		`crashed: unknown "" "" notes`,
		`running: unknown "" "changes" org.example.Notes`,
	}
	assert.Check(t, is.DeepEqual(want, got))
}

// TestHistoryOfWindows checks that targets are shown and found.
func TestHistoryOfWindows(t *testing.T) {
	path := journalPath(t)
	click := intent("click")
	click.App, click.Target = "desktop", "desktop/editor"
	record(t, open(t, path), received("click"), click, outcome("click"), received("add"), intent("add"), outcome("add"))
	for app, want := range map[string]string{"desktop/editor": "click", "desktop": "click", notes: "add"} {
		found, err := New(path).History(t.Context(), Filter{App: app})
		assert.NilError(t, err, app)
		assert.Assert(t, is.Len(found, 1), app)
		assert.Equal(t, found[0].Call, want, app)
		if want == "click" && (found[0].App != "desktop" || found[0].Target != "desktop/editor") {
			t.Errorf("%s: the app is %s, the target %s", app, found[0].App, found[0].Target)
		}
	}
}

func TestHistoryFilters(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	for i, c := range []struct {
		app, tool, door, caller string
		code                    aai.Code
	}{
		{notes, "add", aai.DoorMCP, "Claude-AI", ""},
		{notes, "wipe", aai.DoorCLI, "terminal", aai.Timeout},
		{"org.example.Bank", "add", aai.DoorMCP, "other", ""},
	} {
		r, o := received(fmt.Sprint(i)), failure(fmt.Sprint(i), c.code)
		r.App, r.Tool, r.Caller, r.Time = c.app, c.tool, aai.Caller{Door: c.door, Name: c.caller}, epoch().Add(time.Duration(i)*time.Hour)
		record(t, j, r, o)
	}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "210"},
		{Filter{App: notes}, "10"},
		{Filter{App: "org.example"}, ""},
		{Filter{Tool: "add"}, "20"},
		{Filter{Tool: "ADD"}, ""},
		{Filter{Caller: "claude"}, "0"},
		{Filter{Caller: "MCP"}, "20"},
		{Filter{Caller: "cli:term"}, "1"},
		{Filter{Result: "ok"}, "20"},
		{Filter{Result: "timeout"}, "1"},
		{Filter{Result: "unknown"}, ""},
		{Filter{Since: epoch().Add(time.Hour)}, "21"},
		{Filter{Since: epoch().Add(time.Hour + 1)}, "2"},
		{Filter{Limit: 1}, "2"},
		{Filter{Limit: 2}, "21"},
		{Filter{Limit: -1}, "210"},
		{Filter{Limit: 1, App: notes}, "1"}, // the limit counts matching calls
		{Filter{App: notes, Tool: "add", Caller: "claude", Result: "OK", Since: epoch()}, "0"},
		{Filter{App: notes, Tool: "add", Result: "TIMEOUT"}, ""},
	} {
		found, err := j.History(t.Context(), c.filter)
		var got strings.Builder
		for _, p := range found {
			got.WriteString(p.Call)
		}
		assert.Check(t, is.Equal(got.String(), c.want), "%+v", c.filter)
		assert.Check(t, err, "%+v", c.filter)
	}
}

func TestHistoryLimitUnlessSaid(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	for i := range 60 {
		record(t, j, received(fmt.Sprint("c", i)))
	}
	found, err := j.History(t.Context(), Filter{})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(found, 50))
	assert.Equal(t, found[0].Call, "c59")
	assert.Equal(t, found[49].Call, "c10")
}

const goodLine = `{"time":"2026-05-04T08:00:00.000000000Z","kind":"received","call":"good","door":"mcp","app":"a","tool":"t"}`

// TestHistorySkips checks that invalid lines are skipped without hiding their neighbours.
func TestHistorySkips(t *testing.T) {
	for name, bad := range map[string]string{
		"nothing":                           "",
		"zeros":                             strings.Repeat("\x00", 5000),
		"garbage":                           "\xff\xfe garbage {",
		"a cut entry":                       goodLine[:60],
		"other JSON":                        `[1,2,3]`,
		"null":                              "null",
		"an empty object":                   "{}",
		"no call":                           strings.Replace(goodLine, `"good"`, `""`, 1),
		"a number for a call":               strings.Replace(goodLine, `"good"`, `7`, 1),
		"no kind":                           strings.Replace(goodLine, `"kind":"received",`, ``, 1),
		"a kind not known":                  strings.Replace(goodLine, `"received"`, `"rumour"`, 1),
		"a time not ours":                   strings.Replace(goodLine, `.000000000Z`, `Z`, 1),
		"a megabyte less":                   strings.Repeat("x", maxLine-2),
		"a megabyte":                        strings.Repeat("x", maxLine-1),
		"a megabyte and more":               strings.Repeat("x", maxLine),
		"three megabytes":                   strings.Repeat("x", 3*maxLine),
		"a long line that ends as an entry": strings.Repeat(" ", 2*maxLine) + goodLine,
	} {
		t.Run(name, func(t *testing.T) {
			path := journalPath(t)
			before, after := strings.Replace(goodLine, "good", "before", 1), strings.Replace(goodLine, "good", "after", 1)
			write(t, path, before+"\n"+bad+"\n"+after+"\n"+bad)
			found := past(t, path)
			assert.Assert(t, is.Len(found, 2))
			assert.Equal(t, found[0].Call, "after")
			assert.Equal(t, found[1].Call, "before")
		})
	}
}

// TestHistoryWithoutLastLineEnd checks that a last line without a newline counts.
func TestHistoryWithoutLastLineEnd(t *testing.T) {
	path := journalPath(t)
	write(t, path, goodLine)
	assert.Check(t, is.Len(past(t, path), 1))
}

// TestHistoryOfTheLongestLine checks the maximum length of a readable line.
func TestHistoryOfTheLongestLine(t *testing.T) {
	for _, c := range []struct{ length, want int }{{maxLine - 1, 1}, {maxLine, 0}} {
		path := journalPath(t)
		filler := strings.Repeat("x", c.length-len(goodLine))
		write(t, path, strings.Replace(goodLine, `"a"`, `"a`+filler+`"`, 1)+"\n")
		found := past(t, path)
		assert.Check(t, is.Len(found, c.want), "%d calls in a line of %d bytes, expected %d", len(found), c.length, c.want)
	}
}

// TestHistoryWithoutReceived checks that entries without their first line, as after the
// file was moved, still show their facts.
func TestHistoryWithoutReceived(t *testing.T) {
	path := journalPath(t)
	record(t, open(t, path), intent("c1"), outcome("c1"))
	found := past(t, path)
	assert.Assert(t, is.Len(found, 1))
	assert.Equal(t, found[0].App, notes)
	assert.Equal(t, found[0].Tool, "add")
	assert.Equal(t, found[0].Result, "ok")
}

// TestHistoryOfReusedNames checks that a reused ID is another call.
func TestHistoryOfReusedNames(t *testing.T) {
	path := journalPath(t)
	record(t, open(t, path), append(wholeCall("c1"), received("c1"), failure("c1", aai.Timeout))...)
	found := past(t, path)
	assert.Assert(t, is.Len(found, 2))
	assert.Equal(t, found[0].Result, "TIMEOUT")
	assert.Equal(t, found[0].Effect, "")
	assert.Equal(t, found[1].Result, "ok")
}

func TestHistoryEndsWithItsContext(t *testing.T) {
	path := journalPath(t)
	record(t, open(t, path), wholeCall("c1")...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	found, err := New(path).History(ctx, Filter{})
	assert.Check(t, is.ErrorIs(err, context.Canceled), found)
}

// TestHistoryFailsToRead checks that a partly unreadable history is an error.
func TestHistoryFailsToRead(t *testing.T) {
	broken := errors.New("input/output error")
	read, err := readLines(t.Context(), iotest.TimeoutReader(iotest.ErrReader(broken)), func([]byte, int64) { t.Error("a line") })
	assert.Assert(t, is.ErrorIs(err, broken), read)
	assert.Assert(t, read == 0, read)
}

// FuzzHistory checks that no content makes reading fail or panic, and that later records
// are found.
func FuzzHistory(f *testing.F) {
	for _, seed := range []string{"", "\n", goodLine, goodLine + "\n", goodLine[:30], "\x00\x00", "null", `{"call":1}`, `{"args":{}}`, "{\"time\":\"\"}\n\n{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if bytes.Contains(content, []byte("fresh")) {
			return
		}
		path := journalPath(t)
		write(t, path, string(content))
		j := New(path)
		record(t, j, wholeCall("fresh")...)
		assert.NilError(t, j.Close())
		found := past(t, path)
		assert.Assert(t, len(found) != 0, "%+v", found)
		assert.Equal(t, found[0].Call, "fresh", "%+v", found)
		assert.Equal(t, found[0].Result, "ok", "%+v", found)
		assert.Equal(t, found[0].Door, "mcp", "%+v", found)
	})
}

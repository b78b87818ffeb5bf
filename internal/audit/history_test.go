package audit

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestHistoryOfEveryEnding checks results and order: a call without an outcome is unknown,
// one without an intent was refused, concurrent calls do not mix, and the newest comes first.
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

// TestHistoryFilters checks that calls are found by their attributes, also by the identity of the
// caller and by the target.
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
		{"desktop", "click", aai.DoorMCP, "other", ""},
	} {
		r, o := received(fmt.Sprint(i)), failure(fmt.Sprint(i), c.code)
		if c.app == "desktop" {
			o.Target = "desktop/editor"
		}
		r.App, r.Tool, r.Caller, r.Time = c.app, c.tool, aai.Caller{Door: c.door, Name: c.caller, Identity: "/opt/" + c.caller + ".py"}, epoch().Add(time.Duration(i)*time.Hour)
		record(t, j, r, o)
	}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "3210"},
		{Filter{App: "desktop/editor"}, "3"},
		{Filter{App: "desktop"}, "3"},
		{Filter{Caller: "/opt/other.py"}, "32"},
		{Filter{App: notes}, "10"},
		{Filter{App: "org.example"}, ""},
		{Filter{Tool: "add"}, "20"},
		{Filter{Tool: "ADD"}, ""},
		{Filter{Caller: "claude"}, "0"},
		{Filter{Caller: "MCP"}, "320"},
		{Filter{Caller: "cli:term"}, "1"},
		{Filter{Result: "ok"}, "320"},
		{Filter{Result: "timeout"}, "1"},
		{Filter{Result: "unknown"}, ""},
		{Filter{Since: epoch().Add(time.Hour)}, "321"},
		{Filter{Since: epoch().Add(time.Hour + 1)}, "32"},
		{Filter{Limit: 1}, "3"},
		{Filter{Limit: 2}, "32"},
		{Filter{Limit: -1}, "3210"},
		{Filter{Limit: 1, App: notes}, "1"}, // the limit counts matching calls
		{Filter{App: notes, Tool: "add", Caller: "claude", Result: "OK", Since: epoch()}, "0"},
		{Filter{App: notes, Tool: "add", Result: "TIMEOUT"}, ""},
	} {
		same(t, j, c.filter)
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

// consumed returns the number of bytes of the journal in the index, without updating it.
func consumed(t *testing.T, path string) (n int64) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
	assert.NilError(t, err)
	defer db.Close() //nolint:errcheck // of a test
	if db.QueryRow("SELECT coalesce(sum(consumed), 0) FROM files").Scan(&n) != nil {
		return 0 // it is being created
	}
	return n
}

// TestIndexIsFilledInTheBackground checks that the index is filled without a query, and
// that Close does not wait for all of it.
func TestIndexIsFilledInTheBackground(t *testing.T) {
	j := hasty(t, journalPath(t))
	j.filler.every = 50
	for i := range 200 {
		record(t, j, reading(fmt.Sprint("c", i)))
	}
	for consumed(t, j.indexPath()) < 20_000 {
		assert.NilError(t, t.Context().Err(), "it is not filled")
		time.Sleep(time.Millisecond)
	}
	assert.NilError(t, j.Close())
	assert.Check(t, j.filler.running == nil, "it runs on")
	same(t, j, Filter{Limit: 1000})
}

// TestIndexOfFewCalls checks that a small journal has no index before the first query.
func TestIndexOfFewCalls(t *testing.T) {
	j := hasty(t, journalPath(t))
	record(t, j, reading("c1"))
	assert.NilError(t, j.Close())
	_, err := os.Stat(j.indexPath())
	assert.Check(t, is.ErrorIs(err, os.ErrNotExist), "there is one: %v", err)
}

// TestIndexTellsItsProgress checks that a query reports the progress of creating the index.
func TestIndexTellsItsProgress(t *testing.T) {
	j := hasty(t, journalPath(t))
	for i := range 100 {
		record(t, j, reading(fmt.Sprint("c", i)))
	}
	j.indexStep = 4000
	var heard []float64
	ctx := gateway.WithProgress(t.Context(), func(done, total float64, message string) {
		assert.Check(t, !(done > total), "%v of %v: %s, after %v", done, total, message, heard)
		assert.Check(t, message != "", "%v of %v: %s, after %v", done, total, message, heard)
		assert.Check(t, !(len(heard) > 0 && done <= heard[len(heard)-1]), "%v of %v: %s, after %v", done, total, message, heard)
		heard = append(heard, done)
	})
	found, err := j.History(ctx, Filter{Limit: 1000})
	assert.NilError(t, err, heard)
	assert.Assert(t, is.Len(found, 100), heard)
	assert.Assert(t, len(heard) >= 5, "%d calls, %v, heard %v", len(found), err, heard)
}

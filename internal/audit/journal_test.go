package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestLines checks the form of the file, which other tools rely on.
func TestLines(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	refused := failure("c2", aai.ConsentRequired)
	refused.Time = time.Date(2026, 5, 4, 8, 0, 1, 5, time.UTC)
	record(t, j, append(wholeCall("c1"), refused)...)
	text, err := os.ReadFile(j.Path())
	assert.NilError(t, err)
	chain := regexp.MustCompile(`(?m)^\{"seq":[1-4],"prev":"[0-9a-f]{32}",("boot":"[0-9a-f]{8}",)?(.*),"mac":"[0-9a-f]{32}"\}$`)
	got := chain.ReplaceAllString(string(text), "{$2}")
	want := `{"time":"2026-05-04T08:00:00.120000000Z","kind":"received","call":"c1","parent":"c0","door":"mcp","caller":"Claude-AI","session":"s1","principal":"somebody","app":"notes","tool":"add"}
{"time":"2026-05-04T08:00:00.121000000Z","kind":"intent","call":"c1","app":"org.example.Notes","tool":"add","target":"org.example.Notes","effect":"changes","digest":"d1","consent":"once (client)","args":{"n":1e400,"text":"milk\n\u2028\u003c\u0026\u003e"}}
{"time":"2026-05-04T08:00:01.120000000Z","kind":"outcome","call":"c1","result":"ok","ms":1.234}
{"time":"2026-05-04T08:00:01.000000005Z","kind":"outcome","call":"c2","result":"CONSENT_REQUIRED","message":"it said no","delivery":"not_delivered","ms":1.234}
`
	assert.Check(t, is.DeepEqual(want, got))
	assert.Check(t, is.Equal(len(lines(t, path)), 4))
}

// TestLineSaysTheEffect checks that each effect is recorded by its word.
func TestLineSaysTheEffect(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	for _, effect := range []aai.Effect{aai.Destroys, aai.Changes, aai.Reads} {
		e := intent("c1")
		e.Effect = effect
		record(t, j, e)
	}
	for i, want := range []string{"destroys", "changes", "reads"} {
		assert.Check(t, is.Equal(lines(t, path)[i]["effect"], want))
	}
}

// TestNothingBeforeTheFirstRecord checks that gateways without calls create no file.
func TestNothingBeforeTheFirstRecord(t *testing.T) {
	path := journalPath(t)
	j := New(path)
	found, err := j.History(t.Context(), Filter{})
	assert.Assert(t, is.Len(found, 0))
	assert.NilError(t, err)
	assert.Check(t, j.Close())
	_, err = os.Stat(filepath.Dir(filepath.Dir(path)))
	assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), "something was made: %v", err)
}

// TestCloseAndGoOn checks that a journal continues after a close, also by another one.
func TestCloseAndGoOn(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	for i := range 3 {
		record(t, j, wholeCall(fmt.Sprint("c", i))...)
		assert.NilError(t, errors.Join(j.Close(), j.Close()))
	}
	record(t, open(t, path), wholeCall("c3")...)
	assert.Check(t, is.Equal(len(lines(t, path)), 12))
}

func TestArgs(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	// {"a":""} is 8 bytes.
	for name, c := range map[string]struct {
		args map[string]any
		want any
	}{
		"none":          {nil, nil},
		"empty":         {map[string]any{}, nil},
		"as they are":   {map[string]any{"a": []any{"b", 1.5, nil}}, map[string]any{"a": []any{"b", json.Number("1.5"), nil}}},
		"just kept":     {map[string]any{"a": strings.Repeat("x", maxArgs-8)}, map[string]any{"a": strings.Repeat("x", maxArgs-8)}},
		"just too long": {map[string]any{"a": strings.Repeat("x", maxArgs-7)}, map[string]any{"omitted_bytes": json.Number("16385")}},
		"huge":          {map[string]any{"a": strings.Repeat("x", 4<<20)}, map[string]any{"omitted_bytes": json.Number("4194312")}},
		"not UTF-8":     {map[string]any{"a": "\xff"}, map[string]any{"a": "\ufffd"}},
	} {
		e := intent("c1")
		e.Args = c.args
		record(t, j, e)
		all := lines(t, path)
		assert.Check(t, is.DeepEqual(c.want, all[len(all)-1]["args"]), "%s", name)
	}
}

// TestUnsayable checks that an entry that cannot be encoded fails and leaves no trace.
func TestUnsayable(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	record(t, j, received("c1"))
	for _, odd := range []any{math.NaN(), math.Inf(1), func() {}, make(chan int)} {
		e := intent("c1")
		e.Args = map[string]any{"a": odd}
		assert.Check(t, j.Record(t.Context(), e) != nil, "%v was recorded", odd)
	}
	assert.Check(t, is.Equal(len(lines(t, path)), 1))
}

// TestHostileWordsStayInTheirLine checks that foreign text cannot end or begin a line.
func TestHostileWordsStayInTheirLine(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	hostile := "x\n{\"time\":\"2026-05-04T08:00:00.000000000Z\",\"kind\":\"received\",\"call\":\"forged\"}\r\n\x00\u2028\xff\""
	e := received(hostile)
	e.Parent, e.App, e.Tool = hostile, hostile, hostile
	e.Caller = aai.Caller{Door: aai.DoorMCP, Name: hostile, Session: hostile, Principal: hostile}
	i, o := intent(hostile), failure(hostile, aai.Code(hostile))
	i.Target, i.Digest, i.Consent, i.Args, o.Message = hostile, hostile, hostile, map[string]any{hostile: hostile}, hostile
	record(t, j, e, i, o)
	assert.Check(t, is.Equal(len(lines(t, path)), 3))
	found := past(t, path)
	assert.Assert(t, is.Len(found, 1))
	assert.Assert(t, found[0].Call != "forged", "%+v", found)
}

// TestMovedAndRemoved checks that the journal continues at its path after the file was
// moved or removed: no entry is written to a file that cannot be found.
func TestMovedAndRemoved(t *testing.T) {
	for name, call := range map[string]func(id string) []*aai.Entry{
		"deeds": mutation,
		"reads": func(id string) []*aai.Entry { return []*aai.Entry{reading(id)} },
	} {
		path := journalPath(t)
		j := open(t, path)
		record(t, j, call("c1")...)
		assert.NilError(t, os.Rename(path, path+".1"))
		record(t, j, call("c2")...)
		moved, here := past(t, path+".1"), past(t, path)
		assert.Assert(t, is.Len(moved, 1), name)
		assert.Assert(t, is.Len(here, 1), name)
		assert.Equal(t, here[0].Call, "c2", name)
		assert.NilError(t, os.RemoveAll(filepath.Dir(path)))
		record(t, j, call("c3")...)
		here = past(t, path)
		assert.Assert(t, is.Len(here, 1), name)
		assert.Equal(t, here[0].Call, "c3", name)
	}
}

// TestTornEnd checks that a torn last line does not damage the next entry, of any gateway.
func TestTornEnd(t *testing.T) {
	for _, end := range []string{`{"time":"2026-05-04T08:0`, "{", "\x00\x00\x00", "garbage", " "} {
		path := journalPath(t)
		first := open(t, path)
		record(t, first, wholeCall("c1")...)
		assert.NilError(t, first.Close())
		whole, err := os.ReadFile(path)
		assert.NilError(t, err)
		write(t, path, string(whole)+end)
		j := open(t, path)
		record(t, j, wholeCall("c2")...)
		found := past(t, path)
		assert.Assert(t, is.Len(found, 2), "%q", end)
		assert.Equal(t, found[0].Call, "c2", "%q", end)
		assert.Equal(t, found[0].Door, aai.DoorMCP, "%q", end)
		assert.Equal(t, found[0].Result, "ok", "%q", end)
		b, err := os.ReadFile(path)
		assert.NilError(t, err, "%q", end)
		assert.Assert(t, !strings.Contains(string(b), "\n\n"), "after %q: an empty line, %v", end, err)
	}
}

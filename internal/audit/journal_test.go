package audit

import (
	"bytes"
	"encoding/json"
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
	"github.com/gybob/aai-gateway/internal/answer"
)

// TestLines checks the form of the file, which other tools rely on, and the lines of each kind of call.
func TestLines(t *testing.T) {
	path := journalPath(t)
	refused := refusal("refused", aai.ConsentRequired)
	refused.Time = time.Date(2026, 5, 4, 8, 0, 1, 5, time.UTC)
	calls := append([]*aai.Entry{reading("read"), refused}, mutation("deed")...)
	record(t, open(t, path), append(calls, asked("asked")...)...)
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	chain := regexp.MustCompile(`(?m)^\{"seq":[1-6],"prev":"[0-9a-f]{32}",("boot":"[0-9a-f]{8}",)?"time":"2026-05-04T08:00:0(.*),"mac":"[0-9a-f]{32}"\}$`)
	caller := `"parent":"c0","door":"mcp","caller":"Claude-AI","session":"s1","principal":"somebody",`
	read := `"app":"org.example.Notes","tool":"list","target":"org.example.Notes","on":{"role":"list","name":"Notes"},"effect":"reads","digest":"d1","consent":"allowed (rule)","args":{"n":1},"result":"ok","ran":true,"ms":1.234`
	want := `1.120000000Z","kind":"outcome","call":"read",` + caller + read + `
1.000000005Z","kind":"outcome","call":"refused",` + caller + `"app":"notes","tool":"add","result":"CONSENT_REQUIRED","message":"it said no","delivery":"not_delivered","ms":1.234
0.121000000Z","kind":"intent","call":"deed",` + caller + `"app":"org.example.Notes","tool":"add","target":"org.example.Notes","effect":"changes","digest":"d1","consent":"once (client)","args":{"n":1e400,"text":"milk\n\u2028\u003c\u0026\u003e"}
1.120000000Z","kind":"outcome","call":"deed","app":"org.example.Notes","tool":"add","target":"org.example.Notes","on":{"role":"button","name":"Save","id":"save-btn","window":"Notes"},"result":"ok","ran":true,"ms":1.234
0.120000000Z","kind":"received","call":"asked",` + caller + `"app":"notes","tool":"add"
1.120000000Z","kind":"outcome","call":"asked",` + read + "\n"
	assert.Check(t, is.DeepEqual(want, chain.ReplaceAllString(string(text), "$2")))
}

// TestNothingBeforeTheFirstRecord checks that gateways without calls create no file.
func TestNothingBeforeTheFirstRecord(t *testing.T) {
	path := journalPath(t)
	j := New(path)
	found, err := j.History(t.Context(), Filter{})
	assert.Assert(t, is.Len(found, 0))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(intact(t, path, 0).String(), "ok, 0 records"))
	assert.Check(t, j.Close())
	_, err = os.Stat(filepath.Dir(filepath.Dir(path)))
	assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), "something was made: %v", err)
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

// reading returns a call that reads: one line.
func reading(call string) *aai.Entry {
	e := outcome(call)
	e.Parent, e.Caller = "c0", received(call).Caller
	e.App, e.Tool, e.Target = notes, "list", notes
	e.Admitted = true
	e.Effect, e.Digest, e.Consent, e.Args = aai.Reads, "d1", "allowed (rule)", map[string]any{"n": 1}
	e.Ran, e.Element = true, aai.TargetElement{Role: "list", Name: "Notes"}
	return e
}

// refusal returns a call that was refused before admission: one line.
func refusal(call string, code aai.Code) *aai.Entry {
	e := failure(call, code)
	e.Parent, e.Caller, e.App, e.Tool = "c0", received(call).Caller, "notes", "add"
	return e
}

// save returns the target of a mutation.
func save() aai.TargetElement {
	return aai.TargetElement{Role: "button", Name: "Save", ID: "save-btn", Window: "Notes"}
}

// mutation returns a call that acts: two lines.
func mutation(call string) []*aai.Entry {
	i, o := intent(call), outcome(call)
	i.Parent, i.Caller = "c0", received(call).Caller
	o.App, o.Tool, o.Target, o.Ran, o.Element = notes, "add", notes, true, save()
	return []*aai.Entry{i, o}
}

// asked returns a call that reads after a question: its outcome has the remaining facts.
func asked(call string) []*aai.Entry {
	r, o := received(call), reading(call)
	r.Durable, o.Caller, o.Parent = true, aai.Caller{}, ""
	return []*aai.Entry{r, o}
}

// TestHistoryOfOneLine checks that a call in one line has its earlier start time, and that
// a call of several lines combines their facts.
func TestHistoryOfOneLine(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	record(t, j, reading("read"), refusal("refused", aai.ConsentRequired))
	record(t, j, mutation("deed")...)
	record(t, j, asked("asked")...)
	same(t, j, Filter{})
	came := epoch().UTC().Add(time.Second - 1234*time.Microsecond)
	base := answer.CallRecord{Parent: "c0", Door: "mcp", Caller: "Claude-AI", App: notes, Result: "ok", Millis: 1.234}
	read := base
	read.Time, read.Call, read.Tool, read.On, read.Effect, read.Consent, read.Args = came, "read", "list", aai.TargetElement{Role: "list", Name: "Notes"}, "reads", "allowed (rule)", []byte(`{"n":1}`)
	refused := base
	refused.Time, refused.Call, refused.Tool, refused.App, refused.Result, refused.Message = came, "refused", "add", "notes", "CONSENT_REQUIRED", "it said no"
	done := base
	done.Time, done.Call, done.Tool, done.On, done.Effect, done.Consent = epoch().UTC().Add(time.Millisecond), "deed", "add", save(), "changes", "once (client)"
	done.Args = []byte(`{"n":1e400,"text":"milk\n\u2028\u003c\u0026\u003e"}`)
	first := read
	first.Time, first.Call, first.Tool = epoch().UTC(), "asked", "add"
	assert.Check(t, is.DeepEqual([]answer.CallRecord{first, done, refused, read}, past(t, path)))
}

// TestHistoryOfFoldedRefusals checks that counted refusals are one row, found by any of their codes.
func TestHistoryOfFoldedRefusals(t *testing.T) {
	path := journalPath(t)
	write(t, path, goodLine+"\n"+
		`{"time":"2026-05-04T08:00:09.000000000Z","kind":"refused","call":"f1","door":"mcp","caller":"x","count":7,`+
		`"since":"2026-05-04T08:00:04.000000000Z","until":"2026-05-04T08:00:08.000000000Z","codes":{"APP_NOT_FOUND":5,"RATE_LIMITED":2}}`+"\n")
	j := New(path)
	want := answer.CallRecord{
		Time: epoch().UTC().Truncate(time.Second).Add(4 * time.Second), Call: "f1", Door: "mcp", Caller: "x", Result: "refused",
		Count: 7, Codes: map[string]int{"APP_NOT_FOUND": 5, "RATE_LIMITED": 2}, Until: epoch().UTC().Truncate(time.Second).Add(8 * time.Second),
	}
	for result, found := range map[string]bool{"": true, "refused": true, "rate_limited": true, "TIMEOUT": false, "RATE": false} {
		f := Filter{Caller: "mcp:x", Result: result}
		same(t, j, f)
		got, err := j.History(t.Context(), f)
		assert.NilError(t, err, "%q %+v", result, got)
		assert.Equal(t, found, (len(got) == 1), "%q %+v", result, got)
		assert.Check(t, is.DeepEqual(append([]answer.CallRecord{}, want)[:len(got)], append([]answer.CallRecord{}, got...)))
	}
	found, err := j.History(t.Context(), Filter{Before: "f1"})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(found, 1))
	assert.Equal(t, found[0].Call, "good")
}

// copied copies a folder of testdata.
func copied(t *testing.T, from string) string {
	t.Helper()
	folder := t.TempDir()
	assert.NilError(t, os.CopyFS(folder, os.DirFS(from)))
	return filepath.Join(folder, "audit.jsonl")
}

// TestThreeLinesACall checks that an older journal with three lines per call is verified,
// shown, exported and continued.
func TestThreeLinesACall(t *testing.T) {
	path := copied(t, "testdata/three-lines")
	v := intact(t, path, 16)
	assert.Check(t, is.Equal(v.Files, 2), "%+v", v)
	told := func() (got []string) {
		same(t, New(path), Filter{})
		for _, p := range past(t, path) {
			got = append(got, fmt.Sprintf("%s %s %s %s %s %d", p.Time.Format("05"), p.Call, p.Tool, p.Effect, p.Result, len(p.Args)))
		}
		return got
	}
	want := []string{
		"50 c5 add changes ok 51", "40 c4 add destroys ok 75", "30 c3 add changes unknown 51",
		"20 c2 add  CONSENT_REQUIRED 0", "10 c1 list reads ok 51", "00 c0 add changes ok 51",
	}
	assert.Check(t, is.DeepEqual(want, told()))
	var out bytes.Buffer
	if v, err := New(path).Export(t.Context(), &out, Filter{Call: "c1"}); err != nil || v.Verdict != answer.Intact || strings.Count(out.String(), `"verified":true`) != 3 {
		t.Errorf("%v, %v, %s", v, err, out.String())
	}
	record(t, hasty(t, path), reading("later"))
	intact(t, path, 17)
	got := told()
	assert.Assert(t, is.Len(got, 7))
	assert.Equal(t, got[0], "01 later list reads ok 7")
}

// TestRecordsOfBefore checks that the target text of older records is read as the name.
func TestRecordsOfBefore(t *testing.T) {
	j := newRecordAssembler(nil)
	j.add([]byte(`{"time":"2026-01-02T03:04:05.000000006Z","kind":"outcome","call":"c1","on":"button \"Save\" in \"Notes\"","result":"ok"}`))
	assert.Assert(t, is.Len(j.calls, 1))
	assert.Equal(t, j.calls[0].On, (aai.TargetElement{Name: `button "Save" in "Notes"`}))
}

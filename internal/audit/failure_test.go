package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestNowhereToWrite checks that each record fails if the journal's place is unusable.
func TestNowhereToWrite(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	write(t, file, "")
	for name, path := range map[string]string{
		"a folder": folder, "below a file": filepath.Join(file, "audit.jsonl"), "deep below a file": filepath.Join(file, "a", "b", "audit.jsonl"),
		"a name of zeros": filepath.Join(folder, "\x00"),
	} {
		j := New(path)
		for range 2 {
			assert.Check(t, j.Record(t.Context(), received("c1")) != nil, "%s: recorded", name)
			assert.Check(t, j.Ready(t.Context()) != nil, "%s: ready", name)
		}
		assert.Check(t, j.Close(), name)
	}
}

// TestReady checks that Ready writes no record, and does not affect the entry after it.
func TestReady(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state", "audit.jsonl"))
	for want := range 3 {
		assert.NilError(t, j.Ready(t.Context()))
		assert.Check(t, is.Equal(len(lines(t, j.Path())), want))
		record(t, j, received("c1"))
	}
	v, err := j.Verify(t.Context())
	assert.NilError(t, err, "%+v", v)
	assert.Equal(t, v.Verdict, answer.Intact, "%+v", v)
	assert.Assert(t, v.Records == 3, "%+v", v)
}

// TestRecovers checks that a journal recovers as soon as its place does.
func TestRecovers(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	write(t, folder, "in the way")
	j := open(t, filepath.Join(folder, "audit.jsonl"))
	assert.Assert(t, j.Record(t.Context(), received("c1")) != nil, "recorded")
	assert.NilError(t, os.Remove(folder))
	record(t, j, received("c2"))
	assert.Check(t, is.Equal(len(lines(t, j.Path())), 1))
}

// TestHistoryOfAFolder checks that a folder in the journal's place is an error, not an empty history.
func TestHistoryOfAFolder(t *testing.T) {
	found, err := New(t.TempDir()).History(t.Context(), Filter{})
	assert.Check(t, err != nil, found)
}

// TestHiddenValues checks that hidden values are replaced by marks, equal for equal values.
func TestHiddenValues(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	args := map[string]any{
		"pin": sanitize.Hide("4711"), "deep": map[string]any{"list": []any{"a", sanitize.Hide("4711"), sanitize.Hide(map[string]any{"k": 1.0})}},
		"plain": "x",
	}
	e := intent("c1")
	e.Args = args
	record(t, j, e)
	assert.NilError(t, j.Close())
	e = intent("c2")
	e.Args = map[string]any{"pin": sanitize.Hide("4711"), "other": sanitize.Hide("4712")}
	record(t, open(t, path), e) // as another process does
	all := lines(t, path)
	first, _ := all[0]["args"].(map[string]any)
	second, _ := all[1]["args"].(map[string]any)
	mark, _ := first["pin"].(map[string]any)
	assert.Check(t, is.Equal(mark["redacted"], true), mark)
	assert.Check(t, is.Equal(mark["len"], json.Number("4")), mark)
	assert.Check(t, is.Equal(len(mark["hmac"].(string)), 32), mark)
	deep := first["deep"].(map[string]any)["list"].([]any)
	diff := cmp.Diff(mark, deep[1])
	assert.Check(t, is.Equal(diff, ""), first)
	assert.Check(t, is.Equal(deep[0], "a"), first)
	assert.Check(t, is.Equal(first["plain"], "x"), first)
	assert.Check(t, is.DeepEqual(mark, second["pin"]))
	if cmp.Equal(mark, second["other"]) || deep[2].(map[string]any)["len"] != json.Number("7") {
		t.Errorf("%v %v", second, deep[2])
	}
	_, changed := args["pin"].(sanitize.Hidden)
	assert.Check(t, changed, "the caller's arguments were changed")
	nowhere(t, filepath.Dir(path), "4711", "4712")
}

// nowhere fails the test if a word is in any file of a folder.
func nowhere(t *testing.T, folder string, words ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		assert.NilError(t, err)
		for _, word := range words {
			if bytes.Contains(b, []byte(word)) {
				t.Errorf("%q is in %s", word, e.Name())
			}
		}
	}
}

// TestMarksAreKeyed checks that two journals mark a value differently, which prevents lookup tables.
func TestMarksAreKeyed(t *testing.T) {
	var marks []string
	for range 2 {
		path := journalPath(t)
		e := intent("c1")
		e.Args = map[string]any{"pin": sanitize.Hide("4711")}
		record(t, open(t, path), e)
		args, _ := lines(t, path)[0]["args"].(map[string]any)
		marks = append(marks, args["pin"].(map[string]any)["hmac"].(string))
	}
	assert.Check(t, marks[0] != marks[1], marks)
}

// TestKeepFull checks that results are kept if configured, with marks for hidden values,
// and within the limit.
func TestKeepFull(t *testing.T) {
	for _, full := range []bool{false, true} {
		path := journalPath(t)
		j := NewFromConfig(Config{Path: path, KeepFull: full})
		ok, long, odd := outcome("c1"), outcome("c2"), outcome("c3")
		ok.ResultValue = func() any { return map[string]any{"text": "hello", "pin": sanitize.Hide("4711")} }
		long.ResultValue = func() any { return strings.Repeat("x", maxFull) }
		odd.ResultValue = func() any { return func() {} }
		record(t, j, received("c1"), ok, received("c2"), long, received("c3"), odd, failure("c4", aai.Timeout))
		assert.NilError(t, j.Close())
		found := past(t, path)
		got := []string{string(found[3].Answer), string(found[2].Answer), string(found[1].Answer), string(found[0].Answer)}
		want := []string{"", "", "", ""}
		if full {
			want = []string{got[0], `{"omitted_bytes":262146}`, `{"unsayable":true}`, ""}
			assert.Assert(t, is.Contains(got[0], `"text":"hello"`))
			assert.Assert(t, is.Contains(got[0], `"redacted":true`))
		}
		assert.Check(t, is.DeepEqual(want, got), "%v", full)
		nowhere(t, filepath.Dir(path), "4711")
	}
}

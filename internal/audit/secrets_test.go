package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

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
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	e = intent("c2")
	e.Args = map[string]any{"pin": sanitize.Hide("4711"), "other": sanitize.Hide("4712")}
	record(t, open(t, path), e) // as another process does
	all := lines(t, path)
	first, _ := all[0]["args"].(map[string]any)
	second, _ := all[1]["args"].(map[string]any)
	mark, _ := first["pin"].(map[string]any)
	if mark["redacted"] != true || mark["len"] != json.Number("4") || len(mark["hmac"].(string)) != 32 {
		t.Errorf("%v", mark)
	}
	deep := first["deep"].(map[string]any)["list"].([]any)
	if diff := cmp.Diff(mark, deep[1]); diff != "" || deep[0] != "a" || first["plain"] != "x" {
		t.Errorf("%v", first)
	}
	if diff := cmp.Diff(mark, second["pin"]); diff != "" {
		t.Errorf("the same value has another mark: %s", diff)
	}
	if cmp.Equal(mark, second["other"]) || deep[2].(map[string]any)["len"] != json.Number("7") {
		t.Errorf("%v %v", second, deep[2])
	}
	if _, changed := args["pin"].(sanitize.Hidden); !changed {
		t.Error("the caller's arguments were changed")
	}
	nowhere(t, filepath.Dir(path), "4711", "4712")
}

// nowhere fails the test if a word is in any file of a folder.
func nowhere(t *testing.T, folder string, words ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
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
	if marks[0] == marks[1] {
		t.Error(marks)
	}
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
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		found := past(t, path)
		got := []string{string(found[3].Answer), string(found[2].Answer), string(found[1].Answer), string(found[0].Answer)}
		want := []string{"", "", "", ""}
		if full {
			want = []string{got[0], `{"omitted_bytes":262146}`, `{"unsayable":true}`, ""}
			if !strings.Contains(got[0], `"text":"hello"`) || !strings.Contains(got[0], `"redacted":true`) {
				t.Error(got[0])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("full: %v: %s", full, diff)
		}
		nowhere(t, filepath.Dir(path), "4711")
	}
}

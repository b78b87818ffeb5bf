package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
)

// small returns a journal with files for a few records, and a clock that the test sets.
func small(t *testing.T, path string, c Config) (*Journal, *time.Time) {
	t.Helper()
	c.Path = path
	if c.RotateSize == 0 {
		c.RotateSize = 2000
	}
	j := NewFromConfig(c)
	inAHurry(j)
	now := time.Now()
	j.now = func() time.Time { return now }
	t.Cleanup(func() { _ = j.Close() })
	return j, &now
}

func fileNames(t *testing.T, path string) (names []string) {
	t.Helper()
	files, err := New(path).files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.path[strings.LastIndexAny(f.path, `/\`)+1:])
	}
	return names
}

// TestRotation checks that a full file is renamed to the number of its first record, and
// that the history and the chain continue in the next one.
func TestRotation(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{})
	for i := range 20 {
		record(t, j, received(fmt.Sprint("c", i)))
	}
	names := fileNames(t, path)
	if len(names) < 3 || names[0] != "audit-000000000001.jsonl" || names[len(names)-1] != "audit.jsonl" {
		t.Fatalf("%q", names)
	}
	if v := intact(t, path, 20); v.Files != len(names) {
		t.Errorf("%+v", v)
	}
	if found := past(t, path); len(found) != 20 || found[0].Call != "c19" {
		t.Errorf("%+v", found)
	}
	// One file is missing without a record.
	if err := os.Remove(strings.Replace(path, "audit.jsonl", names[1], 1)); err != nil {
		t.Fatal(err)
	}
	if v := verified(t, path); v.Verdict == answer.Intact {
		t.Error(v)
	}
}

// TestPruningBySize checks that the oldest files beyond the limit are deleted, with a
// record, and that the rest is an intact chain.
func TestPruningBySize(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{MaxSize: 7000})
	for i := range 100 {
		record(t, j, received(fmt.Sprint("c", i)))
		same(t, j, Filter{Limit: 1000})
	}
	files, err := j.files()
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, f := range files {
		total += f.size
	}
	if total > 7000+2400 {
		t.Errorf("%d bytes are kept", total)
	}
	v := verified(t, path)
	if v.Verdict != answer.Intact || v.Pruned != v.First-1 || v.First < 50 || v.Records != v.Last-v.First+1 {
		t.Errorf("%+v", v)
	}
	if err := os.Remove(files[0].path); err != nil {
		t.Fatal(err)
	}
	if v := verified(t, path); v.Verdict != answer.Truncated {
		t.Errorf("one file more is gone: %+v", v)
	}
}

// TestPruningByAge checks that a file with old records is rotated before it is full, and
// deleted when it is too old.
func TestPruningByAge(t *testing.T) {
	path := journalPath(t)
	j, now := small(t, path, Config{MaxAge: 10 * 24 * time.Hour, RotateSize: 1 << 30})
	begun := *now
	for day := range 40 {
		*now = begun.Add(time.Duration(day) * 24 * time.Hour)
		record(t, j, received(fmt.Sprint("d", day)))
		files, err := j.files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.current {
				if err := os.Chtimes(f.path, *now, *now); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	found := past(t, path)
	if len(found) < 10 || len(found) > 13 || found[0].Call != "d39" {
		t.Errorf("%d days are kept", len(found))
	}
	if v := verified(t, path); v.Verdict != answer.Intact || v.Pruned == 0 {
		t.Errorf("%+v", v)
	}
}

// TestRotationOverwritesNothing checks that an existing file with the new name is kept.
func TestRotationOverwritesNothing(t *testing.T) {
	path := journalPath(t)
	write(t, rotatedPath(path, 1), "somebody's\n")
	j, _ := small(t, path, Config{})
	for i := range 20 {
		record(t, j, received(fmt.Sprint("c", i)))
	}
	if b, err := os.ReadFile(rotatedPath(path, 1)); err != nil || string(b) != "somebody's\n" {
		t.Errorf("%q, %v", b, err)
	}
	if n := len(lines(t, path)); n != 20 {
		t.Errorf("%d records", n)
	}
}

// TestKeyStoreFails checks that records fail while the key store fails, and succeed once
// it works.
func TestKeyStoreFails(t *testing.T) {
	k := &memoryKeyStore{err: errors.New("it is locked")}
	j, _ := small(t, journalPath(t), Config{KeyStore: k})
	for range 2 {
		if err := j.Record(t.Context(), received("c1")); err == nil || !strings.Contains(err.Error(), "it is locked") {
			t.Error(err)
		}
	}
	k.err = nil
	record(t, j, received("c2"))
	if v, err := j.Verify(t.Context()); err != nil || v.Records != 1 || v.Verdict != answer.Intact {
		t.Error(v, err)
	}
}

// TestKeyStoreHasSomethingElse checks that foreign data in a key store is not overwritten.
func TestKeyStoreHasSomethingElse(t *testing.T) {
	for _, kept := range []string{"{", `{}`, `{"version": 2, "key": ""}`, `{"version": 1, "key": "YWJj"}`} {
		k := &memoryKeyStore{kept: []byte(kept)}
		j, _ := small(t, journalPath(t), Config{KeyStore: k})
		if err := j.Record(t.Context(), received("c1")); err == nil || string(k.kept) != kept {
			t.Errorf("%s: %v, now %s", kept, err, k.kept)
		}
	}
}

// TestAnchors checks the limits of a hundred records and of a minute.
func TestAnchors(t *testing.T) {
	k := &memoryKeyStore{}
	j, now := small(t, journalPath(t), Config{KeyStore: k, RotateSize: 1 << 30})
	anchored := func() uint64 {
		t.Helper()
		if err := j.Close(); err != nil { // waits for the anchor
			t.Fatal(err)
		}
		var kept keys
		if err := json.Unmarshal(k.kept, &kept); err != nil {
			t.Fatal(err)
		}
		if kept.Anchor == nil {
			return 0
		}
		return kept.Anchor.Seq
	}
	for _, c := range []struct {
		records int
		later   time.Duration
		want    uint64
	}{{99, 0, 0}, {1, 0, 100}, {1, time.Minute - 1, 100}, {1, 1, 102}, {99, 0, 102}, {1, anchorPause - 1, 102}, {1, 1, 203}} {
		*now = now.Add(c.later)
		for range c.records {
			record(t, j, received("c"))
		}
		if got := anchored(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if k.err = errors.New("it is locked"); true {
		for range 150 {
			record(t, j, received("no anchor is no reason not to record"))
		}
	}
}

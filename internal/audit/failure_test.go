package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway/internal/answer"
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
			if err := j.Record(t.Context(), received("c1")); err == nil {
				t.Errorf("%s: recorded", name)
			}
			if err := j.Ready(t.Context()); err == nil {
				t.Errorf("%s: ready", name)
			}
		}
		if err := j.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReady checks that Ready writes no record, and does not affect the entry after it.
func TestReady(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state", "audit.jsonl"))
	for want := range 3 {
		if err := j.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(lines(t, j.Path())); n != want {
			t.Errorf("%d lines, want %d", n, want)
		}
		record(t, j, received("c1"))
	}
	if v, err := j.Verify(t.Context()); err != nil || v.Verdict != answer.Intact || v.Records != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestRecovers checks that a journal recovers as soon as its place does.
func TestRecovers(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	write(t, folder, "in the way")
	j := open(t, filepath.Join(folder, "audit.jsonl"))
	if err := j.Record(t.Context(), received("c1")); err == nil {
		t.Fatal("recorded")
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	record(t, j, received("c2"))
	if n := len(lines(t, j.Path())); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// TestHistoryOfAFolder checks that a folder in the journal's place is an error, not an empty history.
func TestHistoryOfAFolder(t *testing.T) {
	if found, err := New(t.TempDir()).History(t.Context(), Filter{}); err == nil {
		t.Error(found)
	}
}

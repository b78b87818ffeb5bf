package audit

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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

package reauth

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestAskLog checks that a start asks about a setting of one source once a day, and about others at most three times.
func TestAskLog(t *testing.T) {
	now, path := time.Now(), filepath.Join(t.TempDir(), "asked.json")
	begin := func(from string) bool {
		t.Helper()
		l := NewAskLog(path) // another process
		l.now = func() time.Time { return now }
		ok, err := l.Begin(t.Context(), Setting{From: from, Key: "dev", Value: true})
		assert.NilError(t, err)
		return ok
	}
	assert.Check(t, begin("one"), "the first start does not ask")
	now = now.Add(23 * time.Hour)
	assert.Check(t, !begin("one"), "the next start asks again on the same day")
	for i := range 5 {
		got, want := begin(strconv.Itoa(i)), i < maxAsked-1
		assert.Check(t, is.Equal(got, want), "%d", i)
	}
	now = now.Add(time.Hour)
	assert.Check(t, begin("one"), "nothing is asked on the next day")
}

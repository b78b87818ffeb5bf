package reauth

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestAskLog checks that a start asks about a setting of one source once a day, and about others at most three times.
func TestAskLog(t *testing.T) {
	now, path := time.Now(), filepath.Join(t.TempDir(), "asked.json")
	begin := func(from string) bool {
		t.Helper()
		l := NewAskLog(path) // another process
		l.now = func() time.Time { return now }
		ok, err := l.Begin(t.Context(), Setting{From: from, Key: "dev", Value: true})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !begin("one") {
		t.Error("the first start does not ask")
	}
	now = now.Add(23 * time.Hour)
	if begin("one") {
		t.Error("the next start asks again on the same day")
	}
	for i := range 5 {
		if got, want := begin(strconv.Itoa(i)), i < maxAsked-1; got != want {
			t.Errorf("source %d: %v, expected %v", i, got, want)
		}
	}
	now = now.Add(time.Hour)
	if !begin("one") {
		t.Error("nothing is asked on the next day")
	}
}

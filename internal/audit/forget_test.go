package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// TestTotalsOfFilesThatAreGone checks that files deleted for their age disappear from
// totals and searches, without affecting other calls of the same hour.
func TestTotalsOfFilesThatAreGone(t *testing.T) {
	folder := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(folder, fmt.Sprint(n), "audit.jsonl")
		j := NewFromConfig(Config{Path: path, RotateSize: 1500, KeyStore: &memoryKeyStore{}})
		inAHurry(j)
		defer j.Close() //nolint:errcheck // of a test
		for i := range rapid.IntRange(16, 20).Draw(t, "calls") {
			e := reading(fmt.Sprint("c", i))
			e.App = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "app")
			e.Time = epoch().Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "minutes")) * time.Minute)
			e.Caller = aai.Caller{Door: "mcp", Name: fmt.Sprint("n", i%3)}
			assert.NilError(t, j.Record(context.Background(), e))
		}
		same(t, j, Filter{Limit: 1000})
		files, err := j.files()
		assert.NilError(t, err, "%d", len(files))
		assert.Assert(t, len(files) >= 2, "%d files, %v", len(files), err)
		for range rapid.IntRange(1, len(files)-1).Draw(t, "gone") {
			assert.NilError(t, os.Remove(files[0].path))
			files = files[1:]
		}
		for _, f := range []Filter{{Limit: 1000}, {App: "a"}, {Text: "n1", Limit: 1000}, {Since: epoch().Add(90 * time.Minute), Until: epoch().Add(200 * time.Minute), Limit: 1000}} {
			same(t, j, f)
			sameTotals(t, j, f)
		}
	})
}

// TestDurations checks that durations are rounded up monotonically.
func TestDurations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, longestCall).Draw(t, "a"), rapid.Float64Range(0, 1000).Draw(t, "b")
		for _, ms := range []float64{a, b, a / 1e6} {
			told := ofCode(durationCode(ms))
			assert.Assert(t, !(told < ms-1e-6), "%v is told as %v", ms, told)
			assert.Assert(t, !(told > ms*1.1+0.0011), "%v is told as %v", ms, told)
		}
		if a >= b != (durationCode(a) >= durationCode(b)) && durationCode(a) != durationCode(b) {
			t.Fatalf("%v is at %d, %v at %d", a, durationCode(a), b, durationCode(b))
		}
		d := durations{durationCode(a): 3, durationCode(b): 70000}
		e := make(durations)
		e.unpack(d.encode())
		assert.Assert(t, is.Len(e, len(d)), d)
		assert.Equal(t, e[durationCode(b)], d[durationCode(b)], d)
	})
}

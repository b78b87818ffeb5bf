package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// same fails the test unless the index and a scan of the files give the same result.
func same(t interface {
	Helper()
	Fatalf(string, ...any)
}, j *Journal, f Filter) {
	t.Helper()
	want, err := j.scanFiles(context.Background(), f)
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, err := j.searchIndex(context.Background(), f)
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%+v (-scan +index):\n%s", f, diff)
	}
}

// sameTotals fails the test unless the totals of the index match the files.
func sameTotals(t *rapid.T, j *Journal, f Filter) {
	f = Filter{App: f.App, Tool: f.Tool, Caller: f.Caller, Result: f.Result, Since: f.Since, Until: f.Until, ExcludePageReads: f.ExcludePageReads, Limit: 1 << 30}
	past, err := j.scanFiles(context.Background(), f)
	assert.NilError(t, err)
	want, days, hours := make(map[[2]string]*total), make(map[int64]*total), make(map[int64]*total)
	for _, p := range past {
		one := totalOf(p.Time.Format(timeFormat), p.Millis, p.Count, p.Result)
		sumOf(want, [2]string{p.App, p.Tool}).add(one)
		sumOf(days, p.Time.Truncate(24*time.Hour).Unix()).add(one)
		sumOf(hours, p.Time.Truncate(time.Hour).Unix()).add(one)
	}
	tallies, err := j.ToolStats(context.Background(), f, false)
	assert.NilError(t, err, "%+v %d", f, len(want))
	assert.Assert(t, is.Len(tallies, len(want)), "%+v %d", f, len(want))
	for _, got := range tallies {
		w := want[[2]string{got.App, got.Tool}]
		assert.Assert(t, w != nil, "%+v %+v %+v", f, got, w)
		assert.Equal(t, got.Calls, w.calls, "%+v %+v %+v", f, got, w)
		assert.Equal(t, got.Failures, w.failures, "%+v %+v %+v", f, got, w)
		assert.Equal(t, got.P95, w.times.percentile(95), "%+v %+v %+v", f, got, w)
		assert.Equal(t, got.First.Format(timeFormat), w.first, "%+v %+v %+v", f, got, w)
		assert.Equal(t, got.Last.Format(timeFormat), w.last, "%+v %+v %+v", f, got, w)
	}
	for _, byDay := range []bool{true, false} {
		sums := map[bool]map[int64]*total{true: days, false: hours}[byDay]
		spans, err := j.PeriodStats(context.Background(), f, byDay, time.UTC)
		assert.NilError(t, err, "%+v %d", f, len(sums))
		assert.Assert(t, is.Len(spans, len(sums)), "%+v %d", f, len(sums))
		for _, got := range spans {
			w := sums[got.Start.Unix()]
			assert.Assert(t, w != nil, "%+v %+v %+v", f, got, w)
			assert.Equal(t, got.Calls, w.calls, "%+v %+v %+v", f, got, w)
			assert.Equal(t, got.Failures, w.failures, "%+v %+v %+v", f, got, w)
			assert.Equal(t, got.P95, w.times.percentile(95), "%+v %+v %+v", f, got, w)
		}
	}
}

// TestIndexIsAsTheFiles compares the index with a scan of the files, for any records
// between queries, any callers, any number of files, and other content in them.
func TestIndexIsAsTheFiles(t *testing.T) {
	folder := t.TempDir()
	n := 0
	word := rapid.SampledFrom([]string{"", "a", "B", "a:b", "ÄÖ", "%", "_", "x'y", "nul\x00l", "org.example.Notes", "mcp", "OK"})
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(folder, fmt.Sprint(n), "audit.jsonl")
		j := NewFromConfig(Config{Path: path, RotateSize: 4000, KeyStore: &memoryKeyStore{}})
		inAHurry(j)
		defer j.Close() //nolint:errcheck // of a test
		call := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint("c", rapid.IntRange(0, 12).Draw(t, "call")) })
		t.Repeat(map[string]func(*rapid.T){
			"record": func(t *rapid.T) {
				for range rapid.IntRange(1, 6).Draw(t, "entries") {
					e := wholeCall(call.Draw(t, "call"))[rapid.IntRange(0, 2).Draw(t, "kind")]
					e.App, e.Tool, e.Target = word.Draw(t, "app"), word.Draw(t, "tool"), word.Draw(t, "target")
					e.Caller = aai.Caller{Door: word.Draw(t, "door"), Name: word.Draw(t, "name")}
					if rapid.IntRange(0, 3).Draw(t, "look") == 0 {
						e.App, e.Caller.Door, e.Effect = aai.BuiltinApp, aai.DoorWeb, aai.Reads
					}
					e.Code, e.Message = aai.Code(word.Draw(t, "code")), word.Draw(t, "message")
					e.Time = epoch().Add(time.Duration(rapid.IntRange(-50, 50).Draw(t, "hours")) * 25 * time.Minute)
					assert.NilError(t, j.Record(t.Context(), e))
				}
			},
			"junk": func(t *rapid.T) {
				if _, err := os.Stat(path); err != nil {
					return
				}
				f, err := openAppend(path)
				assert.NilError(t, err)
				junk := rapid.SampledFrom([]string{"\n", "junk\n", "half a li", goodLine + "\n", "\x00\x00", `{"call":"c1"}` + "\n"}).Draw(t, "junk")
				_, err = f.WriteString(junk)
				assert.NilError(t, err)
				assert.NilError(t, f.Close())
			},
			"ask": func(t *rapid.T) {
				if _, err := os.Stat(path); err != nil {
					return // no calls yet
				}
				f := Filter{Limit: rapid.IntRange(0, 20).Draw(t, "limit"), ExcludePageReads: rapid.Bool().Draw(t, "unwatched")}
				for _, field := range []*string{&f.App, &f.Tool, &f.Caller, &f.Result} {
					if rapid.IntRange(0, 3).Draw(t, "given") == 0 {
						*field = word.Draw(t, "filter")
					}
				}
				for _, field := range []*string{&f.Call, &f.Before, &f.Parent} {
					if rapid.IntRange(0, 4).Draw(t, "given") == 0 {
						*field = call.Draw(t, "filter")
					}
				}
				if rapid.IntRange(0, 3).Draw(t, "given") == 0 {
					f.Text = rapid.SampledFrom([]string{"milk", "mi", "example.org", "example.Notes mcp", "äö", "said no", "-", "x'y \"", "org.example.N"}).Draw(t, "text")
				}
				for _, field := range []*time.Time{&f.Since, &f.Until} {
					if rapid.IntRange(0, 4).Draw(t, "given") == 0 {
						*field = epoch().Add(time.Duration(rapid.IntRange(-300, 300).Draw(t, "hours")) * 25 * time.Minute)
					}
				}
				same(t, j, f)
				sameTotals(t, j, f)
			},
		})
	})
}

func indexed(t *testing.T) (*Journal, string) {
	t.Helper()
	path := journalPath(t)
	j := hasty(t, path)
	for i := range 5 {
		record(t, j, wholeCall(fmt.Sprint("c", i))...)
	}
	assert.Assert(t, is.Len(past(t, path), 5))
	return j, filepath.Join(filepath.Dir(path), "index.db")
}

// TestIndexIsMadeAnew checks that an index that is missing, broken, of another version or
// of other files is created again.
func TestIndexIsMadeAnew(t *testing.T) {
	for name, breakIt := range map[string]func(db string) error{
		"missing": os.Remove,
		"no database": func(db string) error {
			return os.WriteFile(db, []byte(strings.Repeat("no database ", 1000)), 0o600)
		},
		"empty": func(db string) error { return os.Truncate(db, 0) },
		"corrupt": func(db string) error {
			b, err := os.ReadFile(db)
			for i := 100; i < len(b); i += 7 {
				b[i] ^= 0x55
			}
			return errors.Join(err, os.WriteFile(db, b, 0o600))
		},
		"cut": func(db string) error { return os.Truncate(db, 5000) },
		"another version": func(path string) error {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				return err
			}
			_, err = db.Exec("PRAGMA user_version = 99")
			return errors.Join(err, db.Close())
		},
		"without its tables": func(path string) error {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				return err
			}
			_, err = db.Exec("DROP TABLE calls")
			return errors.Join(err, db.Close())
		},
	} {
		j, db := indexed(t)
		for _, rest := range []string{"-wal", "-shm"} {
			err := os.Remove(db + rest)
			assert.Assert(t, err == nil || os.IsNotExist(err), err)
		}
		assert.NilError(t, breakIt(db), name)
		found, err := j.searchIndex(t.Context(), Filter{})
		assert.Assert(t, is.Len(found, 5), name)
		assert.NilError(t, err, name)
	}
}

// TestIndexOfAChangedFile checks that a changed file is read again.
func TestIndexOfAChangedFile(t *testing.T) {
	j, _ := indexed(t)
	lines := rawLines(t, j.Path())
	write(t, j.Path(), strings.Join(lines[:6], ""))
	same(t, j, Filter{})
	assert.Check(t, is.Len(past(t, j.Path()), 2))
}

// TestHistoryWithoutIndex checks that the history works without an index, and that Warn
// receives the reason.
func TestHistoryWithoutIndex(t *testing.T) {
	path := journalPath(t)
	var warned []error
	j := NewFromConfig(Config{Path: path, Warn: func(err error) { warned = append(warned, err) }})
	defer j.Close() //nolint:errcheck // of a test
	record(t, j, wholeCall("c1")...)
	assert.NilError(t, os.Mkdir(filepath.Join(filepath.Dir(path), "index.db"), 0o700))
	found, err := j.History(t.Context(), Filter{})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(found, 1))
	assert.Assert(t, is.Len(warned, 1))
}

// TestIndexConcurrently runs queries during records.
func TestIndexConcurrently(t *testing.T) {
	path := journalPath(t)
	var wg sync.WaitGroup
	for i := range 3 {
		j := hasty(t, path)
		wg.Go(func() {
			for n := range 40 {
				for _, e := range wholeCall(fmt.Sprintf("c%d.%d", i, n)) {
					assert.Check(t, j.Record(t.Context(), e))
				}
				if n%10 == 0 {
					_, err := New(path).searchIndex(t.Context(), Filter{})
					assert.Check(t, err)
				}
			}
		})
	}
	wg.Wait()
	j := New(path)
	same(t, j, Filter{Limit: 1000})
	assert.Check(t, is.Len(past(t, path), 120))
	info, err := os.Stat(filepath.Join(filepath.Dir(path), "index.db"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestIndexOnFullDisk checks that the index does not grow on a nearly full disk, that the history is
// complete nevertheless, and that the index grows again with space.
func TestIndexOnFullDisk(t *testing.T) {
	j, db := indexed(t)
	size := func() int64 {
		var bytes int64
		for _, rest := range []string{"", "-wal"} {
			if info, err := os.Stat(db + rest); err == nil {
				bytes += info.Size()
			}
		}
		return bytes
	}
	full := errors.New("nearly full")
	j.checkSpace = func(string) error { return full }
	for i := range 300 {
		record(t, j, wholeCall(fmt.Sprint("later", i))...)
	}
	before := size()
	if _, err := j.searchIndex(t.Context(), Filter{}); !errors.Is(err, full) || size() > before {
		t.Errorf("%d bytes, before %d, %v", size(), before, err)
	}
	found, err := j.History(t.Context(), Filter{Limit: 1000})
	assert.Assert(t, is.Len(found, 305))
	assert.NilError(t, err)
	j.checkSpace = func(string) error { return nil }
	found, err = j.searchIndex(t.Context(), Filter{Limit: 1000})
	assert.Assert(t, is.Len(found, 305))
	assert.NilError(t, err)
}

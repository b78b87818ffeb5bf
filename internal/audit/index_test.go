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
	coarse := rapid.Bool().Draw(t, "coarse") // by app and by day, or by tool and by hour
	tools, periods, period := make(map[string]*total), make(map[string]*total), time.Hour
	if coarse {
		period = 24 * time.Hour
	}
	for _, p := range past {
		one := totalOf(p.Time.Format(timeFormat), p.Millis, p.Count, p.Result)
		if coarse {
			p.Tool = ""
		}
		sumOf(tools, p.App+"\t"+p.Tool).add(one)
		sumOf(periods, p.Time.Truncate(period).String()).add(one)
	}
	rows, err := j.ToolStats(context.Background(), f, coarse)
	assert.NilError(t, err, "%+v", f)
	assert.Assert(t, is.Len(rows, len(tools)), "%+v", f)
	for _, got := range rows {
		sameTotal(t, tools[got.App+"\t"+got.Tool], got.Calls, got.Failures, got.P50, got.P95)
		assert.Equal(t, got.First.Format(timeFormat), tools[got.App+"\t"+got.Tool].first, "%+v %+v", f, got)
		assert.Equal(t, got.Last.Format(timeFormat), tools[got.App+"\t"+got.Tool].last, "%+v %+v", f, got)
	}
	spans, err := j.PeriodStats(context.Background(), f, coarse, time.UTC)
	assert.NilError(t, err, "%+v", f)
	assert.Assert(t, is.Len(spans, len(periods)), "%+v", f)
	for _, got := range spans {
		sameTotal(t, periods[got.Start.String()], got.Calls, got.Failures, got.P50, got.P95)
	}
}

func sameTotal(t *rapid.T, want *total, calls, failures int, p50, p95 float64) {
	assert.Assert(t, want != nil)
	assert.Equal(t, calls, want.calls)
	assert.Equal(t, failures, want.failures)
	assert.Equal(t, p50, want.times.percentile(50))
	assert.Equal(t, p95, want.times.percentile(95))
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

// TestAppendConcurrently checks that goroutines with one journal and with several write each entry
// as one line, once, and the entries of each call in order, during queries.
func TestAppendConcurrently(t *testing.T) {
	path := journalPath(t)
	var wg sync.WaitGroup
	for i := range 6 {
		j := open(t, path)
		j.stateFile.lockTimeout = time.Minute // a busy machine is only slower
		for k := range 3 {
			wg.Go(func() {
				for n := range 10 {
					for _, e := range wholeCall(fmt.Sprintf("c%d.%d.%d", i, k, n)) {
						if e.Kind == aai.Intent {
							e.Args = map[string]any{"text": strings.Repeat(e.Call, 100*n)}
						}
						assert.Check(t, j.Record(t.Context(), e))
					}
				}
				_, err := New(path).searchIndex(t.Context(), Filter{})
				assert.Check(t, err)
			})
		}
	}
	wg.Wait()
	same(t, New(path), Filter{Limit: 1000})
	assert.Check(t, is.Equal(len(lines(t, path)), 3*180))
	found := past(t, path)
	assert.Check(t, is.Len(found, 180))
	for _, p := range found {
		assert.Check(t, is.Equal(p.Result, "ok"), "%+v", p)
		assert.Check(t, p.Door != "", "%+v", p)
		assert.Check(t, p.Effect != "", "%+v", p)
	}
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

// TestIndexIsDeletedWhileSomebodyAsks deletes all or parts of the index during queries and
// records, and checks that results are complete.
func TestIndexIsDeletedWhileSomebodyAsks(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	const calls = 200
	for i := range calls {
		record(t, j, reading(fmt.Sprint("c", i)))
	}
	j.indexStep = 10_000
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for _, ends := range [][]string{{""}, {"-wal", "-shm"}, {"", "-wal", "-shm"}} {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(3 * time.Millisecond):
				}
				for _, end := range ends {
					_ = os.Remove(j.indexPath() + end)
				}
			}
		})
	}
	for range 40 {
		found, err := j.History(t.Context(), Filter{Limit: calls + 1})
		assert.NilError(t, err)
		assert.Assert(t, is.Len(found, calls))
	}
	close(stop)
	wg.Wait()
	same(t, j, Filter{Limit: 1000})
}

// TestIndexOfBefore checks that the index at its former place is removed.
func TestIndexOfBefore(t *testing.T) {
	j := hasty(t, journalPath(t))
	record(t, j, reading("c1"))
	for _, end := range []string{".db", ".db-wal"} {
		assert.NilError(t, os.WriteFile(j.Path()+end, nil, 0o600))
	}
	same(t, j, Filter{})
	left, err := filepath.Glob(j.Path() + ".db*")
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 0))
}

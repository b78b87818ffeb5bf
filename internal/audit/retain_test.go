package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	assert.NilError(t, err)
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
	assert.Assert(t, len(names) >= 3, "%q", names)
	assert.Equal(t, names[0], "audit-000000000001.jsonl", "%q", names)
	assert.Equal(t, names[len(names)-1], "audit.jsonl", "%q", names)
	v := intact(t, path, 20)
	assert.Check(t, is.Equal(v.Files, len(names)), "%+v", v)
	found := past(t, path)
	assert.Assert(t, is.Len(found, 20))
	assert.Equal(t, found[0].Call, "c19")
	// One file is missing without a record.
	assert.NilError(t, os.Remove(strings.Replace(path, "audit.jsonl", names[1], 1)))
	v = verified(t, path)
	assert.Check(t, v.Verdict != answer.Intact, v)
}

// TestPruningBySize checks that the oldest files beyond the limit are deleted, with a
// record, and that the rest is an intact chain.
func TestPruningBySize(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{MaxSize: 7000})
	for i := range 100 {
		record(t, j, received(fmt.Sprint("c", i)))
		if i%10 == 0 {
			same(t, j, Filter{Limit: 1000})
		}
	}
	files, err := j.files()
	assert.NilError(t, err)
	var total int64
	for _, f := range files {
		total += f.size
	}
	assert.Check(t, total <= 7000+2400, "%d bytes are kept", total)
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Intact), "%+v", v)
	assert.Check(t, is.Equal(v.Pruned, v.First-1), "%+v", v)
	assert.Check(t, v.First >= 50, "%+v", v)
	assert.Check(t, is.Equal(v.Records, v.Last-v.First+1), "%+v", v)
	assert.NilError(t, os.Remove(files[0].path))
	v = verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Truncated), "one file more is gone: %+v", v)
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
		assert.NilError(t, err)
		for _, f := range files {
			if f.current {
				assert.NilError(t, os.Chtimes(f.path, *now, *now))
			}
		}
	}
	found := past(t, path)
	assert.Assert(t, len(found) >= 10, "%d days are kept", len(found))
	assert.Assert(t, len(found) <= 13, "%d days are kept", len(found))
	assert.Equal(t, found[0].Call, "d39", "%d", len(found))
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Intact), "%+v", v)
	assert.Check(t, v.Pruned != 0, "%+v", v)
}

// TestRotationOverwritesNothing checks that an existing file with the new name is kept.
func TestRotationOverwritesNothing(t *testing.T) {
	path := journalPath(t)
	write(t, rotatedPath(path, 1), "somebody's\n")
	j, _ := small(t, path, Config{})
	for i := range 20 {
		record(t, j, received(fmt.Sprint("c", i)))
	}
	b, err := os.ReadFile(rotatedPath(path, 1))
	assert.NilError(t, err, "%q", b)
	assert.Equal(t, string(b), "somebody's\n", "%q", b)
	assert.Check(t, is.Equal(len(lines(t, path)), 20))
}

// TestKeyStoreFails checks that records fail while the key store fails, and succeed once
// it works.
func TestKeyStoreFails(t *testing.T) {
	k := &memoryKeyStore{err: errors.New("it is locked")}
	j, _ := small(t, journalPath(t), Config{KeyStore: k})
	for range 2 {
		err := j.Record(t.Context(), received("c1"))
		assert.Check(t, is.ErrorContains(err, "it is locked"))
	}
	k.err = nil
	record(t, j, received("c2"))
	v, err := j.Verify(t.Context())
	assert.NilError(t, err, v)
	assert.Assert(t, v.Records == 1, v)
	assert.Equal(t, v.Verdict, answer.Intact, v)
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
		assert.NilError(t, json.Unmarshal(k.kept, &kept))
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
		assert.Check(t, is.Equal(anchored(), c.want), "%+v", c)
	}
	if k.err = errors.New("it is locked"); true {
		for range 150 {
			record(t, j, received("no anchor is no reason not to record"))
		}
	}
}

// pruneFaults makes one step of a pruning fail: it counts down the steps from the copying
// of kept lines, and fails at zero. If the fault is permanent, later deletions fail too.
type pruneFaults struct {
	left          int
	copying, once bool
	struck        bool
}

var errDisk = errors.New("input/output error")

func (p *pruneFaults) step() error {
	if !p.copying || p.left < 0 {
		return nil
	}
	if p.left--; p.left < 0 {
		p.struck = true
		return errDisk
	}
	return nil
}

// into installs the faults in the journal.
func (p *pruneFaults) into(j *Journal) {
	j.syncFile = func(f *os.File) error {
		p.copying = p.copying || strings.HasSuffix(f.Name(), ".kept")
		return p.step()
	}
	j.syncDir = func(string) error { return p.step() }
	j.remove = func(path string) error {
		p.copying = true // spare files are deleted before that
		if err := p.step(); err != nil || p.struck && !p.once {
			return errDisk
		}
		return os.Remove(path)
	}
}

// TestWhatAPruningCouldNotFlushIsNotDurable checks that a durable entry fails with the flush of the
// record of a deletion, since the system may drop data that it could not write.
func TestWhatAPruningCouldNotFlushIsNotDurable(t *testing.T) {
	j := crowded(t)
	record(t, j, mutation("first")...)
	faults := &pruneFaults{left: 2, once: true} // the copy, its folder, and then the record
	faults.into(j)
	for i := range 200 {
		e := received(fmt.Sprint("r", i))
		e.Durable = true
		err := j.Record(t.Context(), e)
		assert.Assert(t, (err == nil) != faults.struck, "entry %d: %v", i, err)
		if faults.struck {
			record(t, j, mutation("second")...)
			hasMutations(t, j, "first", "second")
			return
		}
	}
	t.Error("nothing was pruned")
}

// TestAStoppedPruningGetsOld checks that lines kept by a stopped pruning may expire without a fault.
func TestAStoppedPruningGetsOld(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{MaxSize: 9000, MaxAge: 10 * 24 * time.Hour})
	faults := &pruneFaults{left: 2}
	faults.into(j)
	record(t, j, mutation("first")...)
	for i := 0; !faults.struck; i++ {
		record(t, j, reading(fmt.Sprint("r", i)))
	}
	j, now := small(t, path, Config{MaxSize: 9000, MaxAge: 10 * 24 * time.Hour})
	files, err := j.files()
	assert.NilError(t, err)
	for _, f := range files {
		if before := now.Add(-11 * 24 * time.Hour); !f.current {
			assert.NilError(t, os.Chtimes(f.path, before, before))
		}
	}
	for i := range 60 {
		record(t, j, reading(fmt.Sprint("later", i)))
		assert.NilError(t, os.Chtimes(path, *now, *now))
		v := verified(t, path)
		assert.Equal(t, v.Verdict, answer.Intact, "%d %v %+v", i, v, v.Faults)
	}
}

// hasMutations fails the test unless each mutation is listed once and Verify finds no fault.
func hasMutations(t *testing.T, j *Journal, calls ...string) {
	t.Helper()
	for _, call := range calls {
		found, err := j.scanFiles(t.Context(), Filter{Call: call, Limit: 10})
		assert.NilError(t, err, call)
		assert.Assert(t, is.Len(found, 1), call)
		assert.Equal(t, found[0].Result, "ok", call)
	}
	v := verified(t, j.Path())
	assert.Equal(t, v.Verdict, answer.Intact, "%v %+v", v, v.Faults)
}

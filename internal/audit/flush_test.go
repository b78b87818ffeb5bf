package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// A disk counts its flushes. A slow one signals the start of a flush, and ends it on
// demand.
type disk struct {
	flushes int // the journal flushes once at a time
	onDisk  string
	fails   error
	begun   chan struct{}
	end     chan error
}

func slowDisk() *disk { return &disk{begun: make(chan struct{}), end: make(chan error)} }

// hasBegun waits until a flush has begun. It fails the test if an entry is acknowledged
// meanwhile.
func (d *disk) hasBegun(t *testing.T, told <-chan error) {
	t.Helper()
	select {
	case <-d.begun:
	case err := <-told:
		t.Fatalf("somebody went on before there was a trip to the disk: %v", err)
	}
}

func (d *disk) flush(f *os.File) error {
	d.flushes++
	if d.begun != nil {
		d.begun <- struct{}{}
		return <-d.end
	}
	b, err := os.ReadFile(f.Name())
	d.onDisk = string(b)
	return errors.Join(d.fails, err)
}

// onDisk returns a journal on that disk, closed with the test.
func onDisk(t *testing.T, d *disk) *Journal {
	t.Helper()
	j := open(t, journalPath(t))
	j.syncFile = d.flush
	return j
}

// TestFlushIsSync checks that New uses the file's Sync, which fails on a closed file. The
// tests below use a fake disk.
func TestFlushIsSync(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	assert.NilError(t, err)
	assert.Check(t, New("").syncFile(f))
	assert.Check(t, f.Close())
	err = New("").syncFile(f)
	assert.Check(t, is.ErrorIs(err, os.ErrClosed), "%v; expected that of a closed file", err)
}

// TestWhatIsFlushed checks that the intent of every call that may act is flushed before it
// runs, and that nothing else is.
func TestWhatIsFlushed(t *testing.T) {
	for _, c := range []struct {
		name  string
		entry aai.Entry
		want  int
	}{
		{"outcome", aai.Entry{Kind: aai.Outcome, Effect: aai.Destroys}, 0},
		{"received before a person is asked", aai.Entry{Kind: aai.Received, Durable: true}, 1},
		{"intent to read", aai.Entry{Kind: aai.Intent, Admitted: true, Effect: aai.Reads}, 0},
		{"intent to change", aai.Entry{Kind: aai.Intent, Admitted: true, Effect: aai.Changes, Durable: true}, 1},
	} {
		d := &disk{}
		j := onDisk(t, d)
		c.entry.Time, c.entry.Call = epoch(), "c1"
		record(t, j, received("c0"), &c.entry)
		assert.Check(t, is.Equal(d.flushes, c.want), "%s: flushed %d times, expected %d", c.name, d.flushes, c.want)
		if c.want == 1 && strings.Count(d.onDisk, "\n") != 2 {
			t.Errorf("%s: on disk is %q", c.name, d.onDisk)
		}
	}
}

// TestGroupCommit checks that concurrent callers share a flush, that none continues before
// its end, and that entries without a flush do not wait.
func TestGroupCommit(t *testing.T) {
	const others = 20
	d := slowDisk()
	j := onDisk(t, d)
	first, rest := make(chan error, 1), make(chan error, others)
	go func() { first <- j.Record(t.Context(), intent("first")) }()
	d.hasBegun(t, first)
	for i := range others {
		go func() { rest <- j.Record(t.Context(), intent(fmt.Sprint("c", i))) }()
	}
	record(t, j, received("in no hurry"))
	waitForLines(t, j.Path(), 1+others+1)
	assert.Equal(t, len(first), 0)
	assert.Equal(t, len(rest), 0)
	d.end <- nil
	assert.Check(t, <-first)
	d.hasBegun(t, rest)
	assert.Check(t, is.Equal(len(rest), 0), "somebody went on after the trip of another")
	d.end <- nil
	for range others {
		assert.Check(t, <-rest)
	}
	assert.Check(t, is.Equal(d.flushes, 2), "%d trips, expected one for the first and one for all others", d.flushes)
}

// TestFailedFlush checks that a failed flush fails all of its entries: the system may have
// dropped them, and reports that only once. Later entries can succeed.
func TestFailedFlush(t *testing.T) {
	broken := errors.New("input/output error")
	d := slowDisk()
	j := onDisk(t, d)
	errs := make(chan error, 3)
	go func() { errs <- j.Record(t.Context(), intent("a")) }()
	d.hasBegun(t, errs)
	for _, id := range []string{"b", "c"} {
		go func() { errs <- j.Record(t.Context(), intent(id)) }()
	}
	waitForLines(t, j.Path(), 3)
	d.end <- nil // that of "a"
	assert.Check(t, <-errs)
	d.hasBegun(t, errs)
	d.end <- broken // that of "b" and "c"
	for range 2 {
		assert.Check(t, (<-errs) != nil, "recorded, but not on disk")
	}
	assert.Check(t, is.Equal(d.flushes, 2))
	go func() { errs <- j.Record(t.Context(), intent("d")) }()
	d.hasBegun(t, errs)
	d.end <- nil
	assert.Check(t, <-errs)
	for n, lost := range map[int64]bool{2: true, 3: true, 4: false} {
		err := j.sync(n)
		assert.Check(t, is.Equal((err != nil), lost), "%d %v", n, err)
	}
}

// waitForLines waits until the file has that many lines.
func waitForLines(t *testing.T, path string, n int) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); ; {
		b, err := os.ReadFile(path)
		assert.NilError(t, err)
		if bytes.Count(b, []byte("\n")) == n {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("there are %d lines, and never %d", bytes.Count(b, []byte("\n")), n)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestClosedBeforeFlush checks that an entry fails if its file was closed before the flush.
func TestClosedBeforeFlush(t *testing.T) {
	d := &disk{}
	j := onDisk(t, d)
	record(t, j, received("c1"))
	assert.NilError(t, j.Close())
	assert.Check(t, j.sync(1) != nil)
	record(t, j, intent("c2"))
	err := j.sync(1)
	assert.Check(t, err, "the file was flushed since: %v", err)
}

// TestMovedFileIsFlushed checks that a moved file is flushed before it is released.
func TestMovedFileIsFlushed(t *testing.T) {
	d := &disk{}
	j := onDisk(t, d)
	record(t, j, received("c1"))
	d.fails = errors.New("input/output error")
	assert.NilError(t, os.Rename(j.Path(), j.Path()+".1"))
	record(t, j, received("c2"))
	assert.Check(t, is.Equal(d.flushes, 1), "flushed %d times", d.flushes)
	d.fails = nil
	assert.Check(t, j.sync(1) != nil, "the flush of the moved file failed, but its entry is said to be on disk")
	assert.Check(t, j.sync(2))
}

// TestPowerLossWhileRotating loses power between the rename of a full file and the next
// one: the state on disk includes its last record, so no number is used twice.
func TestPowerLossWhileRotating(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{})
	var onDisk []byte
	j.stateFile.toDisk = func(f *os.File) (err error) {
		onDisk, err = os.ReadFile(f.Name())
		return err
	}
	record(t, j, received("c0"))
	down := errors.New("no power")
	j.syncDir = func(string) error { return down }
	for n := 1; ; n++ {
		if err := j.Record(t.Context(), received(fmt.Sprint("c", n))); errors.Is(err, down) {
			break
		} else if err != nil || n > 100 {
			t.Fatal(n, err)
		}
	}
	names := fileNames(t, path)
	assert.Assert(t, is.Len(names, 1))
	assert.Equal(t, names[0], "audit-000000000001.jsonl")
	before := uint64(len(lines(t, rotatedPath(path, 1))))
	assert.NilError(t, errors.Join(j.Close(), os.WriteFile(path+".chain", onDisk, 0o600)))
	record(t, open(t, path), received("later"))
	intact(t, path, before+1)
}

// TestAnchorsAreOfWhatIsOnDisk checks that the key store gets anchors of flushed records
// only: it must not be ahead of the file after a crash.
func TestAnchorsAreOfWhatIsOnDisk(t *testing.T) {
	var flushes, stored atomic.Int64
	k := &memoryKeyStore{before: func() {
		assert.Check(t, stored.Add(1) <= 1 || flushes.Load() != 0, "the anchor came before the flush")
	}}
	j, _ := small(t, journalPath(t), Config{KeyStore: k, RotateSize: 1 << 30})
	j.syncFile = func(*os.File) error { flushes.Add(1); return nil }
	for range anchorEvery {
		record(t, j, received("c"))
	}
	assert.NilError(t, j.Close())
	assert.Check(t, stored.Load() == 2, "stored %d times, expected the key and the anchor", stored.Load())
}

// TestFlushOfAFileThatIsPutAside checks that a flush does not fail because the file is
// rotated, flushed and closed meanwhile.
func TestFlushOfAFileThatIsPutAside(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{})
	calls := 0
	j.syncFile = func(*os.File) error {
		if calls++; calls > 1 {
			return nil
		}
		if err := os.Rename(path, path+".moved"); err != nil {
			return err
		}
		record(t, j, received("another"))
		return os.ErrClosed
	}
	record(t, j, intent("waits"))
	assert.Check(t, is.Equal(calls, 2))
}

// TestLostAfterAnotherStart checks that missing flushed records count as removed after
// another boot, while unflushed ones may be lost.
func TestLostAfterAnotherStart(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		for _, goOn := range []bool{false, true} {
			path := journalPath(t)
			j, _ := small(t, path, Config{})
			j.boot = func() [16]byte { return [16]byte{1} }
			first := received("c1")
			if flushed {
				first = intent("c1")
			}
			record(t, j, first, received("c2"))
			assert.NilError(t, errors.Join(j.Close(), os.Truncate(path, 0)))
			again, _ := small(t, path, Config{})
			again.boot = func() [16]byte { return [16]byte{2} }
			if goOn {
				record(t, again, received("c3"))
			}
			v, err := again.Verify(t.Context())
			assert.NilError(t, err)
			assert.Check(t, is.Equal(v.Verdict, map[bool]answer.Verdict{false: answer.Intact, true: answer.Truncated}[flushed]), "flushed: %v, going on: %v: %v", flushed, goOn, v)
			assert.Check(t, flushed || len(v.Repairs) == 1 && v.Repairs[0].Lost == 2, "going on: %v: %+v", goOn, v)
		}
	}
}

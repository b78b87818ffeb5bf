package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

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

// recordingKeyStore calls a function before it stores.
type recordingKeyStore struct {
	memoryKeyStore
	before func()
}

func (k *recordingKeyStore) Store(ctx context.Context, kept []byte) error {
	k.before()
	return k.memoryKeyStore.Store(ctx, kept)
}

// TestAnchorsAreOfWhatIsOnDisk checks that the key store gets anchors of flushed records
// only: it must not be ahead of the file after a crash.
func TestAnchorsAreOfWhatIsOnDisk(t *testing.T) {
	var flushes, stored atomic.Int64
	k := &recordingKeyStore{before: func() {
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

package workflow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// plainSealer seals nothing, so that sizes are predictable.
type plainSealer struct{}

func (plainSealer) Seal(_ context.Context, _ string, content []byte) ([]byte, error) {
	return content, nil
}
func (plainSealer) Open(_ context.Context, _ string, box []byte) ([]byte, error) { return box, nil }

func boundedStore(t *testing.T, folder string, bytes int64, check func(string) error) *workflow.SQLiteStore {
	t.Helper()
	k := workflow.NewSQLiteStore(workflow.SQLiteConfig{Path: filepath.Join(folder, "state.db"), Vault: plainSealer{}, MaxBytes: bytes, CheckSpace: check})
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// modelRun is a run as the test knows it.
type modelRun struct {
	store *workflow.SQLiteStore
	steps int
	ended time.Time // zero: it runs
}

// Random runs of two processes never make the database larger than its bound. No running run loses
// a record, and runs are deleted in the order of their ends.
func TestDatabaseStaysWithinItsBound(t *testing.T) {
	const bound, transaction = 2 << 20, 1 << 20
	for seed := range uint64(2) {
		random := rand.New(rand.NewPCG(seed, 1))
		folder := t.TempDir()
		stores := []*workflow.SQLiteStore{boundedStore(t, folder, bound, nil), boundedStore(t, folder, bound, nil)}
		runs, refused, gone := map[string]*modelRun{}, 0, 0
		for n := range 150 {
			id := fmt.Sprint("r", n)
			if k := stores[random.IntN(2)]; k.Begin(t.Context(), &workflow.Run{ID: id, Caller: agentCaller, App: aai.BuiltinApp, Document: document(t)}) == nil {
				runs[id] = &modelRun{store: k}
			} else {
				refused++
			}
			for id, r := range runs {
				if !r.ended.IsZero() {
					continue
				}
				value := strings.Repeat("v", random.IntN(1+random.IntN(300<<10)))
				err := r.store.Step(t.Context(), id, &workflow.Record{Step: r.steps + 1, State: workflow.Done, Value: value})
				if err == nil {
					r.steps++
				} else if e, ok := errors.AsType[*aai.Error](err); !ok || !strings.Contains(e.Error(), "have not ended fill it") {
					t.Fatal(err)
				} else {
					refused++
				}
				if random.IntN(4) == 0 || err != nil && random.IntN(2) == 0 {
					r.ended = time.Now() // the store's time of the end is not earlier
					must(t, r.store.End(t.Context(), id, workflow.Done))
				}
			}
			path := filepath.Join(folder, "state.db")
			size, log := fileSize(t, path), fileSize(t, path+"-wal")
			assert.Assert(t, size <= bound, "seed %d, run %d: the file has %d bytes, the log %d", seed, n, size, log)
			assert.Assert(t, log <= 4<<20+transaction, "seed %d, run %d: the file has %d bytes, the log %d", seed, n, size, log)
			gone += checkRuns(t, stores[0], runs)
		}
		assert.Check(t, gone != 0, "seed %d: %d deleted, %d refused", seed, gone, refused)
		assert.Check(t, refused != 0, "seed %d: %d deleted, %d refused", seed, gone, refused)
	}
}

// checkRuns compares the stored runs with the model, and drops the deleted ones from the model. It
// returns their number.
func checkRuns(t *testing.T, k *workflow.SQLiteStore, runs map[string]*modelRun) (gone int) {
	t.Helper()
	rows, err := k.Runs(t.Context(), 5000)
	must(t, err)
	stored := map[string]workflow.RunSummary{}
	first := time.Now().Add(time.Hour) // end of a stored run
	for _, row := range rows {
		if stored[row.ID] = row; !row.Ended.IsZero() && row.Ended.Before(first) {
			first = row.Ended
		}
	}
	for id, r := range runs {
		row, there := stored[id]
		switch {
		case there && row.Step != r.steps:
			t.Fatalf("%s has %d steps, expected %d", id, row.Step, r.steps)
		case there:
		case r.ended.IsZero():
			t.Fatalf("%s runs and was deleted", id)
		case r.ended.Truncate(time.Millisecond).After(first):
			t.Fatalf("%s ended at %v and was deleted before one that ended at %v", id, r.ended, first)
		default:
			delete(runs, id)
			gone++
		}
	}
	return gone
}

// A run that fills the database alone is refused before its next act, and can end.
func TestRunThatExceedsTheBound(t *testing.T) {
	k := boundedStore(t, t.TempDir(), 2<<20, nil)
	ctx := t.Context()
	must(t, k.Begin(ctx, &workflow.Run{ID: "c1", Caller: agentCaller, Document: document(t)}))
	for range 5 {
		must(t, k.Step(ctx, "c1", &workflow.Record{Step: 1, Part: 1, State: workflow.Done, Reads: true, Value: strings.Repeat("v", 1<<20)}),
			k.Step(ctx, "c1", &workflow.Record{Step: 1, Part: 2, State: workflow.Done, Reads: true, Value: strings.Repeat("v", 1<<20)}))
	}
	err := k.Step(ctx, "c1", &workflow.Record{Step: 2, State: workflow.Begun})
	assert.Check(t, is.ErrorContains(err, "state.db may have at most 2 MB"))
	_ = k.End(ctx, "c1", workflow.Failed)
	row, _, err := k.Get(ctx, "c1")
	assert.NilError(t, err, "%+v", row)
	assert.Equal(t, row.State, workflow.Failed, "%+v", row)
}

// On a disk that is nearly full, no run begins and no act begins, but an act and a run end.
func TestNearlyFullDisk(t *testing.T) {
	full := false
	k := boundedStore(t, t.TempDir(), 0, func(folder string) error {
		if full {
			return diskspace.FullError(folder, 1<<20, diskspace.Reserve)
		}
		return nil
	})
	ctx := t.Context()
	begin(t, k, "c1")
	full = true
	err := k.Begin(ctx, &workflow.Run{ID: "c2", Document: document(t)})
	assert.Check(t, is.ErrorContains(err, "1.0 MB are free, 64 MB are needed"))
	assert.Check(t, k.Step(ctx, "c1", &workflow.Record{Step: 3, State: workflow.Begun}) != nil, "an act began")
	must(t, k.Step(ctx, "c1", &workflow.Record{Step: 2, State: workflow.Done, Value: "v"}), k.End(ctx, "c1", workflow.Done))
	full = false
	begin(t, k, "c2")
}

// A database of an earlier version without a bound shrinks when it is opened.
func TestOversizedDatabaseShrinks(t *testing.T) {
	folder := t.TempDir()
	k := boundedStore(t, folder, 1<<30, nil)
	for i := range 40 {
		id := fmt.Sprint("c", i)
		must(t, k.Begin(t.Context(), &workflow.Run{ID: id, Caller: agentCaller, Document: document(t)}),
			k.Step(t.Context(), id, &workflow.Record{Step: 1, State: workflow.Done, Value: strings.Repeat("v", 200<<10)}), k.End(t.Context(), id, workflow.Done))
	}
	must(t, k.Close())
	path := filepath.Join(folder, "state.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.Exec("PRAGMA auto_vacuum = 0; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, err, db.Close())
	before := fileSize(t, path)
	rows, err := boundedStore(t, folder, 2<<20, nil).Runs(t.Context(), 100)
	must(t, err)
	after := fileSize(t, path)
	assert.Assert(t, before >= 7<<20, "%d bytes became %d; %d rows", before, after, len(rows))
	assert.Assert(t, after <= 2<<20, "%d bytes became %d; %d rows", before, after, len(rows))
	assert.Assert(t, len(rows) != 0, "%d bytes became %d; %d rows", before, after, len(rows))
	assert.Equal(t, rows[0].ID, "c39", "%d %d %d", before, after, len(rows))
}

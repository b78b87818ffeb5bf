package audit

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/gateway"
)

// consumed returns the number of bytes of the journal in the index, without updating it.
func consumed(t *testing.T, path string) (n int64) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
	assert.NilError(t, err)
	defer db.Close() //nolint:errcheck // of a test
	if db.QueryRow("SELECT coalesce(sum(consumed), 0) FROM files").Scan(&n) != nil {
		return 0 // it is being created
	}
	return n
}

// TestIndexIsFilledInTheBackground checks that the index is filled without a query, and
// that Close does not wait for all of it.
func TestIndexIsFilledInTheBackground(t *testing.T) {
	j := hasty(t, journalPath(t))
	j.filler.every = 50
	for i := range 200 {
		record(t, j, reading(fmt.Sprint("c", i)))
	}
	for consumed(t, j.indexPath()) < 20_000 {
		assert.NilError(t, t.Context().Err(), "it is not filled")
		time.Sleep(time.Millisecond)
	}
	assert.NilError(t, j.Close())
	assert.Check(t, j.filler.running == nil, "it runs on")
	same(t, j, Filter{Limit: 1000})
}

// TestIndexOfFewCalls checks that a small journal has no index before the first query.
func TestIndexOfFewCalls(t *testing.T) {
	j := hasty(t, journalPath(t))
	record(t, j, reading("c1"))
	assert.NilError(t, j.Close())
	_, err := os.Stat(j.indexPath())
	assert.Check(t, is.ErrorIs(err, os.ErrNotExist), "there is one: %v", err)
}

// TestIndexTellsItsProgress checks that a query reports the progress of creating the index.
func TestIndexTellsItsProgress(t *testing.T) {
	j := hasty(t, journalPath(t))
	for i := range 100 {
		record(t, j, reading(fmt.Sprint("c", i)))
	}
	j.indexStep = 4000
	var heard []float64
	ctx := gateway.WithProgress(t.Context(), func(done, total float64, message string) {
		assert.Check(t, !(done > total), "%v of %v: %s, after %v", done, total, message, heard)
		assert.Check(t, message != "", "%v of %v: %s, after %v", done, total, message, heard)
		assert.Check(t, !(len(heard) > 0 && done <= heard[len(heard)-1]), "%v of %v: %s, after %v", done, total, message, heard)
		heard = append(heard, done)
	})
	found, err := j.History(ctx, Filter{Limit: 1000})
	assert.NilError(t, err, heard)
	assert.Assert(t, is.Len(found, 100), heard)
	assert.Assert(t, len(heard) >= 5, "%d calls, %v, heard %v", len(found), err, heard)
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

package audit

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/gateway"
)

// consumed returns the number of bytes of the journal in the index, without updating it.
func consumed(t *testing.T, path string) (n int64) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
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
		if t.Context().Err() != nil {
			t.Fatal("it is not filled")
		}
		time.Sleep(time.Millisecond)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j.filler.running != nil {
		t.Error("it runs on")
	}
	same(t, j, Filter{Limit: 1000})
}

// TestIndexOfFewCalls checks that a small journal has no index before the first query.
func TestIndexOfFewCalls(t *testing.T) {
	j := hasty(t, journalPath(t))
	record(t, j, reading("c1"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(j.indexPath()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is one: %v", err)
	}
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
		if done > total || message == "" || len(heard) > 0 && done <= heard[len(heard)-1] {
			t.Errorf("%v of %v: %s, after %v", done, total, message, heard)
		}
		heard = append(heard, done)
	})
	if found, err := j.History(ctx, Filter{Limit: 1000}); err != nil || len(found) != 100 || len(heard) < 5 {
		t.Errorf("%d calls, %v, heard %v", len(found), err, heard)
	}
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
		if err != nil || len(found) != calls {
			t.Errorf("%d calls, %v", len(found), err)
		}
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
		if err := os.WriteFile(j.Path()+end, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same(t, j, Filter{})
	if left, err := filepath.Glob(j.Path() + ".db*"); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
}

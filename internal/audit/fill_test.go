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

	"github.com/gybob/aai-gateway"
)

// consumed is how much of the journal an index has read, without bringing it up to
// date.
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
		return 0 // it is being made
	}
	return n
}

// The index is filled while nobody asks, and whoever closes the journal does not wait
// for all of it.
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

// A journal that is little used has no index before somebody asks.
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

// Who waits until the index is made hears how far it has come.
func TestIndexTellsItsProgress(t *testing.T) {
	j := hasty(t, journalPath(t))
	for i := range 100 {
		record(t, j, reading(fmt.Sprint("c", i)))
	}
	j.indexStep = 4000
	var heard []float64
	ctx := aai.WithProgress(t.Context(), func(done, total float64, message string) {
		if done > total || message == "" || len(heard) > 0 && done <= heard[len(heard)-1] {
			t.Errorf("%v of %v: %s, after %v", done, total, message, heard)
		}
		heard = append(heard, done)
	})
	if found, err := j.History(ctx, Filter{Limit: 1000}); err != nil || len(found) != 100 || len(heard) < 5 {
		t.Errorf("%d calls, %v, heard %v", len(found), err, heard)
	}
}

// The index may be deleted at any moment, all of it or a part, also while somebody asks
// and while others record: the answer is complete.
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

// The index that versions before had elsewhere is removed.
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

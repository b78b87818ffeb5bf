package database_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/database"
)

func layout() database.Schema {
	return database.Schema{Version: 3, Tables: "CREATE TABLE things (name TEXT PRIMARY KEY);"}
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := database.Open(t.Context(), path, layout())
	assert.NilError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Many may make it at the same time, and all write.
func TestManyOpenIt(t *testing.T) {
	name := "a b#c%3F?.db"
	if runtime.GOOS == "windows" {
		name = "a b#c%3F.db" // its names have no question marks
	}
	path := filepath.Join(t.TempDir(), name)
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		all.Go(func() {
			db, err := database.Open(context.Background(), path, layout())
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close() //nolint:errcheck // it is about what was written
			_, err = db.Exec("INSERT INTO things VALUES (?)", name)
			assert.Check(t, err)
		})
	}
	all.Wait()
	var n int
	err := open(t, path).QueryRow("SELECT count(*) FROM things").Scan(&n)
	assert.NilError(t, err)
	assert.Equal(t, n, 8)
	_, err = os.Stat(path)
	assert.Check(t, err)
}

// TestWhatIsAnothers: a file with another schema stays unchanged, and IsUnusable distinguishes it
// from other failures.
func TestWhatIsAnothers(t *testing.T) {
	for name, tables := range map[string]string{
		"version": "CREATE TABLE things (name TEXT); PRAGMA user_version = 4",
		"tables":  "CREATE TABLE theirs (name TEXT)",
	} {
		path := filepath.Join(t.TempDir(), "x.db")
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.Exec(tables)
		}
		assert.NilError(t, errors.Join(err, db.Close()))
		_, err = database.Open(t.Context(), path, layout())
		assert.Assert(t, is.ErrorIs(err, database.ErrSchemaMismatch), name)
		assert.Assert(t, database.IsUnusable(err), "another %s: %v", name, err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	assert.NilError(t, os.WriteFile(path, []byte("this is no database, and long enough to be looked at as one"), 0o600))
	_, err := database.Open(t.Context(), path, layout())
	assert.Check(t, database.IsUnusable(err), "no database: %v", err)
	_, err = database.Open(t.Context(), filepath.Join(t.TempDir(), "none", "x.db"), layout())
	assert.Assert(t, err != nil, "no folder: %v", err)
	assert.Assert(t, !database.IsUnusable(err), "no folder: %v", err)
}

package database_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gybob/aai-gateway/internal/files/database"
)

func layout() database.Schema {
	return database.Schema{Version: 3, Tables: "CREATE TABLE things (name TEXT PRIMARY KEY);"}
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := database.Open(t.Context(), path, layout())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Many may make it at the same time, and all write.
func TestManyOpenIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b#c?.db")
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		all.Go(func() {
			db, err := database.Open(context.Background(), path, layout())
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close() //nolint:errcheck // it is about what was written
			if _, err := db.Exec("INSERT INTO things VALUES (?)", name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var n int
	if err := open(t, path).QueryRow("SELECT count(*) FROM things").Scan(&n); err != nil || n != 8 {
		t.Errorf("%d things, %v", n, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
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
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := database.Open(t.Context(), path, layout()); !errors.Is(err, database.ErrSchemaMismatch) || !database.IsUnusable(err) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte("this is no database, and long enough to be looked at as one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := database.Open(t.Context(), path, layout()); !database.IsUnusable(err) {
		t.Errorf("no database: %v", err)
	}
	if _, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "none", "x.db"), layout()); err == nil || database.IsUnusable(err) {
		t.Errorf("no folder: %v", err)
	}
}

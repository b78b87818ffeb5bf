package workflow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway/internal/files/database"
)

// databaseVersion is the schema version. The store does not open a database of another version,
// because its content cannot be recreated.
const databaseVersion = 1

const databaseSchema = `
CREATE TABLE runs (
	id TEXT PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER NOT NULL, owner TEXT NOT NULL, pid INTEGER NOT NULL,
	state TEXT NOT NULL, steps INTEGER NOT NULL, sealed BLOB);
CREATE INDEX by_began ON runs (began);
CREATE TABLE records (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step INTEGER NOT NULL, part INTEGER NOT NULL,
	state TEXT NOT NULL, reads INTEGER NOT NULL, sealed BLOB, PRIMARY KEY (run, step, part));
CREATE TABLE backs (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, act INTEGER NOT NULL, status TEXT NOT NULL, PRIMARY KEY (run, act));
`

// open opens the database, and creates it if needed. The caller holds the lock.
func (k *SQLiteStore) open(ctx context.Context) error {
	if k.db != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(k.cfg.Path), 0o700); err != nil {
		return err
	}
	if err := makePrivate(k.cfg.Path); err != nil {
		return err
	}
	db, err := database.Open(ctx, k.cfg.Path,
		database.Schema{Version: databaseVersion, Tables: databaseSchema, MaxBytes: k.cfg.MaxBytes})
	if err != nil {
		return fmt.Errorf("the database of workflows: %w", err)
	}
	k.db, k.flushes = db, false
	return k.shrinkOversized(ctx)
}

// makePrivate creates a file for its owner only, or returns an error for any other kind of file.
func makePrivate(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("expected a regular file")}
	}
	return nil
}

// write changes the database in one transaction. With flushed, the change is on disk when write
// returns. The caller holds the lock.
func (k *SQLiteStore) write(ctx context.Context, flushed bool, do func(*sql.Tx) error) error {
	if err := k.open(ctx); err != nil {
		return err
	}
	if flushed != k.flushes {
		set := "PRAGMA synchronous = NORMAL"
		if flushed {
			set = "PRAGMA synchronous = FULL"
		}
		if _, err := k.db.ExecContext(ctx, set); err != nil {
			return err
		}
		k.flushes = flushed
	}
	tx, err := k.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has no effect after Commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// deleteOld deletes runs older than maxAge, and ended runs beyond the newest maxRuns.
func (k *SQLiteStore) deleteOld(ctx context.Context) error {
	old := time.Now().Add(-maxAge).UnixMilli()
	err := k.write(ctx, false, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE began < ? OR state <> 'begun' AND id NOT IN (SELECT id FROM runs ORDER BY began DESC, rowid DESC LIMIT ?)`, old, maxRuns-1)
		return err
	})
	if err == nil {
		_, err = k.db.ExecContext(ctx, "PRAGMA incremental_vacuum")
	}
	return err
}

func (k *SQLiteStore) lockOf(owner string) string { return k.cfg.Path + "." + owner + ".lock" }

// lockOwner takes the lock that shows other processes that this one runs. The caller holds k.mu.
func (k *SQLiteStore) lockOwner(ctx context.Context) error {
	if err := k.open(ctx); err != nil || k.lock != nil {
		return err
	}
	l := flock.New(k.lockOf(k.owner), flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil || !ok {
		return fmt.Errorf("%s cannot be locked: %w", l.Path(), err)
	}
	k.lock = l
	return nil
}

// alive reports whether the owning process still runs.
func (k *SQLiteStore) alive(owner string) bool {
	if owner == k.owner {
		return false // its runs are known
	}
	path := k.lockOf(owner)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	l := flock.New(path, flock.SetPermissions(0o600))
	ok, err := l.TryRLock()
	if err != nil || !ok {
		return true
	}
	_ = os.Remove(path) // no process will own it again
	_ = l.Unlock()
	return false
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

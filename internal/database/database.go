// Package database opens the files in which SQLite keeps what is searched or must outlast
// the process. Several processes of one person use one file at the same time.
//
// The package knows tables only as text. Whether a file may be opened at all (whose it is,
// who may read it) its owner has looked at before.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"

	"aai"
)

// A Layout is what a database holds.
type Layout struct {
	Version int    // its user_version, at least 1
	Tables  string // the SQL that makes them, each statement ended
}

// ErrOther is a database of another version, or of somebody else's tables.
var ErrOther = errors.New("it is another program's, or of another version")

// Open opens the database of the file, and makes its tables where there are none. A commit
// survives the process, and the system once it was checkpointed; "PRAGMA synchronous = FULL"
// has each survive. There is one connection, so that what is set on it holds for all that is
// done. It fails with an error for which [Broken] holds where the file has another layout.
func Open(ctx context.Context, path string, l Layout) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)" +
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if err := l.prepareWhenFree(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Memory opens a database that nobody else sees, and that is gone when it is closed: for what
// is quick to make anew. There is one connection. It may be gone before, after a call whose
// context ended; then the next fails with an error for which [Broken] holds.
func Memory(ctx context.Context, l Layout) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file::memory:?_pragma=trusted_schema(0)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if err := l.prepare(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// busyPatience is how long a database may be busy with another process. SQLite itself does
// not wait where it would change to its write-ahead log.
const busyPatience = 5 * time.Second

func (l Layout) prepareWhenFree(ctx context.Context, db *sql.DB) error {
	for until := time.Now().Add(busyPatience); ; {
		err := l.prepare(ctx, db)
		if codeOf(err) != busy && !raced(err) || time.Now().After(until) {
			return err
		}
		if err := aai.Pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// prepare makes the tables of a database that is new.
func (l Layout) prepare(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has no effect after Commit
	var version, tables int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	switch {
	case version == l.Version && tables > 0:
		return nil
	case version != 0 || tables > 0:
		return fmt.Errorf("it has version %d, expected %d: %w", version, l.Version, ErrOther)
	}
	if _, err := tx.ExecContext(ctx, l.Tables+"PRAGMA user_version = "+strconv.Itoa(l.Version)); err != nil {
		return err
	}
	return tx.Commit()
}

// raced reports whether another process took a journal away that was to be taken away: both had
// found the file without its write-ahead log.
func raced(err error) bool {
	const deleteNoEntry = 10 | 23<<8 // SQLITE_IOERR_DELETE_NOENT
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == deleteNoEntry
}

// Codes of SQLite's errors.
const (
	general = 1
	busy    = 5
	corrupt = 11
	format  = 24
	notADB  = 26
)

// codeOf is the code of an error of SQLite's, 0 of any other.
func codeOf(err error) int {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff
}

// Broken reports whether a database that failed so will never do: it is none, is corrupt, or
// does not have the tables of its layout.
func Broken(err error) bool {
	if errors.Is(err, ErrOther) {
		return true
	}
	switch codeOf(err) {
	case general, corrupt, format, notADB:
		return true
	}
	return false
}

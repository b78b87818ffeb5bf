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

	"github.com/gybob/aai-gateway"
)

// A Layout is what a database holds.
type Schema struct {
	Version int    // its user_version, at least 1
	Tables  string // the SQL that makes them, each statement ended
}

// ErrSchemaMismatch is a database of another version, or of somebody else's tables.
var ErrSchemaMismatch = errors.New("it is another program's, or of another version")

// Open opens the database of the file, and makes its tables where there are none. A commit
// survives the process, and the system once it was checkpointed; "PRAGMA synchronous = FULL"
// has each survive. There is one connection, so that what is set on it holds for all that is
// done. It fails with an error for which [IsUnusable] holds where the file has another layout.
func Open(ctx context.Context, path string, l Schema) (*sql.DB, error) {
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

// OpenMemory opens a database that nobody else sees, and that is gone when it is closed: for what
// is quick to make anew. There is one connection. It may be gone before, after a call whose
// context ended; then the next fails with an error for which [IsUnusable] holds.
func OpenMemory(ctx context.Context, l Schema) (*sql.DB, error) {
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

// busyTimeout is how long a database may be busy with another process. SQLite itself does
// not wait where it would change to its write-ahead log.
const busyTimeout = 5 * time.Second

func (l Schema) prepareWhenFree(ctx context.Context, db *sql.DB) error {
	for until := time.Now().Add(busyTimeout); ; {
		err := l.prepare(ctx, db)
		if codeOf(err) != codeBusy && !isJournalDeleteRace(err) || time.Now().After(until) {
			return err
		}
		if err := aai.Sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// prepare makes the tables of a database that is new.
func (l Schema) prepare(ctx context.Context, db *sql.DB) error {
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
		return fmt.Errorf("it has version %d, expected %d: %w", version, l.Version, ErrSchemaMismatch)
	}
	if _, err := tx.ExecContext(ctx, l.Tables+"PRAGMA user_version = "+strconv.Itoa(l.Version)); err != nil {
		return err
	}
	return tx.Commit()
}

// isJournalDeleteRace reports whether another process took a journal away that was to be taken away: both had
// found the file without its write-ahead log.
func isJournalDeleteRace(err error) bool {
	const deleteNoEntry = 10 | 23<<8 // SQLITE_IOERR_DELETE_NOENT
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == deleteNoEntry
}

// Codes of SQLite's errors.
const (
	codeError   = 1
	codeBusy    = 5
	codeCorrupt = 11
	codeFormat  = 24
	codeNotADB  = 26
)

// codeOf is the code of an error of SQLite's, 0 of any other.
func codeOf(err error) int {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff
}

// IsUnusable reports whether a database that failed so will never do: it is none, is corrupt, or
// does not have the tables of its layout.
func IsUnusable(err error) bool {
	if errors.Is(err, ErrSchemaMismatch) {
		return true
	}
	switch codeOf(err) {
	case codeError, codeCorrupt, codeFormat, codeNotADB:
		return true
	}
	return false
}

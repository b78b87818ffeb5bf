// Package database opens SQLite files for search indexes and for data that outlasts the process.
// Several processes of one person may use a file concurrently.
//
// The package treats tables only as SQL text. The caller checks the ownership and the mode of a
// file before.
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

// A Schema is the table layout of a database.
type Schema struct {
	Version int    // its user_version, at least 1
	Tables  string // the SQL that creates them, each statement terminated
	// MaxBytes is the size that the file cannot exceed; zero: unlimited. [IsFull] holds for the
	// error of a statement that needs more. A file that is larger already cannot grow.
	MaxBytes int64
}

// ErrSchemaMismatch reports a database of another version or program.
var ErrSchemaMismatch = errors.New("it is another program's, or of another version")

// Open opens the database file, and creates the tables in a new one. A commit survives a crash of
// the process, and one of the system after a checkpoint; "PRAGMA synchronous = FULL" makes each
// commit survive. There is a single connection, so its settings hold for all statements. If the
// file has another schema, [IsUnusable] holds for the error.
func Open(ctx context.Context, path string, l Schema) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)" + l.limits() +
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

// maxLogBytes is the size to which SQLite cuts the write-ahead log after a checkpoint.
const maxLogBytes = 4 << 20

// pageSize is SQLite's default, which Open does not change.
const pageSize = 4096

// limits returns the settings of the connection that bound the files. A new bounded file gets the
// page map with which "PRAGMA incremental_vacuum" shrinks it.
func (l Schema) limits() string {
	text := "&_pragma=journal_size_limit(" + strconv.Itoa(maxLogBytes) + ")"
	if l.MaxBytes > 0 {
		text += "&_pragma=auto_vacuum(2)&_pragma=max_page_count(" + strconv.FormatInt(max(1, l.MaxBytes/pageSize), 10) + ")"
	}
	return text
}

// UsedBytes returns the size of the file without its free pages, within a transaction.
func UsedBytes(ctx context.Context, tx *sql.Tx) (bytes int64, err error) {
	row := tx.QueryRowContext(ctx, "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, "+
		"pragma_freelist_count, pragma_page_size")
	return bytes, row.Scan(&bytes)
}

// busyTimeout is the wait for a database that another process uses. SQLite's own timeout does not
// cover the change to the write-ahead log.
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

// prepare creates the tables of a new database.
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

// isJournalDeleteRace reports whether another process removed the journal first: both had opened
// the file without a write-ahead log.
func isJournalDeleteRace(err error) bool {
	const deleteNoEntry = 10 | 23<<8 // SQLITE_IOERR_DELETE_NOENT
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == deleteNoEntry
}

// Error codes of SQLite.
const (
	codeError   = 1
	codeBusy    = 5
	codeCorrupt = 11
	codeFull    = 13
	codeFormat  = 24
	codeNotADB  = 26
)

// codeOf returns the primary SQLite code of the error, or 0.
func codeOf(err error) int {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff
}

// IsFull reports whether the error means that the file has reached its MaxBytes, or the disk is full.
func IsFull(err error) bool { return codeOf(err) == codeFull }

// IsUnusable reports whether the error means that the file can never be used: it is no database,
// is corrupt, or lacks the tables of its schema.
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

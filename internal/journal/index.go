package journal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// The index is a database beside the journal that holds the calls in a form that
// is quick to search. It knows nothing that the journal does not: it is made when
// somebody asks for the history, brought up to date then, and made anew when it is
// missing, broken or of another version.

// indexVersion is kept in the database as its user_version.
const indexVersion = 2

const indexSchema = `
CREATE TABLE files (id INTEGER PRIMARY KEY, ident TEXT NOT NULL UNIQUE, consumed INTEGER NOT NULL, tail BLOB NOT NULL);
CREATE TABLE calls (
	id INTEGER PRIMARY KEY, file INTEGER NOT NULL, open INTEGER NOT NULL,
	time TEXT NOT NULL, call TEXT NOT NULL, parent TEXT NOT NULL, door TEXT NOT NULL, caller TEXT NOT NULL,
	app TEXT NOT NULL, tool TEXT NOT NULL, target TEXT NOT NULL, effect TEXT NOT NULL, consent TEXT NOT NULL,
	args TEXT, answer TEXT, result TEXT NOT NULL, message TEXT NOT NULL, ms REAL NOT NULL,
	acted TEXT NOT NULL, count INTEGER NOT NULL, codes TEXT, until TEXT NOT NULL,
	who TEXT NOT NULL, ending TEXT NOT NULL);
CREATE INDEX by_call ON calls (call);
CREATE INDEX by_time ON calls (time);
CREATE INDEX by_app ON calls (app);
CREATE INDEX by_target ON calls (target) WHERE target <> '';
CREATE INDEX by_tool ON calls (tool);
CREATE INDEX by_file ON calls (file);
`

// search answers by the index.
func (j *Journal) search(ctx context.Context, f Filter) (found []Past, err error) {
	for again := range 2 {
		found, err = j.searchOnce(ctx, f)
		if err == nil || again > 0 || !broken(err) {
			return found, err
		}
		if err := removeIndex(j.indexPath()); err != nil {
			return nil, err
		}
	}
	return found, err
}

func (j *Journal) indexPath() string { return j.path + ".db" }

// errOther is an index that is to be made anew.
var errOther = errors.New("it is of another version, or of other files")

// broken reports whether an index that failed so is to be made anew: it is no
// database, a corrupt one, or does not have our tables.
func broken(err error) bool {
	const (
		sqliteError   = 1
		sqliteCorrupt = 11
		sqliteFormat  = 24
		sqliteNotADB  = 26
	)
	if errors.Is(err, errOther) {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() & 0xff {
	case sqliteError, sqliteCorrupt, sqliteFormat, sqliteNotADB:
		return true
	}
	return false
}

func removeIndex(path string) error {
	var errs []error
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (j *Journal) searchOnce(ctx context.Context, f Filter) (found []Past, err error) {
	db, err := openIndex(ctx, j.indexPath())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	x := &indexer{db: db}
	if err := x.update(ctx, files); err != nil {
		return nil, err
	}
	return query(ctx, db, f)
}

// openIndex opens the database, which only its owner may read.
func openIndex(ctx context.Context, path string) (*sql.DB, error) {
	f, err := openSide(path, fileMode)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	name := url.URL{Scheme: "file", Path: slashed, RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)" +
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=trusted_schema(0)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepareWhenFree(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// busyPatience is how long a database may be busy with another process. SQLite
// itself does not wait where it would change to its write-ahead log.
const busyPatience = 5 * time.Second

func prepareWhenFree(ctx context.Context, db *sql.DB) error {
	const sqliteBusy = 5
	for until := time.Now().Add(busyPatience); ; {
		err := prepareIndex(ctx, db)
		e, ok := errors.AsType[*sqlite.Error](err)
		if !ok || e.Code()&0xff != sqliteBusy || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// prepareIndex makes the tables of a database that is new.
func prepareIndex(ctx context.Context, db *sql.DB) error {
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
	case version == indexVersion && tables > 0:
		return nil
	case version != 0 || tables > 0:
		return errOther
	}
	if _, err := tx.ExecContext(ctx, indexSchema+"PRAGMA user_version = "+strconv.Itoa(indexVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

// An indexer brings an index up to date.
type indexer struct{ db *sql.DB }

// indexedFile is how far the index has read a file.
type indexedFile struct {
	id       int64
	consumed int64
	tail     []byte // the bytes before consumed
}

// stepBytes is how much of the journal one transaction takes: who is interrupted
// goes on from there.
const stepBytes = 16 << 20

// update reads what the index does not have yet.
func (x *indexer) update(ctx context.Context, files []journalFile) error {
	idents := make(map[string]bool)
	for _, f := range files {
		file, err := openRead(f.path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = x.updateFile(ctx, file, idents)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return x.forget(ctx, idents)
}

// updateFile reads one file. It is known by its first line, not by its name, which
// changes when it is put aside.
func (x *indexer) updateFile(ctx context.Context, file *os.File, idents map[string]bool) error {
	ident, err := identOf(file)
	if err != nil || ident == "" {
		return err
	}
	line := ident
	for n := 2; idents[ident]; n++ { // a copy of a file
		ident = line + "#" + strconv.Itoa(n)
	}
	idents[ident] = true
	for step := int64(stepBytes); ; {
		read, more, err := x.step(ctx, file, ident, step)
		if err != nil || !more {
			return err
		}
		if read == 0 {
			step *= 2 // one line is longer than that
		}
	}
}

func identOf(file *os.File) (string, error) {
	text, err := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), maxLine).ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	if len(text) == 0 {
		return "", nil
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text, []byte("\n")))
	return hex.EncodeToString(sum[:]), nil
}

// step reads at most so many bytes more of a file, in one transaction, and reports
// whether there are more.
func (x *indexer) step(ctx context.Context, file *os.File, ident string, most int64) (read int64, more bool, err error) {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, false, err
	}
	defer tx.Rollback() //nolint:errcheck // it has no effect after Commit
	var at indexedFile
	row := tx.QueryRowContext(ctx, "SELECT id, consumed, tail FROM files WHERE ident = ?", ident)
	if err := row.Scan(&at.id, &at.consumed, &at.tail); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, false, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, false, err
	}
	if !at.fits(file) {
		return 0, false, errOther // what was read is no longer what stands there
	}
	if info.Size() == at.consumed {
		return 0, false, nil
	}
	if at.id == 0 {
		made, err := tx.ExecContext(ctx, "INSERT INTO files (ident, consumed, tail) VALUES (?, 0, x'')", ident)
		if err != nil {
			return 0, false, err
		}
		if at.id, err = made.LastInsertId(); err != nil {
			return 0, false, err
		}
	}
	rows := newIndexRows(ctx, tx, at.id)
	joined := newJoiner(rows.known)
	left := min(most, info.Size()-at.consumed)
	read, err = readLines(ctx, io.NewSectionReader(file, at.consumed, left), joined.add)
	if err = errors.Join(err, rows.failure); err != nil {
		return 0, false, err
	}
	if err := rows.save(joined); err != nil {
		return 0, false, err
	}
	at.consumed += read
	if at.tail, err = tailOf(file, at.consumed); err != nil {
		return 0, false, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE files SET consumed = ?, tail = ? WHERE id = ?", at.consumed, at.tail, at.id); err != nil {
		return 0, false, err
	}
	return read, left == most, tx.Commit()
}

// fits reports whether the file still has what was read of it.
func (at *indexedFile) fits(file *os.File) bool {
	tail, err := tailOf(file, at.consumed)
	return err == nil && bytes.Equal(tail, at.tail)
}

// tailOf returns the last bytes before an offset.
func tailOf(file *os.File, offset int64) ([]byte, error) {
	tail := make([]byte, min(offset, 64))
	_, err := file.ReadAt(tail, offset-int64(len(tail)))
	return tail, err
}

// forget drops the calls whose files were deleted.
func (x *indexer) forget(ctx context.Context, idents map[string]bool) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has no effect after Commit
	gone, err := goneFiles(ctx, tx, idents)
	if err != nil || len(gone) == 0 {
		return err
	}
	for _, id := range gone {
		for _, statement := range []string{"DELETE FROM calls WHERE file = ?", "DELETE FROM files WHERE id = ?"} {
			if _, err := tx.ExecContext(ctx, statement, id); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

func goneFiles(ctx context.Context, tx *sql.Tx, idents map[string]bool) (gone []int64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, ident FROM files")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var id int64
		var ident string
		if err := rows.Scan(&id, &ident); err != nil {
			return nil, err
		}
		if !idents[ident] {
			gone = append(gone, id)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the files of the index: %w", err)
	}
	return gone, nil
}

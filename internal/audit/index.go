package audit

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/files/database"
)

// The index is a database beside the journal that holds the calls in a form for fast
// search. It contains only facts from the journal. A query of the history creates or
// updates it, and creates it again if it is missing, broken or of another version.

// indexVersion is the version of the tables: an index of another version is created again.
const indexVersion = 7

// indexTables creates the tables. A kind is a combination of the attributes by which calls are filtered. There are few, so
// that filters search kinds instead of calls. The table texts holds the words of each call
// and its kind. totals counts finished calls by kind and hour and by kind and day; kind 0
// is all calls by hour, and kind -1 all except reads by the dashboard. hours holds the
// range of call IDs in an hour, lines the offsets of a call's lines in the files.
const indexTables = `
CREATE TABLE files (id INTEGER PRIMARY KEY, ident TEXT NOT NULL UNIQUE, consumed INTEGER NOT NULL, tail BLOB NOT NULL);
CREATE TABLE kinds (
	id INTEGER PRIMARY KEY, app TEXT NOT NULL, target TEXT NOT NULL, tool TEXT NOT NULL, door TEXT NOT NULL,
	identity TEXT NOT NULL, who TEXT NOT NULL, result TEXT NOT NULL, ending TEXT NOT NULL, look INTEGER NOT NULL,
	UNIQUE (app, target, tool, door, identity, who, result, ending, look));
CREATE TABLE calls (
	id INTEGER PRIMARY KEY, file INTEGER NOT NULL, open INTEGER NOT NULL, kind INTEGER NOT NULL,
	time TEXT NOT NULL, call TEXT NOT NULL, parent TEXT NOT NULL, door TEXT NOT NULL, caller TEXT NOT NULL,
	app TEXT NOT NULL, tool TEXT NOT NULL, target TEXT NOT NULL, effect TEXT NOT NULL, consent TEXT NOT NULL,
	args TEXT, answer TEXT, result TEXT NOT NULL, message TEXT NOT NULL, ms REAL NOT NULL,
	acted TEXT, count INTEGER NOT NULL, codes TEXT, until TEXT NOT NULL, identity TEXT NOT NULL);
CREATE INDEX by_call ON calls (call);
CREATE INDEX by_parent ON calls (parent) WHERE parent <> '';
CREATE INDEX by_time ON calls (time);
CREATE INDEX by_file ON calls (file);
CREATE INDEX by_open ON calls (time) WHERE open;
CREATE VIRTUAL TABLE texts USING fts5 (kind, text, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE TABLE totals (
	size INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT NULL, calls INTEGER NOT NULL, failures INTEGER NOT NULL,
	first TEXT NOT NULL, last TEXT NOT NULL, times BLOB NOT NULL, PRIMARY KEY (size, kind, start)) WITHOUT ROWID;
CREATE TABLE hours (hour INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL);
CREATE TABLE lines (call INTEGER NOT NULL, file INTEGER NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (call, file, offset)) WITHOUT ROWID;
CREATE INDEX lines_by_file ON lines (file);
`

// searchIndex answers a query from the index.
func (j *Journal) searchIndex(ctx context.Context, f Filter) (found []answer.CallRecord, err error) {
	err = j.withIndex(ctx, func(x *indexer) (err error) {
		found, err = query(ctx, x.db, f)
		return err
	})
	return found, err
}

// withIndex calls do with an up-to-date index. If the index turns out to be unusable,
// withIndex creates it again and calls do once more.
func (j *Journal) withIndex(ctx context.Context, do func(*indexer) error) error {
	err := j.withIndexOnce(ctx, do)
	if err == nil || !database.IsUnusable(err) {
		return err
	}
	if err := removeIndex(j.indexPath()); err != nil {
		return err
	}
	return j.withIndexOnce(ctx, do)
}

func (j *Journal) indexPath() string { return filepath.Join(filepath.Dir(j.path), "index.db") }

func removeIndex(path string) error {
	var errs []error
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (j *Journal) withIndexOnce(ctx context.Context, do func(*indexer) error) (err error) {
	db, err := openIndex(ctx, j.indexPath())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_ = removeIndex(j.path + ".db") // its place in earlier versions
	seen, err := j.openSnapshot(false)
	if err != nil {
		return err
	}
	defer seen.close()
	x := &indexer{db: db, step: j.indexStep, files: make(map[int64]*os.File)}
	x.checkSpace = func() error { return j.checkSpace(filepath.Dir(j.path)) }
	if err := x.update(ctx, seen.files); err != nil {
		return err
	}
	return do(x)
}

// openIndex opens the database, which only its owner may read.
func openIndex(ctx context.Context, path string) (*sql.DB, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		if err := removeIndex(path); err != nil { // the rest of a deleted index is useless
			return nil, err
		}
	}
	f, err := openSide(path)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return database.Open(ctx, path, database.Schema{Version: indexVersion, Tables: indexTables})
}

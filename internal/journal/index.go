package journal

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"aai/internal/database"
)

// The index is a database beside the journal that holds the calls in a form that
// is quick to search. It knows nothing that the journal does not: it is made when
// somebody asks for the history, brought up to date then, and made anew when it is
// missing, broken or of another version.

// indexVersion is of the tables: an index of another one is made anew.
const indexVersion = 4

const indexTables = `
CREATE TABLE files (id INTEGER PRIMARY KEY, ident TEXT NOT NULL UNIQUE, consumed INTEGER NOT NULL, tail BLOB NOT NULL);
CREATE TABLE calls (
	id INTEGER PRIMARY KEY, file INTEGER NOT NULL, open INTEGER NOT NULL,
	time TEXT NOT NULL, call TEXT NOT NULL, parent TEXT NOT NULL, door TEXT NOT NULL, caller TEXT NOT NULL,
	app TEXT NOT NULL, tool TEXT NOT NULL, target TEXT NOT NULL, effect TEXT NOT NULL, consent TEXT NOT NULL,
	args TEXT, answer TEXT, result TEXT NOT NULL, message TEXT NOT NULL, ms REAL NOT NULL,
	acted TEXT, count INTEGER NOT NULL, codes TEXT, until TEXT NOT NULL, identity TEXT NOT NULL,
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
	err = j.withIndex(ctx, func(db *sql.DB) (err error) {
		found, err = query(ctx, db, f)
		return err
	})
	return found, err
}

// withIndex does something with an index that is up to date.
func (j *Journal) withIndex(ctx context.Context, do func(*sql.DB) error) error {
	err := j.withIndexOnce(ctx, do)
	if err == nil || !database.Broken(err) {
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

func (j *Journal) withIndexOnce(ctx context.Context, do func(*sql.DB) error) (err error) {
	db, err := openIndex(ctx, j.indexPath())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_ = removeIndex(j.path + ".db") // where it was in versions before
	seen, err := j.look(false)
	if err != nil {
		return err
	}
	defer seen.close()
	x := &indexer{db: db, step: j.indexStep}
	if err := x.update(ctx, seen.files); err != nil {
		return err
	}
	return do(db)
}

// openIndex opens the database, which only its owner may read.
func openIndex(ctx context.Context, path string) (*sql.DB, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		if err := removeIndex(path); err != nil { // what is left of one is none
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
	return database.Open(ctx, path, database.Layout{Version: indexVersion, Tables: indexTables})
}

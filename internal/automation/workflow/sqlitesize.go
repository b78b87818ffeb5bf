package workflow

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/database"
)

const (
	// DefaultMaxBytes is the default maximum size of the database, in bytes.
	DefaultMaxBytes = 256 << 20
	// maxTransaction is the maximum size of the records that one transaction writes, in bytes.
	maxTransaction = 4 << 20
)

// endReserve returns the number of bytes that only the ends of runs and of acts may use, so that a
// full database still records them.
func (k *SQLiteStore) endReserve() int64 { return k.cfg.MaxBytes / 16 }

// checkSpace returns an error if the disk has too little free space for the database to grow.
func (k *SQLiteStore) checkSpace() error { return k.cfg.CheckSpace(filepath.Dir(k.cfg.Path)) }

// storedSize estimates the size of a row with the sealed data, in bytes: data that does not fit on
// a page starts a page of its own.
func storedSize(box []byte) int64 {
	const page, row = 4096, 256
	size := int64(len(box)) + row
	if size > page/4 {
		size += page
	}
	return size
}

// makeRoom deletes runs until the database has room for need bytes: first the runs that have ended,
// the first ended first, then interrupted ones, the oldest first. A run of a live process stays. If
// that is not enough, makeRoom returns an error, with which the transaction deletes nothing.
func (k *SQLiteStore) makeRoom(ctx context.Context, tx *sql.Tx, need int64) error {
	var doomed []string
	for listed := false; ; {
		used, err := database.UsedBytes(ctx, tx)
		if err != nil || used+need <= k.cfg.MaxBytes-k.endReserve() {
			return err
		}
		if !listed {
			if doomed, err = k.deletableRuns(ctx, tx); err != nil {
				return err
			}
			listed = true
		}
		if len(doomed) == 0 {
			return k.fullError()
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ?`, doomed[0]); err != nil {
			return err
		}
		doomed = doomed[1:]
	}
}

// deletableRuns returns the ids of the runs that no process runs, in the order of their deletion.
func (k *SQLiteStore) deletableRuns(ctx context.Context, tx *sql.Tx) (ids []string, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, owner, state FROM runs ORDER BY state = ?, ended, rowid`, Begun)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // its error is rows.Err
	for rows.Next() {
		var id, owner string
		var state State
		if err := rows.Scan(&id, &owner, &state); err != nil {
			return nil, err
		}
		if state != Begun || k.running[id] == nil && !k.alive(owner) {
			ids = append(ids, id)
		}
	}
	return ids, rows.Err()
}

// fullError returns the error for a database that has no room for a run.
func (k *SQLiteStore) fullError() error {
	e := aai.Errorf(aai.RecordFailed, "%s may have at most %d MB, and the runs that have not ended fill it", k.cfg.Path,
		k.cfg.MaxBytes>>20)
	e.Delivery, e.Hint = aai.NotDelivered,
		"Wait until the other workflows have ended, or split this one into smaller workflows."
	return e
}

// shrinkOversized shrinks a database that exceeds MaxBytes, such as one of an earlier version. It
// needs the free disk space for a copy; without that, the database stays as it is and cannot grow.
func (k *SQLiteStore) shrinkOversized(ctx context.Context) error {
	info, err := os.Stat(k.cfg.Path)
	if err != nil || info.Size() <= k.cfg.MaxBytes || k.checkSpace() != nil {
		return err
	}
	err = k.write(ctx, false, func(tx *sql.Tx) error { return k.makeRoom(ctx, tx, 0) })
	if _, full := errors.AsType[*aai.Error](err); full {
		return nil // runs that have not ended fill it
	}
	if err == nil {
		_, err = k.db.ExecContext(ctx, "PRAGMA auto_vacuum = 2; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if database.IsFull(err) {
		return nil
	}
	return err
}

package workflow

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// RunSummary describes a stored run without its records.
type RunSummary struct {
	ID     string
	Name   string // "" if it was not sealed, or cannot be opened
	App    string
	Caller aai.Caller
	State  State // Begun while it runs, Interrupted if its process ended
	Step   int   // the last recorded one; 0: none
	Steps  int
	Began  time.Time
	Ended  time.Time // zero if it has not ended
	PID    int       // of the process that runs it, or ran it last
	Err    error     // reason for missing data; nil: complete

	version string
}

const runColumns = `id, began, ended, owner, pid, state, steps, sealed, (SELECT coalesce(max(step), 0) FROM records WHERE run = id)`

// Runs returns the newest runs, the newest first, at most limit.
func (k *SQLiteStore) Runs(ctx context.Context, limit int) ([]RunSummary, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if there, err := k.openExisting(ctx); !there {
		return nil, err
	}
	rows, err := k.db.QueryContext(ctx, `SELECT `+runColumns+` FROM runs ORDER BY began DESC, rowid DESC LIMIT ?`, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // its error is rows.Err
	var all []RunSummary
	for rows.Next() {
		row, _, err := k.row(ctx, rows)
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// openExisting opens the database if there is one. The caller holds the lock.
func (k *SQLiteStore) openExisting(ctx context.Context) (bool, error) {
	if k.db != nil {
		return true, nil
	}
	if _, err := os.Lstat(k.cfg.Path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err := k.open(ctx)
	return err == nil, err
}

// row reads a row and its sealed part.
func (k *SQLiteStore) row(ctx context.Context, from interface{ Scan(...any) error }) (RunSummary, *sealedRun, error) {
	var r RunSummary
	var began, ended int64
	var owner string
	var box []byte
	if err := from.Scan(&r.ID, &began, &ended, &owner, &r.PID, &r.State, &r.Steps, &box, &r.Step); err != nil {
		return r, nil, err
	}
	r.version = versionOf(owner, string(r.State), ended)
	r.Began = time.UnixMilli(began)
	if ended > 0 {
		r.Ended = time.UnixMilli(ended)
	}
	if r.State == Begun && k.running[r.ID] == nil && !k.alive(owner) {
		r.State = Interrupted
	}
	if box == nil {
		r.Err = errors.New("its steps were not stored, since nothing could be encrypted")
		return r, nil, nil
	}
	a := new(sealedRun)
	if r.Err = k.unseal(ctx, r.ID, 0, 0, box, a); r.Err == nil {
		r.Name, r.App, r.Caller = a.Name, a.App, a.Caller
		return r, a, nil
	}
	return r, nil, nil
}

func (k *SQLiteStore) unseal(ctx context.Context, run string, step, part int, box []byte, into any) error {
	b, err := k.cfg.Vault.Open(ctx, sealID(run, step, part), box)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(into)
}

// Get returns a run with its records, or nil for both if there is none. If the run cannot resume,
// the StoredRun is nil and RunSummary.Err has the reason.
func (k *SQLiteStore) Get(ctx context.Context, id string) (*RunSummary, *StoredRun, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if there, err := k.openExisting(ctx); !there {
		return nil, nil, err
	}
	row, a, err := k.row(ctx, k.db.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil || a == nil {
		return &row, nil, err
	}
	d, err := ParseDocument(a.Source, a.Desktop)
	if err != nil {
		row.Err = err
		return &row, nil, nil
	}
	kept := &StoredRun{State: row.State, Run: &Run{ID: id, Caller: a.Caller, App: a.App, Document: d, Params: a.Params,
		Version: row.version}}
	taken, err := k.undoStatuses(ctx, id)
	if err == nil {
		kept.Records, err = k.records(ctx, id, taken)
	}
	return &row, kept, err
}

func (k *SQLiteStore) records(ctx context.Context, run string, taken map[int]undo.Status) ([]Record, error) {
	rows, err := k.db.QueryContext(ctx, `SELECT step, part, state, reads, sealed FROM records WHERE run = ? ORDER BY step, part = 0, part`, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // its error is rows.Err
	var all []Record
	for rows.Next() {
		var r Record
		var box []byte
		if err := rows.Scan(&r.Step, &r.Part, &r.State, &r.Reads, &box); err != nil {
			return nil, err
		}
		if box != nil {
			var more sealedRecord
			if err := k.unseal(ctx, run, r.Step, r.Part, box, &more); err != nil {
				return nil, err
			}
			r.Value, r.Acts, r.Failure = more.Value, more.Acts, more.Failure
		}
		for i := range r.Acts {
			r.Acts[i].UndoStatus = taken[r.Acts[i].ID]
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

func (k *SQLiteStore) undoStatuses(ctx context.Context, run string) (map[int]undo.Status, error) {
	rows, err := k.db.QueryContext(ctx, `SELECT act, status FROM backs WHERE run = ?`, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // its error is rows.Err
	taken := map[int]undo.Status{}
	for rows.Next() {
		var act int
		var status undo.Status
		if err := rows.Scan(&act, &status); err != nil {
			return nil, err
		}
		taken[act] = status
	}
	return taken, rows.Err()
}

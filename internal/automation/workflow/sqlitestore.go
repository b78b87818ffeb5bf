// Package state keeps how far workflows have come, in a database of the person's, so that
// what a crash left in the middle can be gone on with, or taken back.
//
// What a run is about (its steps, their values, how they are taken back, who ran it) is sealed,
// step by step; in plain are only its id, times, states and numbers of steps. Where nothing
// can be sealed, those alone are kept: then it can be said what was left, and not gone on with.
//
// Before an act, that it begins is flushed to the disk; its outcome is written and not
// flushed: the next act flushes it too, and where the power fails in between, the act is one
// that may have happened. What only reads is written with the next act: nothing was made of
// it before.
//
// The room writes the one file that it is given, and locks beside it: a run belongs to a
// process as long as that has its lock, which the system takes from it when it ends.
package workflow

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway"
)

// A Vault seals what is kept, as internal/secrets's does. Safe for concurrent use.
type Sealer interface {
	Seal(ctx context.Context, id string, content []byte) ([]byte, error)
	Open(ctx context.Context, id string, box []byte) ([]byte, error)
}

// SQLiteConfig says where the database is. Path and Vault must be set.
type SQLiteConfig struct {
	Path  string // of the database, in a folder that is there or can be made
	Vault Sealer
	Log   *slog.Logger // nil: nowhere
}

const (
	maxAge  = 30 * 24 * time.Hour
	maxRuns = 1000
	// sweepEvery is after how many runs of a process old ones are looked for again.
	sweepEvery = 100
)

// A Keeper is a [Store] on the disk. Several processes of one person may have one on
// the same database. It opens nothing before it is used. Make one by [NewSQLiteStore].
type SQLiteStore struct {
	cfg   SQLiteConfig
	owner string // names this process among those that ever ran workflows

	mu      sync.Mutex
	db      *sql.DB
	flushes bool // commits are flushed, as the database is set now
	lock    *flock.Flock
	begun   int
	running map[string]*ownRun
}

// ownRun is a run of this process.
type ownRun struct {
	sealed  bool
	pending []*Record // what only read, and is not written yet
}

// NewSQLiteStore returns a keeper.
func NewSQLiteStore(cfg SQLiteConfig) *SQLiteStore {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &SQLiteStore{cfg: cfg, owner: strings.ToLower(rand.Text()[:16]), running: map[string]*ownRun{}}
}

// Close ends the use of the database.
func (k *SQLiteStore) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	if k.db != nil {
		errs = append(errs, k.db.Close())
		k.db = nil
	}
	if k.lock != nil {
		errs = append(errs, k.lock.Unlock(), ignoreMissing(os.Remove(k.lock.Path())))
		k.lock = nil
	}
	return errors.Join(errs...)
}

// sealedRun is what is sealed of a run.
type sealedRun struct {
	Caller  aai.Caller     `json:"caller"`
	App     string         `json:"app"`
	Name    string         `json:"name"`
	Desktop bool           `json:"windows"`
	Source  map[string]any `json:"source"`
	Params  map[string]any `json:"params,omitempty"`
}

// Begin implements [Store].
func (k *SQLiteStore) Begin(ctx context.Context, r *Run) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.lockOwner(ctx); err != nil {
		return err
	}
	known, err := k.takeOver(ctx, r.ID, r.Version)
	if known != nil || err != nil {
		return err
	}
	box, err := k.seal(ctx, r.ID, 0, 0, sealedRun{
		Caller: r.Caller, App: r.App, Name: r.Document.Name, Desktop: r.App == aai.DesktopApp,
		Source: r.Document.Source, Params: r.Params,
	})
	if err != nil {
		k.cfg.Log.InfoContext(ctx, "of a workflow only its steps' states are kept, since nothing can be sealed", "cause", err)
	}
	if k.begun++; k.begun%sweepEvery == 1 {
		if err := k.deleteOld(ctx); err != nil {
			return err
		}
	}
	err = k.write(ctx, false, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO runs (id, began, ended, owner, pid, state, steps, sealed) VALUES (?, ?, 0, ?, ?, ?, ?, ?)`,
			r.ID, time.Now().UnixMilli(), k.owner, os.Getpid(), Begun, len(r.Document.Steps), box)
		return err
	})
	if err == nil {
		k.running[r.ID] = &ownRun{sealed: box != nil}
	}
	return err
}

// takeOver makes a run this process's that is known, no other's that runs, and as it was read.
func (k *SQLiteStore) takeOver(ctx context.Context, id, as string) (known *ownRun, err error) {
	if k.running[id] != nil {
		return nil, runningError(id, os.Getpid())
	}
	err = k.write(ctx, false, func(tx *sql.Tx) error {
		var owner, state string
		var pid int
		var ended int64
		var sealed bool
		err := tx.QueryRowContext(ctx, `SELECT owner, pid, state, ended, sealed IS NOT NULL FROM runs WHERE id = ?`, id).Scan(&owner, &pid, &state, &ended, &sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if state == string(Begun) && k.alive(owner) {
			return runningError(id, pid)
		}
		if as != "" && as != versionOf(owner, state, ended) {
			e := aai.Errorf(aai.InvalidParams, "somebody else has gone on with run %s, or taken it back, just now", id)
			e.Delivery, e.Hint = aai.NotDelivered, "Look at it again."
			return e
		}
		if _, err := tx.ExecContext(ctx, `UPDATE runs SET owner = ?, pid = ?, state = ?, ended = 0 WHERE id = ?`, k.owner, os.Getpid(), Begun, id); err != nil {
			return err
		}
		known = &ownRun{sealed: sealed}
		return nil
	})
	if err == nil && known != nil {
		k.running[id] = known
	}
	return known, err
}

// versionOf names how a run is: each that goes on with it, and each end, make it another.
func versionOf(owner, state string, ended int64) string {
	return fmt.Sprintf("%s %s %d", owner, state, ended)
}

func runningError(id string, pid int) error {
	e := aai.Errorf(aai.InvalidParams, "run %s still runs, in process %d", id, pid)
	e.Delivery, e.Hint = aai.NotDelivered, "Wait until it has ended, or end that process."
	return e
}

// sealedRecord is what is sealed of a record.
type sealedRecord struct {
	Value   any    `json:"value,omitempty"`
	Acts    []Act  `json:"acts,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// Step implements [Store].
func (k *SQLiteStore) Step(ctx context.Context, run string, r *Record) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.running[run]
	switch {
	case of == nil:
		return fmt.Errorf("run %s is not this process's", run)
	case r.Reads && r.State == Begun:
		return nil // it may be done again
	case r.Reads:
		one := *r
		of.pending = append(of.pending, &one)
		return nil
	}
	return k.append(ctx, run, of, r.State == Begun, r)
}

// append writes what has not been written yet, and more.
func (k *SQLiteStore) append(ctx context.Context, run string, of *ownRun, flushed bool, more ...*Record) error {
	all := append(of.pending, more...) //nolint:gocritic // it is forgotten below
	boxes := make([][]byte, len(all))
	for i, r := range all {
		if !of.sealed || r.State == Begun {
			continue
		}
		var err error
		if boxes[i], err = k.seal(ctx, run, r.Step, r.Part, sealedRecord{r.Value, r.Acts, r.Failure}); err != nil {
			return err
		}
	}
	err := k.write(ctx, flushed, func(tx *sql.Tx) error {
		for i, r := range all {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO records (run, step, part, state, reads, sealed) VALUES (?, ?, ?, ?, ?, ?)`,
				run, r.Step, r.Part, r.State, r.Reads, boxes[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		of.pending = nil
	}
	return err
}

// UndoAct implements [Store].
func (k *SQLiteStore) UndoAct(ctx context.Context, run string, b *UndoRecord) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.write(ctx, true, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO backs (run, act, status) VALUES (?, ?, ?)`, run, b.Act, b.Status)
		return err
	})
}

// End implements [Store].
func (k *SQLiteStore) End(ctx context.Context, run string, state State) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.running[run]
	if of == nil {
		return fmt.Errorf("run %s is not this process's", run)
	}
	delete(k.running, run)
	err := k.append(ctx, run, of, false)
	return errors.Join(err, k.write(ctx, false, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE runs SET state = ?, ended = ? WHERE id = ?`, state, time.Now().UnixMilli(), run)
		return err
	}))
}

// sealID names what is sealed, so that nothing can stand in another's place.
func sealID(run string, step, part int) string {
	return fmt.Sprintf("workflow/%s/%d/%d", run, step, part)
}

func (k *SQLiteStore) seal(ctx context.Context, run string, step, part int, content any) ([]byte, error) {
	b, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return k.cfg.Vault.Seal(ctx, sealID(run, step, part), b)
}

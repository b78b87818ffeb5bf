package workflow

import (
	"cmp"
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
	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// Sealer seals stored data, as internal/secrets does. It is safe for concurrent use.
type Sealer interface {
	Seal(ctx context.Context, id string, content []byte) ([]byte, error)
	Open(ctx context.Context, id string, box []byte) ([]byte, error)
}

// SQLiteConfig configures a SQLiteStore. Path and Vault must be set.
type SQLiteConfig struct {
	Path  string // of the database; its folder is created if needed
	Vault Sealer
	Log   *slog.Logger // nil: no log
	// MaxBytes is the maximum size of the database, in bytes; zero means 256 MB.
	MaxBytes int64
	// CheckSpace returns an error if the disk of the folder has too little free space for the
	// database to grow; nil means [diskspace.Check].
	CheckSpace func(folder string) error
}

const (
	maxAge  = 30 * 24 * time.Hour
	maxRuns = 1000
	// sweepEvery is the number of runs of a process between deletions of old runs.
	sweepEvery = 100
)

// SQLiteStore is a [Store] on disk. Several processes of one user may share a database. It opens
// nothing before its first use. Create one with [NewSQLiteStore].
//
// The content of a run (steps, values, undo steps, caller) is sealed, step by step; only id,
// times, states and step numbers are plain. If sealing fails, only those are stored: then a run
// can be listed but not resumed.
//
// The beginning of an act is flushed to disk. Its outcome is written but flushed with the next
// act: after a power failure in between, the act is uncertain. A step that only reads is
// written with the next act, because no act depends on it before.
//
// A run belongs to a process while that holds its lock file, which the system releases.
type SQLiteStore struct {
	cfg   SQLiteConfig
	owner string // unique name of this process

	mu      sync.Mutex
	db      *sql.DB
	flushes bool // current commit mode of the database
	lock    *flock.Flock
	begun   int
	running map[string]*ownRun
}

// ownRun is a run of this process.
type ownRun struct {
	sealed  bool
	pending []*Record // unwritten records of steps that only read
}

// NewSQLiteStore returns a store. It does no I/O.
func NewSQLiteStore(cfg SQLiteConfig) *SQLiteStore {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.CheckSpace == nil {
		cfg.CheckSpace = diskspace.Check
	}
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, DefaultMaxBytes)
	return &SQLiteStore{cfg: cfg, owner: strings.ToLower(rand.Text()[:16]), running: map[string]*ownRun{}}
}

// Close closes the database and removes this process's lock file.
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

// sealedRun is the sealed part of a run.
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
	if err := k.checkSpace(); err != nil {
		return err
	}
	box, err := k.seal(ctx, r.ID, 0, 0, sealedRun{
		Caller: r.Caller, App: r.App, Name: r.Document.Name, Desktop: r.App == aai.DesktopApp,
		Source: r.Document.Source, Params: r.Params,
	})
	if err != nil {
		k.cfg.Log.InfoContext(ctx, "only the states of a workflow's steps are stored, since nothing can be encrypted",
			"cause", err)
	}
	if k.begun++; k.begun%sweepEvery == 1 {
		if err := k.deleteOld(ctx); err != nil {
			return err
		}
	}
	err = k.write(ctx, false, func(tx *sql.Tx) error {
		if err := k.makeRoom(ctx, tx, storedSize(box)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx,
			`INSERT INTO runs (id, began, ended, owner, pid, state, steps, sealed) VALUES (?, ?, 0, ?, ?, ?, ?, ?)`,
			r.ID, time.Now().UnixMilli(), k.owner, os.Getpid(), Begun, len(r.Document.Steps), box)
		return err
	})
	if err == nil {
		k.running[r.ID] = &ownRun{sealed: box != nil}
	}
	return err
}

// takeOver makes a stored run belong to this process, unless another process runs it or has
// changed it since it was read.
func (k *SQLiteStore) takeOver(ctx context.Context, id, as string) (known *ownRun, err error) {
	if k.running[id] != nil {
		return nil, runningError(id, os.Getpid())
	}
	err = k.write(ctx, false, func(tx *sql.Tx) error {
		var owner, state string
		var pid int
		var ended int64
		var sealed bool
		err := tx.QueryRowContext(ctx, `SELECT owner, pid, state, ended, sealed IS NOT NULL FROM runs WHERE id = ?`,
			id).Scan(&owner, &pid, &state, &ended, &sealed)
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
			e := aai.Errorf(aai.InvalidParams, "another process has just resumed run %s or rolled it back", id)
			e.Delivery, e.Hint = aai.NotDelivered, "Read the run again."
			return e
		}
		if _, err := tx.ExecContext(ctx, `UPDATE runs SET owner = ?, pid = ?, state = ?, ended = 0 WHERE id = ?`, k.owner,
			os.Getpid(), Begun, id); err != nil {
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

// versionOf returns the version of a run. It changes with each owner and each end.
func versionOf(owner, state string, ended int64) string {
	return fmt.Sprintf("%s %s %d", owner, state, ended)
}

func runningError(id string, pid int) error {
	e := aai.Errorf(aai.InvalidParams, "run %s still runs, in process %d", id, pid)
	e.Delivery, e.Hint = aai.NotDelivered, "Wait until it has ended, or end that process."
	return e
}

// sealedRecord is the sealed part of a record.
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
		return fmt.Errorf("run %s belongs to another process", run)
	case r.Reads && r.State == Begun:
		return nil // it may be repeated
	case r.Reads:
		one := *r
		of.pending = append(of.pending, &one)
		return nil
	}
	if r.State == Begun {
		if err := k.checkSpace(); err != nil {
			return err
		}
	}
	return k.append(ctx, run, of, r.State == Begun, r)
}

// append writes the pending records, and more. Each transaction has at most maxTransaction bytes
// or one record, so that the write-ahead log stays small.
func (k *SQLiteStore) append(ctx context.Context, run string, of *ownRun, flushed bool, more ...*Record) error {
	all := append(of.pending, more...) //nolint:gocritic // of.pending is reset below
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
	for len(all) > 0 {
		n, size := 1, storedSize(boxes[0])
		for n < len(all) && size+storedSize(boxes[n]) <= maxTransaction {
			size += storedSize(boxes[n])
			n++
		}
		err := k.write(ctx, flushed && n == len(all), func(tx *sql.Tx) error {
			if err := k.makeRoom(ctx, tx, size); err != nil {
				return err
			}
			return insertRecords(ctx, tx, run, all[:n], boxes[:n])
		})
		if err != nil {
			return err
		}
		all, boxes = all[n:], boxes[n:]
		of.pending = of.pending[min(n, len(of.pending)):]
	}
	return nil
}

func insertRecords(ctx context.Context, tx *sql.Tx, run string, all []*Record, boxes [][]byte) error {
	for i, r := range all {
		if _, err := tx.ExecContext(ctx,
			`INSERT OR REPLACE INTO records (run, step, part, state, reads, sealed) VALUES (?, ?, ?, ?, ?, ?)`,
			run, r.Step, r.Part, r.State, r.Reads, boxes[i]); err != nil {
			return err
		}
	}
	return nil
}

// UndoAct implements [Store].
func (k *SQLiteStore) UndoAct(ctx context.Context, run string, b *UndoRecord) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.write(ctx, true, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO backs (run, act, status) VALUES (?, ?, ?)`,
			run, b.Act, b.Status)
		return err
	})
}

// End implements [Store].
func (k *SQLiteStore) End(ctx context.Context, run string, state State) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.running[run]
	if of == nil {
		return fmt.Errorf("run %s belongs to another process", run)
	}
	delete(k.running, run)
	var err error
	if len(of.pending) > 0 {
		err = k.checkSpace()
	}
	if err == nil {
		err = k.append(ctx, run, of, false)
	}
	return errors.Join(err, k.write(ctx, false, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE runs SET state = ?, ended = ? WHERE id = ?`, state, time.Now().UnixMilli(), run)
		return err
	}))
}

// sealID returns the id of sealed data, which binds it to its place.
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

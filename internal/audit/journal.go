// Package audit keeps the audit log, the journal: one JSON line for each entry of
// Gateway.Do, appended to a file that only its owner may read.
//
// The lines form a hash chain. Each is sealed by a key that is derived from the previous
// key and then deleted, so Verify detects changed, removed and inserted records. Several
// gateways append to one file; a small state file beside it holds the end of the chain,
// and is locked during an append. Full or old files are rotated, and the oldest are
// deleted.
//
// The first entry creates the files, not the start of the gateway, because clients start
// gateways that they never use. History reads through an index that is created on demand,
// and that may be deleted at any time. The package imports the root package,
// internal/files and internal/sanitize; it uses its own folder only.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// File modes: the journal shows its owner's activity.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// A Config configures a Journal. Only Path is required.
type Config struct {
	// Path of the file. Beside it are the state of the chain (.chain), a reserve of disk space
	// (.reserve), the index (index.db), and rotated files ("audit-000000000001.jsonl").
	Path     string
	KeyStore KeyStore // nil: a file beside it (.key)

	RotateSize int64         // size in bytes at which a file is rotated; zero means 64 MB
	MaxSize    int64         // of all files together in bytes; zero means 500 MB
	MaxAge     time.Duration // of records; zero means 30 days

	// KeepFull keeps the results of calls, and longer arguments.
	KeepFull bool
	// Warn receives errors that do not make a call fail; may be nil.
	Warn func(error)
}

// The defaults of a Config.
const (
	defaultRotateSize = 64 << 20
	defaultMaxSize    = 500 << 20
	defaultMaxAge     = 30 * 24 * time.Hour
)

// A Journal is the audit log. It appends a hash-chained JSON line for each entry to the file at Config.Path,
// and rotates that file; it also reads, verifies and exports the records. It is safe for concurrent use,
// also by several processes.
type Journal struct {
	path       string
	keyStore   KeyStore
	rotateSize int64
	maxSize    int64
	maxAge     time.Duration
	keepFull   bool
	warn       func(error)

	syncFile   func(*os.File) error // flushes a file: its Sync
	syncDir    func(string) error
	boot       func() [16]byte
	bootName   func() string // of j.boot, in the form of the lines
	now        func() time.Time
	remove     func(string) error
	checkSpace func(folder string) error // returns an error if optional data must not grow: diskspace.Check

	failing      atomic.Bool // whether the last append or flush failed
	queue        queue
	folds        refusalCounter
	filler       indexFiller
	indexStep    int64 // stepBytes
	maxKeepBytes int64 // limit of collectKept

	write     sync.Mutex // guards the fields below
	stateFile stateFile
	file      *os.File
	opened    fs.FileInfo // of file
	buffer    []byte
	// written counts the entries of this process. For entries up to lost a flush failed;
	// entries up to settled were flushed when their file was released.
	written, lost, settled int64
	seq                    uint64 // of the last record that this process wrote
	durable                uint64 // of the last record that it flushed
	full                   int64  // size at which a failed rotation is tried again; zero if none failed
	anchors                anchors
	reserveShort           bool // the reserve must be filled
	reserveUsed            bool // the disk was full, so only ends of calls are appended

	flush    sync.Mutex // guards the fields below
	flushed  int64
	flushing *flushOp // nil: no flush is running
}

// New returns a journal at path with the default limits. It creates no file before the
// first Record.
func New(path string) *Journal { return NewFromConfig(Config{Path: path}) }

// NewFromConfig returns a journal as configured. It creates no file before the first Record.
func NewFromConfig(c Config) *Journal {
	j := &Journal{
		path: c.Path, keyStore: c.KeyStore, rotateSize: c.RotateSize, maxSize: c.MaxSize, maxAge: c.MaxAge,
		keepFull: c.KeepFull, warn: c.Warn,
		syncFile: (*os.File).Sync, syncDir: atomicfile.SyncDir, boot: sync.OnceValue(bootID), now: time.Now, remove: os.Remove,
		checkSpace: diskspace.Check,
		stateFile:  newStateFile(c.Path + ".chain"),
	}
	j.folds.interval, j.filler.every, j.indexStep = refusalInterval, fillEvery, stepBytes
	j.maxKeepBytes = maxKeepBytes
	j.bootName = sync.OnceValue(func() string { return shortBoot(j.boot()) })
	if j.keyStore == nil {
		j.keyStore = NewFileKeyStore(c.Path + ".key")
	}
	if j.rotateSize <= 0 {
		j.rotateSize = defaultRotateSize
	}
	if j.maxSize <= 0 {
		j.maxSize = defaultMaxSize
	}
	if j.maxAge <= 0 {
		j.maxAge = defaultMaxAge
	}
	if j.warn == nil {
		j.warn = func(error) {}
	}
	return j
}

// Path returns the path of the journal.
func (j *Journal) Path() string { return j.path }

// Record appends the entry. If it returns nil, the entry is in the file, and on disk if
// e.Durable is set. The exception is a flood of refused calls, none of which ran: while
// writes succeed, Record only counts further ones, and writes summaries later. Record
// calls the entry's Precondition under the lock that orders the lines of all gateways.
func (j *Journal) Record(_ context.Context, e *aai.Entry) error {
	if j.countRefusal(e) {
		return nil
	}
	w := &pendingEntry{ends: e.Kind == aai.Outcome, ran: e.Ran, precondition: e.Precondition}
	j.fillBody(&w.entry, e)
	if !w.entry.hides() {
		var err error
		if w.text, err = w.entry.encode(j.bootName(), chainKey{}); err != nil {
			return err
		}
	}
	n, err := j.append(w)
	if err != nil {
		return err
	}
	if !e.Durable {
		return nil
	}
	if err = j.sync(n); err != nil {
		j.failing.Store(true)
	}
	return err
}

// Ready implements aai.ReadyJournal: it creates the files if necessary, and returns an
// error if they cannot be locked or opened. It writes no entry, but may record a repair.
func (j *Journal) Ready(context.Context) error {
	j.write.Lock()
	defer j.write.Unlock()
	return j.appendGuarded(nil)
}

// Close writes the counted refusals, and closes the files. A later Record opens them
// again.
func (j *Journal) Close() error {
	told := j.writeRefusals()
	j.filler.stop()
	j.write.Lock()
	defer j.write.Unlock()
	for j.anchors.running != nil {
		running := j.anchors.running
		j.write.Unlock()
		<-running
		j.write.Lock()
	}
	err := errors.Join(told, j.stateFile.close())
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
		j.file = nil
	}
	return err
}

// A pendingEntry is an entry that is not in the file yet.
type pendingEntry struct {
	entry        entryBody
	ends, ran    bool         // it is the end of a call, which ran
	text         []byte       // the encoded entry, if it needs no key of the chain
	precondition func() error // called under the lock that all processes share; may be nil
	n            int64        // its number in this process
	err          error
	// written receives true when the entry is written, or false if this caller must write
	// for all. It is nil for the caller that started writing.
	written chan bool
}

// A queue holds pending entries.
type queue struct {
	mu       sync.Mutex
	busy     bool // a goroutine is writing
	pending  []*pendingEntry
	reusable []*pendingEntry // a slice of written entries for reuse
}

// enqueue adds an entry, and reports whether the caller must write because no goroutine does.
func (q *queue) enqueue(w *pendingEntry) (leads bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = append(q.pending, w)
	if leads = !q.busy; !leads {
		w.written = make(chan bool, 2)
	}
	q.busy = true
	return leads
}

func (q *queue) take() []*pendingEntry {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.pending
	q.pending, q.reusable = q.reusable, nil
	return taken
}

// release keeps the slice of written entries for reuse, and makes the first pending caller, if
// any, the next writer.
func (q *queue) release(taken []*pendingEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(taken)
	q.reusable = taken[:0]
	if q.busy = len(q.pending) > 0; q.busy {
		q.pending[0].written <- false
	}
}

// append writes an entry and returns its number. Concurrent callers share one lock and one
// write: the first caller writes for all.
func (j *Journal) append(w *pendingEntry) (int64, error) {
	if !j.queue.enqueue(w) && <-w.written {
		return w.n, w.err
	}
	batch := j.queue.take()
	j.write.Lock()
	err := j.appendGuarded(batch)
	j.failing.Store(err != nil)
	for _, each := range batch {
		if each.err == nil {
			each.err = err
		}
		if each.err == nil {
			j.written++
			each.n = j.written
		}
	}
	refill := err == nil && j.takeRefill()
	j.write.Unlock()
	for _, each := range batch {
		if each.written != nil {
			each.written <- true
		}
	}
	j.queue.release(batch)
	if refill { // after the write, so that the other callers and processes need not wait
		j.fillReserve()
	}
	return w.n, w.err
}

// appendGuarded is appendAll that turns a panic into an error, because other callers wait.
func (j *Journal) appendGuarded(batch []*pendingEntry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("append to the journal: panic: %v", p)
		}
	}()
	return j.appendAll(batch)
}

// A flushOp is a running flush.
type flushOp struct{ done chan struct{} }

// sync returns when line n is on disk. Concurrent callers share one flush, which includes
// all lines written before it began.
func (j *Journal) sync(n int64) error {
	for {
		if err := j.lostError(n); err != nil {
			return err
		}
		j.flush.Lock()
		under := j.flushing
		if n <= j.flushed {
			j.flush.Unlock()
			return nil
		}
		if under == nil {
			under = &flushOp{make(chan struct{})}
			j.flushing = under
			j.flush.Unlock()
			return j.flushOnce(n, under)
		}
		j.flush.Unlock()
		<-under.done
	}
}

func (j *Journal) lostError(n int64) error {
	j.write.Lock()
	defer j.write.Unlock()
	if n <= j.lost {
		// A system may drop the unwritten data and report success next time.
		return errors.New("flush the journal: the flush that was to take this entry along failed")
	}
	return nil
}

// flushOnce flushes and wakes the waiting callers.
func (j *Journal) flushOnce(n int64, t *flushOp) error {
	upTo, err := j.flushFile(n)
	j.flush.Lock()
	if err == nil {
		j.flushed = max(j.flushed, upTo)
	}
	j.flushing = nil
	j.flush.Unlock()
	close(t.done)
	return err
}

// flushFile flushes the file, if line n needs that, and returns the last line that is on
// disk.
func (j *Journal) flushFile(n int64) (int64, error) {
	j.write.Lock()
	file, upTo, lost, settled, seq := j.file, j.written, j.lost, j.settled, j.seq
	j.write.Unlock()
	switch {
	case n <= lost:
		return 0, j.lostError(n)
	case n <= settled:
		return settled, nil
	case file == nil:
		return 0, errors.New("the journal was closed before the entry was on disk")
	}
	err := j.syncFile(file)
	j.write.Lock()
	defer j.write.Unlock()
	if errors.Is(err, os.ErrClosed) && n <= j.settled {
		return j.settled, nil // the file was rotated meanwhile, and flushed for that
	}
	if err != nil {
		j.lost = upTo
		return 0, fmt.Errorf("flush the journal: %w", err)
	}
	j.durable = max(j.durable, seq)
	return upTo, nil
}

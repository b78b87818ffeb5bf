// Package journal keeps what happened: one line of JSON for each entry that
// Gateway.Do makes, appended to a file that only its owner may read.
//
// The lines are a chain: each is sealed by a key that is made of the one before
// and then forgotten, so that what was written cannot be changed, taken out or put
// in later without Verify telling where. Several gateways append to one file; a
// small file beside it says where the chain stands, and is locked while a record
// is appended. Files that are full or old are put aside, and the oldest deleted.
//
// The files are made by the first entry, never at start-up, because clients start
// gateways that they throw away. History reads by way of an index that is made
// when somebody asks, and that may be deleted at any time. The package imports the
// root package and nothing else of ours; it touches its own folder only.
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
)

// File modes: the journal says what its owner does all day.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// A Config says where a journal is and how much it keeps. Only Path must be given.
type Config struct {
	// Path of the file. Beside it are the state of the chain (.chain), the index
	// (index.db), and files that were put aside ("audit-000000000001.jsonl").
	Path     string
	KeyStore KeyStore // nil: a file beside it (.key)

	RotateSize int64         // a file with so many bytes is put aside; zero means 64 MB
	MaxSize    int64         // of all files together in bytes; zero means 500 MB
	MaxAge     time.Duration // of what is kept; zero means 30 days

	// KeepFull keeps what calls answered, and longer arguments.
	KeepFull bool
	// Warn is told what went wrong where no call fails for it; may be nil.
	Warn func(error)
}

// The defaults of a Config.
const (
	defaultRotateSize = 64 << 20
	defaultMaxSize    = 500 << 20
	defaultMaxAge     = 30 * 24 * time.Hour
)

// A Journal appends to one file. It is safe for concurrent use, also by several
// processes.
type Journal struct {
	path       string
	keyStore   KeyStore
	rotateSize int64
	maxSize    int64
	maxAge     time.Duration
	keepFull   bool
	warn       func(error)

	syncFile func(*os.File) error // flushes a file: its Sync
	syncDir  func(string) error
	boot     func() [16]byte
	bootName func() string // of j.boot, as lines have it
	now      func() time.Time
	remove   func(string) error

	failing      atomic.Bool // the last append or flush did
	queue        queue
	folds        refusalCounter
	filler       indexFiller
	indexStep    int64 // stepBytes
	maxKeepBytes int64 // harvesting

	write     sync.Mutex // guards what follows
	stateFile stateFile
	file      *os.File
	opened    fs.FileInfo // of file
	first     uint64      // record of file, by the state
	buffer    []byte
	// written counts entries; flushed is how many of them are known to be on
	// disk, lost up to which of them a flush failed, settled how many were flushed
	// when their file was let go.
	written, lost, settled int64
	seq                    uint64 // of the last record that this process wrote
	durable                uint64 // of the last one that it flushed
	full                   int64  // a file so large could not be put aside
	anchors                anchors

	flush    sync.Mutex // guards what follows
	flushed  int64
	flushing *flushOp // nil: nobody flushes
}

// New returns a journal that appends to the file at path and keeps as much as a
// journal does if nobody says otherwise. It touches nothing until the first Record.
func New(path string) *Journal { return NewFromConfig(Config{Path: path}) }

// NewFromConfig returns a journal as configured. It touches nothing until the first Record.
func NewFromConfig(c Config) *Journal {
	j := &Journal{
		path: c.Path, keyStore: c.KeyStore, rotateSize: c.RotateSize, maxSize: c.MaxSize, maxAge: c.MaxAge,
		keepFull: c.KeepFull, warn: c.Warn,
		syncFile: (*os.File).Sync, syncDir: atomicfile.SyncDir, boot: sync.OnceValue(bootID), now: time.Now, remove: os.Remove,
		stateFile: newStateFile(c.Path + ".chain"),
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

// Path returns where the journal is.
func (j *Journal) Path() string { return j.path }

// Record appends the entry. When it returns nil the entry is in the file, and
// on disk if e.Durable says so; or it is a refused call, of which nothing ran, and one
// of so many, more than a person can be asked about, that it was only counted, where the
// entry before it could be written. An entry's Unless is asked under the lock by which the
// lines of all gateways have one order.
func (j *Journal) Record(_ context.Context, e *aai.Entry) error {
	if j.countRefusal(e) {
		return nil
	}
	w := &pendingEntry{durable: e.Durable, precondition: e.Precondition}
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

// Ready implements aai.ReadyJournal: it makes the files if need be, locks them and looks
// whether they are as the last record left them. It writes no record.
func (j *Journal) Ready(context.Context) error {
	j.write.Lock()
	defer j.write.Unlock()
	return j.appendGuarded(nil)
}

// Close writes what was only counted, and closes the files. A later Record opens them
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

// A waiting entry is one that is not in the file yet.
type pendingEntry struct {
	entry        entryBody
	text         []byte // the entry's, if it needs no key of the chain
	durable      bool
	precondition func() error // is asked under the lock that all processes share; may be nil
	n            int64        // its number, among those of this process
	err          error
	// written tells that it is written (true), or that it is to write for all; nil for
	// the one who found nobody writing.
	written chan bool
}

// A queue holds what waits to be written.
type queue struct {
	mu       sync.Mutex
	busy     bool // somebody writes
	pending  []*pendingEntry
	reusable []*pendingEntry // of those that were written, to be used again
}

// enqueue adds an entry, and reports whether nobody writes, so that the caller must.
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

// release lets the next one write, if anybody waits. What was taken is written.
func (q *queue) release(taken []*pendingEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(taken)
	q.reusable = taken[:0]
	if q.busy = len(q.pending) > 0; q.busy {
		q.pending[0].written <- false
	}
}

// append writes an entry and returns its number. Those who wait at the same time
// share one lock and one write: whoever comes first writes for all.
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
	j.write.Unlock()
	for _, each := range batch {
		if each.written != nil {
			each.written <- true
		}
	}
	j.queue.release(batch)
	return w.n, w.err
}

// appendGuarded is appendAll that does not panic: others wait for it.
func (j *Journal) appendGuarded(batch []*pendingEntry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("append to the journal: panic: %v", p)
		}
	}()
	return j.appendAll(batch)
}

// A trip to the disk is under way.
type flushOp struct{ done chan struct{} }

// sync returns when line n is on disk. Callers that wait at the same time share
// one trip to the disk, which takes along everything written before it began.
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
		// A system may drop what it could not write and report success next time.
		return errors.New("flush the journal: the flush that was to take this entry along failed")
	}
	return nil
}

// flushOnce makes a trip to the disk.
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

// flushFile flushes the file, if line n needs that, and returns up to which line
// all are on disk.
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
		return j.settled, nil // the file was put aside meanwhile, and flushed for that
	}
	if err != nil {
		j.lost = upTo
		return 0, fmt.Errorf("flush the journal: %w", err)
	}
	j.durable = max(j.durable, seq)
	return upTo, nil
}

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
package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"aai"
)

// File modes: the journal says what its owner does all day.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// A Config says where a journal is and how much it keeps. Only Path must be given.
type Config struct {
	// Path of the file. Beside it are the state of the chain (.chain), the index
	// (.db), and files that were put aside ("audit-000000000001.jsonl").
	Path   string
	Keeper Keeper // nil: a file beside it (.key)

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
	keeper     Keeper
	rotateSize int64
	maxSize    int64
	maxAge     time.Duration
	keepFull   bool
	warn       func(error)

	toDisk       func(*os.File) error // flushes a file: its Sync
	folderToDisk func(string) error
	boot         func() [16]byte
	now          func() time.Time

	queue queue

	write  sync.Mutex // guards what follows
	side   stateFile
	file   *os.File
	opened fs.FileInfo // of file
	buffer []byte
	// written counts entries; flushed is how many of them are known to be on
	// disk, lost up to which of them a flush failed, settled how many were flushed
	// when their file was let go.
	written, lost, settled int64
	seq                    uint64 // of the last record that this process wrote
	durable                uint64 // of the last one that it flushed
	full                   int64  // a file so large could not be put aside
	anchors                anchors

	flush   sync.Mutex // guards flushed, and is held while the disk works
	flushed int64
}

// New returns a journal that appends to the file at path and keeps as much as a
// journal does if nobody says otherwise. It touches nothing until the first Record.
func New(path string) *Journal { return With(Config{Path: path}) }

// With returns a journal as configured. It touches nothing until the first Record.
func With(c Config) *Journal {
	j := &Journal{
		path: c.Path, keeper: c.Keeper, rotateSize: c.RotateSize, maxSize: c.MaxSize, maxAge: c.MaxAge,
		keepFull: c.KeepFull, warn: c.Warn,
		toDisk: (*os.File).Sync, folderToDisk: syncFolder, boot: sync.OnceValue(bootID), now: time.Now,
		side: stateFile{path: c.Path + ".chain", patience: lockPatience, toDisk: (*os.File).Sync},
	}
	if j.keeper == nil {
		j.keeper = NewFileKeeper(c.Path + ".key")
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
// on disk if e.Durable says so.
func (j *Journal) Record(_ context.Context, e *aai.Entry) error {
	body := j.body(e)
	w := &waiting{entry: body}
	if !body.hides() {
		var err error
		if w.text, err = body.encode(shortBoot(j.boot()), chainKey{}); err != nil {
			return err
		}
	}
	n, err := j.append(w)
	if err != nil {
		return err
	}
	if e.Durable() {
		return j.sync(n)
	}
	return nil
}

// Close closes the files. A later Record opens them again.
func (j *Journal) Close() error {
	j.write.Lock()
	defer j.write.Unlock()
	for j.anchors.running != nil {
		running := j.anchors.running
		j.write.Unlock()
		<-running
		j.write.Lock()
	}
	err := j.side.close()
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
		j.file = nil
	}
	return err
}

// A waiting entry is one that is not in the file yet.
type waiting struct {
	entry *entryBody
	text  []byte // the entry's, if it needs no key of the chain
	done  bool
	n     int64 // its number, among those of this process
	err   error
}

// A queue holds what waits to be written.
type queue struct {
	mu    sync.Mutex
	waits []*waiting
}

func (q *queue) add(w *waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waits = append(q.waits, w)
}

func (q *queue) take() []*waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waits
	q.waits = nil
	return taken
}

// append writes an entry and returns its number. Those who wait at the same time
// share one lock and one write: whoever comes first writes for all.
func (j *Journal) append(w *waiting) (int64, error) {
	j.queue.add(w)
	j.write.Lock()
	defer j.write.Unlock()
	if !w.done {
		batch := j.queue.take()
		err := j.appendAll(batch)
		for _, other := range batch {
			other.done = true
			if other.err == nil && err != nil {
				other.err = err
			}
			if other.err == nil {
				j.written++
				other.n = j.written
			}
		}
	}
	return w.n, w.err
}

// sync returns when line n is on disk. Callers that wait at the same time share
// one trip to the disk: whoever holds the lock flushes everything written so far.
func (j *Journal) sync(n int64) error {
	j.flush.Lock()
	defer j.flush.Unlock()
	j.write.Lock()
	file, upTo, lost, settled, seq := j.file, j.written, j.lost, j.settled, j.seq
	j.write.Unlock()
	switch {
	case n <= lost:
		// A system may drop what it could not write and report success next time.
		return errors.New("flush the journal: the flush that was to take this entry along failed")
	case n <= j.flushed, n <= settled:
		return nil
	case file == nil:
		return errors.New("the journal was closed before the entry was on disk")
	}
	err := j.toDisk(file)
	j.write.Lock()
	defer j.write.Unlock()
	if errors.Is(err, os.ErrClosed) && n <= j.settled {
		return nil // the file was put aside meanwhile, and flushed for that
	}
	if err != nil {
		j.lost = upTo
		return fmt.Errorf("flush the journal: %w", err)
	}
	j.flushed, j.durable = upTo, max(j.durable, seq)
	return nil
}

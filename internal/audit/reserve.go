package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// The reserve is a file whose space the journal uses when the disk is full: then no call begins to
// act, but the ends of calls, also of refused ones, are recorded.
const (
	reserveBytes = 4 << 20
	reserveStep  = 256 << 10 // bytes that are released at a time
)

func (j *Journal) reservePath() string { return j.path + ".reserve" }

// reserveSize returns the size of the reserve, in bytes.
func (j *Journal) reserveSize() int64 {
	info, err := os.Lstat(j.reservePath())
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// hasSpace reports whether the disk has space for a reserve.
func (j *Journal) hasSpace() bool { return j.checkSpace(filepath.Dir(j.path)) == nil }

// takeRefill reports whether the caller must call fillReserve. The caller holds j.write.
func (j *Journal) takeRefill() bool {
	if !j.reserveShort || !j.hasSpace() {
		return false
	}
	j.reserveShort = false // a failure is tried again with the next file
	return true
}

// fillReserve fills the reserve. It needs no lock: several processes may fill it at once, and none
// releases a part while the disk has space.
func (j *Journal) fillReserve() {
	f, err := openSide(j.reservePath())
	if err != nil {
		j.warn(err)
		return
	}
	if err = errors.Join(diskspace.Allocate(f, reserveBytes), f.Close()); err != nil {
		j.warn(fmt.Errorf("the reserve of the journal: %w", err))
	}
}

// releaseReserve gives a part of the reserve back to the disk, and reports whether the reserve had
// more than keep bytes.
func (j *Journal) releaseReserve(keep int64) bool {
	size := j.reserveSize()
	if size <= keep {
		return false
	}
	j.reserveShort, j.reserveUsed = true, true
	return os.Truncate(j.reservePath(), max(keep, size-reserveStep)) == nil
}

// appendFromReserve appends the ends of calls in batch to a full disk, and the events before them.
// It uses the reserve, and returns the state after them. Half of the reserve is only for calls that
// ran, so that refused calls cannot use all of it. Other entries get the error for a full disk.
func (j *Journal) appendFromReserve(st state, events []event, newLine bool, batch []*pendingEntry, cause error) (state, error) {
	full := j.fullError(cause)
	ends := refuseBegins(batch, full)
	if len(ends) == 0 {
		return st, full
	}
	keep := int64(reserveBytes / 2)
	if slices.ContainsFunc(ends, func(w *pendingEntry) bool { return w.ran }) {
		keep = 0
	}
	for j.releaseReserve(keep) {
		next, text, err := j.compose(st, events, newLine, ends)
		if err == nil {
			err = j.appendBytes(text, st.size)
		}
		if !diskspace.IsFull(err) {
			return next, err
		}
	}
	return st, full
}

// refuseBegins sets the error of all entries but the ends of calls, and returns these.
func refuseBegins(batch []*pendingEntry, full error) (ends []*pendingEntry) {
	for _, w := range batch {
		if w.ends {
			ends = append(ends, w)
		} else if w.err == nil {
			w.err = full
		}
	}
	return ends
}

// fullError returns the error for a full disk.
func (j *Journal) fullError(cause error) error {
	folder := filepath.Dir(j.path)
	free, known := diskspace.Free(folder)
	if !known {
		return cause
	}
	e := diskspace.FullError(folder, free, reserveBytes)
	e.Err = cause
	return e
}

// fillEvery is the number of records, by all processes, after which the index is updated
// in the background. It keeps the wait for the history short.
const fillEvery = 20_000

// An indexFiller updates the index, at most once at a time in a process. Its goroutine
// exists only during an update.
type indexFiller struct {
	every   uint64 // fillEvery
	mu      sync.Mutex
	cancel  context.CancelFunc
	running chan struct{} // closed when it ends; nil if there is none
}

// fillIfDue starts an update of the index if the records after before, up to after,
// include a multiple of filler.every.
func (j *Journal) fillIfDue(before, after uint64) {
	if before/j.filler.every == after/j.filler.every {
		return
	}
	f := &j.filler
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	running := make(chan struct{})
	f.cancel, f.running = cancel, running
	go func() {
		defer close(running)
		defer cancel()
		err := j.withIndex(ctx, func(*indexer) error { return nil })
		f.mu.Lock()
		f.running = nil
		f.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			j.warn(fmt.Errorf("the index of the history: %w", err))
		}
	}()
}

// stop ends a running update. The next update continues at that point.
func (f *indexFiller) stop() {
	f.mu.Lock()
	running, cancel := f.running, f.cancel
	f.mu.Unlock()
	if running != nil {
		cancel()
		<-running
	}
}

package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// appendAll appends the entries to the chain, under the lock that all processes share. It
// skips an entry that fails its precondition or cannot be encoded, and sets the entry's err.
// If appendAll returns nil, all other entries are in the file.
func (j *Journal) appendAll(batch []*pendingEntry) error {
	if j.file == nil {
		if err := checkRegular(j.path); err != nil {
			return err
		}
	}
	if err := j.stateFile.lock(); err != nil {
		return err
	}
	defer j.stateFile.unlock()
	st, founded, err := j.currentState()
	if err != nil {
		return err
	}
	before := st.seq
	events, newLine, err := j.prepareFile(&st)
	if err != nil {
		return err
	}
	if founded != nil {
		events = append(events, st.advanceToAnchor(founded.keys)...)
		if founded.lostState {
			events = append(events, event{Kind: repairedKind, Cause: causeNoState})
		}
	}
	var doomed []string
	if len(events) == 0 && !newLine { // records about a file belong into that file
		if doomed, events, err = j.rotate(&st); err != nil {
			return err
		}
	}
	if j.reserveUsed = j.reserveUsed && !j.hasSpace(); j.reserveUsed {
		batch = refuseBegins(batch, j.fullError(syscall.ENOSPC))
	}
	next, text, err := j.compose(st, events, newLine, batch)
	if err != nil || len(text) == 0 {
		return err
	}
	err = j.appendBytes(text, st.size)
	if diskspace.IsFull(err) {
		next, err = j.appendFromReserve(st, events, newLine, batch, err)
	}
	if err != nil {
		return err
	}
	j.seq = next.seq
	j.fillIfDue(before, next.seq)
	next.durable = max(next.durable, j.durable)
	next.boot = j.boot()
	j.anchorIfDue(&next)
	j.deleteFiles(doomed, batch)
	return j.writeState(&next, founded)
}

// writeState writes the state after the records in the file, through to the disk if the chain was
// founded. The record of a lost state is on disk before.
func (j *Journal) writeState(next *state, founded *founding) error {
	if founded == nil {
		return j.stateFile.write(next)
	}
	if founded.lostState {
		if err := j.syncFile(j.file); err != nil {
			return fmt.Errorf("flush the journal: %w", err)
		}
	}
	return errors.Join(j.stateFile.writeThrough(next), j.syncDir(filepath.Dir(j.path)))
}

// checkRegular returns an error if path exists and is not a regular file.
func checkRegular(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = irregular(path, info)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open the journal: %w", err)
	}
	return nil
}

// compose returns the lines of the records, in a reused buffer, and the state after them.
func (j *Journal) compose(st state, events []event, newLine bool, batch []*pendingEntry) (state, []byte, error) {
	boot := j.bootName()
	b := j.buffer[:0]
	if newLine {
		b = append(b, '\n')
		st.size++
	}
	add := func(body []byte) {
		begin := len(b)
		var s seal
		b, s = appendLink(b, st.seq+1, st.last, st.next, body)
		st.advance(s, len(b)-begin)
	}
	for _, e := range events {
		body, err := e.encode(j.now(), boot)
		if err != nil {
			return st, nil, err
		}
		add(body)
	}
	for _, w := range batch {
		if w.precondition != nil {
			if w.err = w.precondition(); w.err != nil {
				continue
			}
		}
		if w.text == nil {
			if w.text, w.err = w.entry.encode(boot, st.mark); w.err != nil {
				continue
			}
		}
		add(w.text)
	}
	if cap(b) <= 4*maxFull {
		j.buffer = b
	}
	return st, b, nil
}

// appendBytes appends the text to a file of the given size. It removes a partial write, so
// that the file ends with a whole line even on a full disk.
func (j *Journal) appendBytes(text []byte, size int64) error {
	n, err := j.file.Write(text)
	if err == nil {
		return nil
	}
	if n > 0 {
		// If that fails too, the next record reports the bytes before it.
		_ = j.file.Truncate(size)
	}
	return fmt.Errorf("append to the journal: %w", err)
}

// prepareFile ensures that j.file is the file at j.path and ends where the state says.
// That covers a crash, and a file that was moved or removed while open: an entry in a file
// that cannot be found is not recorded. prepareFile returns events for its findings, and
// in newLine whether the last line lacks its newline.
func (j *Journal) prepareFile(st *state) (events []event, newLine bool, err error) {
	info, err := os.Lstat(j.path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return nil, false, fmt.Errorf("open the journal: %w", err)
	case j.file != nil && !missing && os.SameFile(info, j.opened):
		if info.Size() == st.size {
			return nil, false, nil
		}
		return j.recover(st)
	}
	j.releaseFile()
	if missing {
		return nil, false, j.beginFile(st)
	}
	if err := j.open(); err != nil {
		return nil, false, err
	}
	in, err := sealedIn(j.file, st)
	if err != nil {
		return nil, false, err
	}
	if in && j.opened.Size() == st.size {
		return nil, false, nil
	}
	ours, err := belongsToChain(j.file, st, in)
	if err != nil {
		return nil, false, err
	}
	if !ours {
		// A file outside the chain is at the path, such as an older copy. It is renamed.
		if err := j.setAside(); err != nil {
			return nil, false, err
		}
		return nil, false, j.beginFile(st)
	}
	return j.recover(st)
}

// releaseFile flushes and closes a file that is no longer the journal's.
func (j *Journal) releaseFile() {
	if j.file == nil {
		return
	}
	if err := errors.Join(j.syncFile(j.file), j.file.Close()); err != nil {
		j.lost = j.written
	} else {
		j.settled, j.durable = j.written, max(j.durable, j.seq)
	}
	j.file = nil
}

// beginFile creates the next file of the chain. It writes the state first, so that an
// empty file after a crash is expected.
func (j *Journal) beginFile(st *state) error {
	st.size, st.first, st.writtenAt = 0, st.seq+1, j.now().UnixNano()
	if err := j.stateFile.writeThrough(st); err != nil {
		return err
	}
	if err := j.open(); err != nil {
		return err
	}
	if err := j.syncDir(filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("flush the journal's folder: %w", err)
	}
	return nil
}

func (j *Journal) open() error {
	if err := os.MkdirAll(filepath.Dir(j.path), folderMode); err != nil {
		return fmt.Errorf("make the journal's folder: %w", err)
	}
	f, err := openAppend(j.path)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // no data was written to it
		return fmt.Errorf("open the journal: %w", err)
	}
	j.file, j.opened, j.reserveShort = f, info, j.reserveSize() < reserveBytes
	return nil
}

// sealedIn reports whether the state's last record ends at st.size in the file.
func sealedIn(f *os.File, st *state) (bool, error) {
	if st.seq < st.first {
		return st.size == 0, nil // none in this file yet
	}
	tail := []byte(macField + st.last.String() + lineEnd + "\n")
	if st.size < int64(len(tail)) {
		return false, nil
	}
	found := make([]byte, len(tail))
	_, err := f.ReadAt(found, st.size-int64(len(tail)))
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	return string(found) == string(tail), nil
}

// belongsToChain reports whether the file is the one in the state: sealedIn holds, or the
// file does not begin like another file of the chain. Verify reports other faults.
func belongsToChain(f *os.File, st *state, sealed bool) (bool, error) {
	if sealed {
		return true, nil
	}
	head, _, err := firstLinkOf(f)
	return head.seq == 0 || head.first() == st.first, err
}

// An anchor is due anchorEvery records or anchorAfter after the last one. Under load at
// least anchorPause must pass between two, because each anchor needs a flush.
const (
	anchorEvery = 100 // records
	anchorAfter = time.Minute
	anchorPause = 250 * time.Millisecond
)

// anchors is the state of the goroutine that stores anchors in the key store, so that no
// call waits for that. Journal.write guards the fields.
type anchors struct {
	due     *anchor
	n       int64         // number of entries that must be on disk first
	running chan struct{} // closed when the work ends; nil if there is none
}

// anchorIfDue schedules an anchor for the last record of st, if one is due. It notes that
// in st, so that no other process schedules the same anchor.
func (j *Journal) anchorIfDue(st *state) {
	now := j.now()
	age := now.Sub(time.Unix(0, st.anchoredAt))
	soon := st.seq-st.anchored >= anchorEvery && (age < 0 || age >= anchorPause || st.anchored == 0)
	if !soon && age < anchorAfter {
		return
	}
	st.anchored, st.anchoredAt = st.seq, now.UnixNano()
	j.anchors.due = &anchor{Seq: st.seq, Seal: st.last.String(), Time: now.UTC()}
	j.anchors.n = j.written + 1
	if j.anchors.running == nil {
		j.anchors.running = make(chan struct{})
		go j.anchor(j.anchors.running)
	}
}

// anchor stores anchors until none is due.
func (j *Journal) anchor(running chan struct{}) {
	defer close(running)
	for {
		j.write.Lock()
		due, n := j.anchors.due, j.anchors.n
		j.anchors.due = nil
		if due == nil {
			j.anchors.running = nil
			j.write.Unlock()
			return
		}
		j.write.Unlock()
		if err := j.keepAnchor(due, n); err != nil {
			j.warn(fmt.Errorf("anchor the journal: %w", err))
		}
	}
}

// keepAnchor stores an anchor in the key store, unless the store has this or a later one.
// It flushes the n entries first: after a crash the anchor must not be ahead of the file.
func (j *Journal) keepAnchor(a *anchor, n int64) error {
	if err := j.sync(n); err != nil {
		return err
	}
	kept, err := loadKeys(j.keyStore)
	if err != nil {
		return err
	}
	if kept == nil {
		return fmt.Errorf("the key of the chain is gone")
	}
	if kept.Anchor != nil && kept.Anchor.Seq >= a.Seq && kept.signed(kept.Anchor) {
		return nil
	}
	kept.sign(a)
	kept.Anchor = a
	return storeKeys(j.keyStore, kept)
}

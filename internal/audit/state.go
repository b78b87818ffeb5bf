package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A state is the end of the chain: all data for the next record. It is in a small file
// beside the journal that every gateway locks before it appends. It is
// overwritten in place, within one sector, because that erases the old key, and because
// flushing and renaming a file would take milliseconds.
//
// It is written after the record. If the process ends between the two, the unknown records
// are found by following the chain with the state's key. If the computer crashes, and the
// file has lost records that were not yet on disk, the state is ahead of the file, and the
// next record reports the loss.
type state struct {
	next chainKey // of the record after seq
	seq  uint64   // of the last record
	last seal     // of the last record
	size int64    // of the file with that record

	first     uint64 // record of the file
	writtenAt int64  // when it was written, in Unix nanoseconds

	durable    uint64 // the last record that is known to be on disk
	anchored   uint64 // the last record with a scheduled anchor
	anchoredAt int64  // its time, in Unix nanoseconds

	boot [16]byte // of the computer that wrote the last record; zero if unknown
	mark chainKey // marks hidden values, so that equal ones can be recognised
}

const (
	stateMagic = "aaichn1\n"
	stateSize  = len(stateMagic) + 32 + 8 + 16 + 8 + 8 + 8 + 8 + 8 + 8 + 16 + 32 + sha256.Size
)

// A stateImage is an encoded state.
type stateImage [stateSize]byte

func (st *state) encode() (image stateImage) {
	b := append(image[:0], stateMagic...)
	b = append(b, st.next[:]...)
	b = binary.BigEndian.AppendUint64(b, st.seq)
	b = append(b, st.last[:]...)
	for _, n := range []uint64{uint64(st.size), st.first, uint64(st.writtenAt), st.durable, st.anchored, uint64(st.anchoredAt)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = append(b, st.boot[:]...)
	b = append(b, st.mark[:]...)
	sum := sha256.Sum256(b)
	copy(image[len(b):], sum[:])
	return image
}

// decodeState returns false for an invalid image, such as an empty or torn file.
func decodeState(image *stateImage) (st state, ok bool) {
	body := image[:stateSize-sha256.Size]
	sum := sha256.Sum256(body)
	if !bytes.Equal(sum[:], image[len(body):]) || string(body[:len(stateMagic)]) != stateMagic {
		return state{}, false
	}
	rest := body[len(stateMagic):]
	take := func(n int) []byte {
		field := rest[:n]
		rest = rest[n:]
		return field
	}
	number := func() uint64 { return binary.BigEndian.Uint64(take(8)) }
	copy(st.next[:], take(len(st.next)))
	st.seq = number()
	copy(st.last[:], take(len(st.last)))
	st.size, st.first, st.writtenAt = int64(number()), number(), int64(number())
	st.durable, st.anchored, st.anchoredAt = number(), number(), int64(number())
	copy(st.boot[:], take(len(st.boot)))
	copy(st.mark[:], take(len(st.mark)))
	return st, true
}

// advance advances the state to the next record, with seal s and a line of length bytes.
func (st *state) advance(s seal, length int) {
	st.seq++
	st.last = s
	st.next = st.next.next()
	st.size += int64(length)
}

// Limits for the wait for the lock. An append takes microseconds: without an append for
// lockTimeout, the lock's holder is stopped or hangs. On a busy computer with many
// appends, the wait is up to lockTimeoutFactor times as long.
const (
	lockTimeout       = 5 * time.Second
	lockTimeoutFactor = 6
	lockMinSleep      = 20 * time.Microsecond
	lockMaxSleep      = time.Millisecond
)

// A stateFile is the open state file with its last read content.
type stateFile struct {
	path        string
	lockTimeout time.Duration
	toDisk      func(*os.File) error // flushes a file: its Sync
	readOnly    bool                 // it is only read, for example on a read-only disk

	file   *os.File
	opened os.FileInfo
	image  stateImage
	state  state
	ok     bool // image holds a state
}

func newStateFile(path string) stateFile {
	return stateFile{path: path, lockTimeout: lockTimeout, toDisk: (*os.File).Sync}
}

// lock opens the file if necessary, locks it against other processes and reads it. If
// another file is at the path, lock opens that one.
func (f *stateFile) lock() error {
	for range 10 {
		if f.file == nil {
			if err := f.open(); err != nil {
				return err
			}
		}
		if err := f.waitForLock(); err != nil {
			return err
		}
		info, err := os.Lstat(f.path)
		if err == nil && os.SameFile(info, f.opened) {
			if err = f.load(); err != nil {
				f.unlock()
			}
			return err
		}
		if err := f.close(); err != nil {
			return fmt.Errorf("close the state of the journal: %w", err)
		}
	}
	return fmt.Errorf("%s is replaced again and again", f.path)
}

func (f *stateFile) open() error {
	open := openRead
	if !f.readOnly {
		if err := os.MkdirAll(filepath.Dir(f.path), folderMode); err != nil {
			return fmt.Errorf("make the journal's folder: %w", err)
		}
		open = openSide
	}
	file, err := open(f.path)
	if err != nil {
		return fmt.Errorf("open the state of the journal: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // no data was written to it
		return fmt.Errorf("open the state of the journal: %w", err)
	}
	f.file, f.opened, f.ok = file, info, false
	return nil
}

// waitForLock acquires the lock, or fails after a timeout: a stopped process must not stop
// this one.
func (f *stateFile) waitForLock() error {
	var deadline time.Time
	var seen stateImage
	waited := 0
	for nap := lockMinSleep; ; nap = min(2*nap, lockMaxSleep) {
		got, err := tryLock(f.file)
		if err != nil {
			return fmt.Errorf("lock the state of the journal: %w", err)
		}
		if got {
			return nil
		}
		if now := time.Now(); now.After(deadline) {
			was := seen
			seen = f.readUnlocked()
			if waited > 0 && seen == was || waited == lockTimeoutFactor {
				return fmt.Errorf("another process has held the lock on %s for %s", f.path, time.Duration(waited)*f.lockTimeout)
			}
			deadline = now.Add(f.lockTimeout)
			waited++
		}
		time.Sleep(nap)
	}
}

// readUnlocked reads the file while another process has the lock. The content changes with
// each append.
func (f *stateFile) readUnlocked() (image stateImage) {
	_, _ = f.file.ReadAt(image[:], 0) // an unreadable file counts as unchanged
	return image
}

func (f *stateFile) unlock() {
	if f.file != nil {
		_ = unlock(f.file) // closing the file unlocks it too
	}
}

func (f *stateFile) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file, f.ok = nil, false
	return err
}

// load reads the locked file.
func (f *stateFile) load() error {
	var image stateImage
	n, err := f.file.ReadAt(image[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the state of the journal: %w", err)
	}
	if n < len(image) {
		image = stateImage{}
	}
	if !f.ok || image != f.image {
		f.state, f.ok = decodeState(&image)
		f.image = image
	}
	return nil
}

// write replaces the state in the locked file.
func (f *stateFile) write(st *state) error {
	image := st.encode()
	f.ok = false
	if _, err := f.file.WriteAt(image[:], 0); err != nil {
		return fmt.Errorf("write the state of the journal: %w", err)
	}
	f.image, f.state, f.ok = image, *st, true
	return nil
}

// writeThrough is write with a flush.
func (f *stateFile) writeThrough(st *state) error {
	if err := f.write(st); err != nil {
		return err
	}
	if err := f.toDisk(f.file); err != nil {
		return fmt.Errorf("flush the state of the journal: %w", err)
	}
	return nil
}
